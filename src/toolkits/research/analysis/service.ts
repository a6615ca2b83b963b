import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';
import { publicMemo } from '../lib/memo.ts';
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
import { findSimilarContent, type SimilarContent } from './similar-content.ts';
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
  readonly refiner?: SuggestionRefiner;
}

export interface CallOptions extends Omit<SuggestOptions, 'vectors'>, PatientOptions {
  /** Sources whose text may be used and shown. */
  readonly mayRead?: (sourceId: number) => boolean;
}

/** Everything the tools ask of an open project: one object that owns the index files. */
export class ProjectAnalysis {
  readonly #project: ProjectReader;
  readonly #index: FileTextIndex;
  readonly #cache: FileVectorCache | undefined;
  readonly #vectors: Vectors | undefined;
  readonly #semantic: SemanticIndex | undefined;
  readonly #refiner: SuggestionRefiner | undefined;

  constructor({ project, folder, embedder, refiner }: AnalysisOptions) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#project = project;
    this.#refiner = refiner;
    this.#index = new FileTextIndex(join(folder, 'text.sqlite'), project);
    if (!embedder) return;
    this.#cache = new FileVectorCache(join(folder, 'vectors.sqlite'));
    this.#vectors = new Vectors(embedder, this.#cache);
    this.#semantic = new SemanticIndex(join(folder, 'meaning.sqlite'), this.#vectors);
  }

  async findSimilarContent(
    searchText: string,
    codeId?: number,
    options: CallOptions & { readonly limit?: number } = {},
  ): Promise<SimilarContent> {
    const code = codeId === undefined ? undefined : this.#code(codeId);
    const { mayRead, limit, signal } = options;
    const allowed = mayRead
      ? this.#project
          .sources()
          .map(({ id }) => id)
          .filter(mayRead)
      : undefined;
    return findSimilarContent(this.#project, this.#index, searchText, {
      ...(limit === undefined ? {} : { limit }),
      ...(signal ? { signal } : {}),
      ...(allowed ? { sourceIds: allowed } : {}),
      ...(code ? { context: `${code.name} ${publicMemo(code.memo)}` } : {}),
      ...(this.#vectors && this.#semantic ? { vectors: this.#vectors, semantic: this.#semantic } : {}),
    });
  }

  async suggestCodesForRange(sourceId: number, range: Span, options: CallOptions = {}): Promise<Suggestions> {
    const text = this.#text(sourceId);
    const reader = await this.#reader(options);
    const found = await suggestCodesForRange(reader, sourceId, text, range, this.#withVectors(options));
    return this.#refined(found, 0, options);
  }

  async autoSuggestCodes(
    sourceId: number,
    minConfidence: number,
    options: CallOptions = {},
  ): Promise<Suggestions> {
    const text = this.#text(sourceId);
    const { ranges } = uncodedText(text, this.#project.codings({ sourceId }));
    const reader = await this.#reader(options);
    const found = await autoSuggestCodes(
      reader,
      sourceId,
      text,
      ranges,
      minConfidence,
      this.#withVectors(options),
    );
    return this.#refined(found, minConfidence, options);
  }

  async detectDuplicateCodes(
    threshold: number,
    options: PatientOptions & { readonly withUsage?: boolean; readonly includeOpposites?: boolean } = {},
  ): Promise<{
    candidates: (DuplicateCandidate & { readonly usage?: SharedUse })[];
    provenance: Provenance;
  }> {
    const codes = this.#project.codes().map(({ id, name, memo }) => ({ id, name, memo: publicMemo(memo) }));
    const found = await detectDuplicateCodes(codes, {
      ...options,
      threshold,
      ...(this.#vectors ? { vectors: this.#vectors } : {}),
    });
    if (!options.withUsage) return found;
    const uses = (codeId: number) => this.#project.codings({ codeId });
    return {
      ...found,
      candidates: found.candidates.map((pair) => ({
        ...pair,
        usage: sharedUse(uses(pair.a.id), uses(pair.b.id)),
      })),
    };
  }

  uncodedText(sourceId: number): UncodedText {
    return uncodedText(this.#text(sourceId), this.#project.codings({ sourceId }));
  }

  /** What recurs in the uncoded text and has no code of its own. */
  async contentPatterns(
    sourceId: number,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<ContentPattern[]> {
    await this.#index.update(options.signal ? { signal: options.signal } : {});
    return contentPatterns(this.#text(sourceId), this.uncodedText(sourceId).ranges, {
      codeNames: this.#project.codes().map(({ name }) => name),
      frequencies: (stems) => this.#index.frequencies(stems),
    });
  }

  /** Brings the index up to date and, with a sentence model, reads the given sources for searching by meaning. */
  async prepare(sourceIds: readonly number[], options: UpdateOptions = {}): Promise<void> {
    await this.#index.update(options);
    for (const [done, id] of sourceIds.entries()) {
      const text = this.#project.text(id);
      if (text) await this.#semantic?.prepare(id, text, options.signal ? { signal: options.signal } : {});
      options.progress?.(done + 1, sourceIds.length);
    }
  }

  close(): void {
    this.#index.close();
    this.#cache?.close();
    this.#semantic?.close();
  }

  #reader(options: CallOptions): Promise<CodeReader> {
    return CodeReader.read(codesOfProject(this.#project, options.mayRead), this.#vectors, options);
  }

  #withVectors(options: CallOptions): SuggestOptions {
    return { ...options, ...(this.#vectors ? { vectors: this.#vectors } : {}) };
  }

  async #refined(found: Suggestions, minConfidence: number, { signal }: CallOptions): Promise<Suggestions> {
    if (!this.#refiner) return found;
    const codes = this.#project.codes().map(({ id, name, memo }) => ({ id, name, memo: publicMemo(memo) }));
    return refineSuggestions(found, codes, this.#refiner, minConfidence, signal);
  }

  #code(id: number) {
    const code = this.#project.code(id);
    if (!code) throw new ToolFault('code_not_found', `There is no code ${id}.`, { detail: { code_id: id } });
    return code;
  }

  #text(sourceId: number): SourceText {
    const text = this.#project.text(sourceId);
    if (!text)
      throw new ToolFault('source_not_found', `There is no source ${sourceId} with text.`, {
        detail: { source_id: sourceId },
      });
    return text;
  }
}
