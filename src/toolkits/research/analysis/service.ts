import { join } from 'node:path';
import { makeFolder } from '../../../lib/make-folder.ts';
import { publicMemo } from '../lib/memo.ts';
import { noCode, noSource, noText } from '../project/checks.ts';
import type { ProjectReader, SourceText } from '../project/types.ts';
import type { Span } from '../statistics/spans.ts';
import { CodeReader } from './code-reader.ts';
import { codesOfProject } from './codes-of-project.ts';
import { type ContentPattern, contentPatterns } from './content-patterns.ts';
import { type DuplicateCandidate, detectDuplicateCodes } from './duplicates.ts';
import type { Embedder } from './embedder.ts';
import type { PatientOptions, Provenance } from './provenance.ts';
import { refineSuggestions, type SuggestionRefiner } from './refine.ts';
import { SemanticIndex } from './semantic-index.ts';
import { type SharedUse, sharedUse } from './shared-use.ts';
import { findSimilarContent, type SimilarContent, type SimilarOptions } from './similar-content.ts';
import { autoSuggestCodes, type Suggestions, type SuggestOptions, suggestCodesForRange } from './suggest.ts';
import { FileTextIndex, type UpdateOptions } from './text-index.ts';
import { type UncodedText, uncodedText } from './uncoded.ts';
import { FileVectorCache } from './vector-file.ts';
import { Vectors } from './vectors.ts';

export interface AnalysisOptions {
  readonly project: ProjectReader;
  /** Where index and vectors of this project are kept; everything in it can be made again. */
  readonly folder: string;
  /** Left out: words only. */
  readonly embedder?: Embedder;
}

export interface CallOptions extends Omit<SuggestOptions, 'vectors'>, PatientOptions {
  /** The project as the caller may see it; nothing outside of it is used or shown. Left out: all of it. */
  readonly view?: ProjectReader;
  /** Sees what it is handed; names must be masked in there where they are masked for the caller. */
  readonly refiner?: SuggestionRefiner;
}

interface Place extends Span {
  readonly sourceId: number;
}

export interface DuplicateCall extends PatientOptions {
  readonly view?: ProjectReader;
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
  readonly #index: FileTextIndex;
  readonly #cache: FileVectorCache | undefined;
  readonly #vectors: Vectors | undefined;
  readonly #semantic: SemanticIndex | undefined;

  constructor({ project, folder, embedder }: AnalysisOptions) {
    makeFolder(folder, 0o700);
    this.#project = project;
    this.#index = new FileTextIndex(join(folder, 'text.sqlite'), project);
    if (!embedder) return;
    this.#cache = new FileVectorCache(join(folder, 'vectors.sqlite'));
    this.#vectors = new Vectors(embedder, this.#cache);
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
      ...(code ? { context: `${code.name} ${publicMemo(code.memo)}` } : {}),
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

  async suggestCodesForRange(sourceId: number, range: Span, options: CallOptions = {}): Promise<Suggestions> {
    const project = options.view ?? this.#project;
    const text = textOf(project, sourceId);
    const reader = await this.#reader(project, options);
    const found = await suggestCodesForRange(reader, sourceId, text, range, this.#withVectors(options));
    return this.#refined(project, found, 0, options);
  }

  async autoSuggestCodes(
    sourceId: number,
    minConfidence: number,
    options: CallOptions = {},
  ): Promise<Suggestions> {
    const project = options.view ?? this.#project;
    const text = textOf(project, sourceId);
    const { ranges } = uncodedText(text, project.codings({ sourceId }));
    const reader = await this.#reader(project, options);
    const suggest = this.#withVectors(options);
    const found = await autoSuggestCodes(reader, sourceId, text, ranges, minConfidence, suggest);
    return this.#refined(project, found, minConfidence, options);
  }

  async detectDuplicateCodes(threshold: number, options: DuplicateCall = {}): Promise<Duplicates> {
    const project = options.view ?? this.#project;
    const found = await detectDuplicateCodes(publicCodes(project), {
      ...options,
      threshold,
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

  uncodedText(sourceId: number, view: ProjectReader = this.#project): UncodedText {
    return uncodedText(textOf(view, sourceId), view.codings({ sourceId }));
  }

  /** What recurs in the uncoded text and has no code of its own. */
  async contentPatterns(
    sourceId: number,
    { view = this.#project, signal }: Pick<CallOptions, 'view' | 'signal'> = {},
  ): Promise<ContentPattern[]> {
    await this.#index.update(signal ? { signal } : {});
    return contentPatterns(textOf(view, sourceId), this.uncodedText(sourceId, view).ranges, {
      codeNames: view.codes().map(({ name }) => name),
      frequencies: (stems) => this.#index.frequencies(stems),
    });
  }

  /** Brings the index up to date and, with a sentence model, reads sources for searching by meaning, one after the other. */
  async prepare(sourceIds: readonly number[], options: PrepareOptions = {}): Promise<void> {
    const { signal, progress, verify, mayRead } = options;
    await this.#index.update({ ...(signal ? { signal } : {}), ...(verify ? { verify } : {}) });
    for (const [done, id] of sourceIds.entries()) {
      const allowed = (await mayRead?.(id)) ?? true;
      signal?.throwIfAborted();
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

  #reader(project: ProjectReader, options: CallOptions): Promise<CodeReader> {
    return CodeReader.read(codesOfProject(project), this.#vectors, options);
  }

  #withVectors(options: CallOptions): SuggestOptions {
    return { ...options, ...(this.#vectors ? { vectors: this.#vectors } : {}) };
  }

  async #refined(
    project: ProjectReader,
    found: Suggestions,
    minConfidence: number,
    { signal, refiner }: CallOptions,
  ): Promise<Suggestions> {
    return refiner ? refineSuggestions(found, publicCodes(project), refiner, minConfidence, signal) : found;
  }
}

const publicCodes = (project: ProjectReader) =>
  project.codes().map(({ id, name, memo }) => ({ id, name, memo: publicMemo(memo) }));

function codeOf(project: ProjectReader, id: number) {
  const code = project.code(id);
  if (!code) throw noCode(id);
  return code;
}

function textOf(project: ProjectReader, sourceId: number): SourceText {
  const text = project.text(sourceId);
  if (!text) throw project.source(sourceId) ? noText(sourceId) : noSource(sourceId);
  return text;
}
