import { join } from 'node:path';
import { makeFolder } from '../../../lib/file-error.ts';
import { noCode, noSource, noText } from '../project/checks.ts';
import { publicMemo } from '../project/memo.ts';
import type { ProjectReader, SourceText } from '../project/types.ts';
import type { CodePair } from '../retrieval/themes.ts';
import type { Span } from '../statistics/frequencies.ts';
import type { Place as CodedPlace } from '../suggest/content.ts';
import type { SuggestionEngine } from '../suggest/engine.ts';
import { type EmbeddingPrivacy, PassageVectors } from '../suggest/passage-vectors.ts';
import type { ProjectView, SuggestedCode, SuggestedCodes } from '../suggest/protocol.ts';
import { type ContentPattern, contentPatterns } from './content-patterns.ts';
import { type DuplicateCandidate, detectDuplicateCodes } from './duplicates.ts';
import type { Embedder } from './embedder.ts';
import { describeBasis, type Provenance, withNote } from './provenance.ts';
import { type NewCode, refineSuggestions, type SuggestionRefiner } from './refine.ts';
import { SemanticIndex } from './semantic-index.ts';
import { type SharedUse, sharedUse } from './shared-use.ts';
import { findSimilarContent, type SimilarContent, type SimilarOptions } from './similar-content.ts';
import { FileTextIndex, type UpdateOptions } from './text-index.ts';
import { type UncodedText, uncodedText } from './uncoded.ts';
import { FileVectorCache } from './vector-file.ts';
import { Vectors } from './vectors.ts';
import { contentStems } from './words.ts';

export interface AnalysisOptions {
  readonly project: ProjectReader;
  /** Where index and vectors of this project are kept; everything in it can be made again. */
  readonly folder: string;
  readonly engine: SuggestionEngine;
  /** Left out: words only. */
  readonly embedder?: Embedder;
  /** What may be sent to the embedding model. */
  readonly privacy?: () => Promise<EmbeddingPrivacy>;
}

export interface CallOptions {
  /** The project as the caller may see it; nothing outside of it is used or shown. Left out: all of it. */
  readonly view?: ProjectReader;
  /** Suggestions that a person rejected; they are not repeated, and the model learns from them. */
  readonly rejected?: readonly CodedPlace[];
  /** Sees what it is handed; names must be masked in there where they are masked for the caller. */
  readonly refiner?: SuggestionRefiner;
  /** Suggestions for a range; left out: five. */
  readonly most?: number;
  readonly signal?: AbortSignal;
}

export interface Suggestions {
  readonly suggestions: readonly SuggestedCode[];
  readonly provenance: Provenance;
  /** Left out because a person rejected the same before. */
  readonly rejectedBefore: number;
  /** Likely ones beyond the number asked for. */
  readonly leftOut?: number;
  /** Codes that a language model misses. */
  readonly newCodes?: readonly NewCode[];
}

/** Suggestions for a range. */
const FOR_RANGE = 5;
/** Candidates that a language model is shown. */
const FOR_MODEL = 30;
/** Words that stand for a code in a search. */
const CODE_TERMS = 25;
const NAME_WEIGHT = 0.5;

interface Place extends Span {
  readonly sourceId: number;
}

export interface DuplicateCall {
  readonly view?: ProjectReader;
  readonly signal?: AbortSignal;
  readonly withUsage?: boolean;
  readonly includeOpposites?: boolean;
}

export interface Duplicates {
  readonly candidates: readonly (DuplicateCandidate & { readonly usage?: SharedUse })[];
  readonly provenance: Provenance;
}

export interface PrepareOptions extends UpdateOptions {
  /** Asked before each source; what was read of one that may not be read is forgotten. */
  readonly mayRead?: (sourceId: number) => Promise<boolean>;
}

/** Everything the tools ask of an open project: one object that owns the index files. */
export class ProjectAnalysis {
  readonly #project: ProjectReader;
  readonly #engine: SuggestionEngine;
  readonly #index: FileTextIndex;
  readonly #cache: FileVectorCache | undefined;
  readonly #vectors: Vectors | undefined;
  readonly #semantic: SemanticIndex | undefined;
  readonly #reading: PassageVectors;

  constructor({ project, folder, engine, embedder, privacy }: AnalysisOptions) {
    makeFolder(folder, 0o700);
    this.#engine = engine;
    this.#project = project;
    this.#index = new FileTextIndex(join(folder, 'text.sqlite'), project);
    this.#reading = new PassageVectors(engine, () => this.#vectors, privacy);
    if (!embedder) return;
    this.#cache = new FileVectorCache(join(folder, 'vectors.sqlite'));
    this.#vectors = new Vectors(embedder, this.#cache, async () => (await privacy?.())?.mask ?? same);
    this.#semantic = new SemanticIndex(join(folder, 'meaning.sqlite'), this.#vectors);
  }

  async findSimilarContent(
    searchText: string,
    codeId?: number,
    options: CallOptions & Pick<SimilarOptions, 'limit' | 'hidden'> = {},
  ): Promise<SimilarContent> {
    const { view, limit, signal, hidden } = options;
    const project = view ?? this.#project;
    const code = codeId === undefined ? undefined : codeOf(project, codeId);
    return findSimilarContent(project, this.#index, searchText, {
      ...(limit === undefined ? {} : { limit }),
      ...(hidden ? { hidden } : {}),
      ...(signal ? { signal } : {}),
      ...(view ? { sourceIds: view.sources().map(({ id }) => id) } : {}),
      ...(code ? { context: await this.#contextOf(code, options) } : {}),
      ...(this.#vectors && this.#semantic ? { vectors: this.#vectors, semantic: this.#semantic } : {}),
    });
  }

  /** Where a word stands in any of its forms. */
  async placesOf(
    word: string,
    { view, signal }: Pick<CallOptions, 'view' | 'signal'>,
  ): Promise<readonly Place[]> {
    return this.#index.search([word], {
      ...(signal ? { signal } : {}),
      ...(view ? { sourceIds: view.sources().map(({ id }) => id) } : {}),
    });
  }

  /** Which codes fit a range, best first. The range is judged as a whole; codings of the place itself do not count. */
  async suggestCodesForRange(sourceId: number, range: Span, options: CallOptions = {}): Promise<Suggestions> {
    const view = this.#viewOf(options);
    const { vector, note } = await this.#reading.vectorOf(view, sourceId, range, options.signal);
    const most = options.most ?? FOR_RANGE;
    const shown = options.refiner ? Math.max(most, FOR_MODEL) : most;
    const question = { kind: 'range', sourceId, range, most: shown, vector } as const;
    const found = await this.#engine.ask(view, question, options.signal);
    return this.#refined(found, { minConfidence: 0, most, mayProposeCodes: true }, options, note);
  }

  /** Codes for everything not yet coded, piece by piece. */
  async autoSuggestCodes(
    sourceId: number,
    minConfidence: number,
    options: CallOptions = {},
  ): Promise<Suggestions> {
    requireText(options.view ?? this.#project, sourceId);
    const question = { kind: 'document', sourceId, minConfidence, most: options.most } as const;
    const found = await this.#engine.ask(this.#viewOf(options), question, options.signal);
    return this.#refined(found, { minConfidence, mayProposeCodes: false }, options);
  }

  async detectDuplicateCodes(threshold: number, options: DuplicateCall = {}): Promise<Duplicates> {
    const project = options.view ?? this.#project;
    const { pairs: twins } = await this.#engine.ask(this.#viewOf(options), { kind: 'twins' }, options.signal);
    const found = await detectDuplicateCodes(publicCodes(project), {
      ...options,
      threshold,
      twins,
      ...(this.#vectors ? { vectors: this.#vectors } : {}),
    });
    if (!options.withUsage) return found;
    const uses = (codeId: number) => project.codings({ codeId });
    const candidates = found.candidates.map((pair) => ({
      ...pair,
      usage: sharedUse(uses(pair.a.id), uses(pair.b.id)),
    }));
    return { ...found, candidates };
  }

  /** How alike the words of the passages of two codes are, 0 to 1. */
  async codeSimilarity(options: Pick<CallOptions, 'view' | 'signal'>): Promise<CodePair[]> {
    const { pairs } = await this.#engine.ask(this.#viewOf(options), { kind: 'twins' }, options.signal);
    return pairs.map(({ a, b, similarity, within }) => ({
      a,
      b,
      similarity: within > 0 ? Math.min(1, similarity / within) : 0,
    }));
  }

  uncodedText(sourceId: number, view: ProjectReader = this.#project): UncodedText {
    return uncodedText(textOf(view, sourceId), view.codings({ sourceId }));
  }

  /** What recurs in the uncoded text and has no code of its own. */
  async contentPatterns(
    sourceId: number,
    { view = this.#project, signal }: Pick<CallOptions, 'view' | 'signal'> = {},
  ): Promise<ContentPattern[]> {
    await this.#index.update(signal ? { signal } : {});
    const context = {
      codeNames: view.codes().map(({ name }) => name),
      frequencies: (stems: readonly string[]) => this.#index.frequencies(stems),
    };
    return contentPatterns(textOf(view, sourceId), this.uncodedText(sourceId, view).ranges, context, signal);
  }

  /** Brings the index up to date and, with an embedding model, reads sources for searching by meaning, one after the other. */
  async prepare(sourceIds: readonly number[], options: PrepareOptions = {}): Promise<void> {
    const { signal, progress, verify, mayRead } = options;
    await this.#index.update({ ...(signal ? { signal } : {}), ...(verify ? { verify } : {}) });
    for (const [done, id] of sourceIds.entries()) {
      const allowed = (await mayRead?.(id)) ?? true;
      signal?.throwIfAborted();
      if (allowed) await this.#project.loadText(id);
      const text = allowed ? this.#project.text(id) : undefined;
      if (text) await this.#semantic?.prepare(id, text, signal ? { signal } : {});
      else this.#semantic?.forget(id);
      progress?.(done + 1, sourceIds.length);
    }
  }

  close(): void {
    this.#index.close();
    this.#cache?.close();
    this.#semantic?.close();
  }

  /** The project's file with what the caller may not see of it; the worker reads the rest for itself. */
  #viewOf({ view, rejected = [] }: Pick<CallOptions, 'view' | 'rejected'>): ProjectView {
    const project = this.#project;
    const { path } = project.info();
    if (!view) return { path, hiddenSources: [], hiddenCoders: [], rejected };
    const shown = new Set(view.sources().map(({ id }) => id));
    const coders = new Set(view.coders().map(({ name }) => name));
    return {
      path,
      hiddenSources: project.sources().flatMap(({ id }) => (shown.has(id) ? [] : [id])),
      hiddenCoders: project.coders().flatMap(({ name }) => (coders.has(name) ? [] : [name])),
      rejected,
    };
  }

  /** Words that stand for a code: of its name and memo, and what its segments have in common. */
  async #contextOf(
    { id, name, memo }: { readonly id: number; readonly name: string; readonly memo: string },
    options: CallOptions,
  ): Promise<ReadonlyMap<string, number>> {
    const question = { kind: 'terms', codeId: id, most: CODE_TERMS } as const;
    const { terms } = await this.#engine.ask(this.#viewOf(options), question, options.signal);
    const strongest = terms[0]?.weight ?? 1;
    const context = new Map(contentStems(`${name} ${publicMemo(memo)}`).map((stem) => [stem, NAME_WEIGHT]));
    for (const { term, weight } of terms) context.set(term, (context.get(term) ?? 0) + weight / strongest);
    return context;
  }

  async #refined(
    { suggestions, basis, rejectedBefore, leftOut = 0 }: SuggestedCodes,
    wanted: Parameters<typeof refineSuggestions>[3],
    { signal, refiner, view = this.#project }: CallOptions,
    note?: string,
  ): Promise<Suggestions> {
    const { model = '' } = this.#vectors ?? {};
    const means: Provenance = basis.usedVector
      ? { method: 'lexical+embeddings', model }
      : { method: 'lexical' };
    const provenance = withNote({ ...means, note: describeBasis(basis) }, note);
    const found = { suggestions, provenance, rejectedBefore, leftOut };
    return refiner ? refineSuggestions(found, publicCodes(view), refiner, wanted, signal) : found;
  }
}

const same = (text: string): string => text;

const publicCodes = (project: ProjectReader) =>
  project.codes().map(({ id, name, memo }) => ({ id, name, memo: publicMemo(memo) }));

function codeOf(project: ProjectReader, id: number) {
  const code = project.code(id);
  if (!code) throw noCode(id);
  return code;
}

function requireText(project: ProjectReader, sourceId: number): void {
  const source = project.source(sourceId);
  if (!source) throw noSource(sourceId);
  if (!source.hasText) throw noText(sourceId);
}

function textOf(project: ProjectReader, sourceId: number): SourceText {
  const text = project.text(sourceId);
  if (!text) throw project.source(sourceId) ? noText(sourceId) : noSource(sourceId);
  return text;
}
