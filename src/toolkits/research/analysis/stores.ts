/** Vectors by content, kept outside the project; regenerable. Keys are hashes of model and text. */
export interface VectorCache {
  get(keys: readonly string[]): ReadonlyMap<string, Float32Array>;
  put(entries: ReadonlyMap<string, Float32Array>): void;
}

/** A passage of about a paragraph found by the full-text index, best first. */
export interface IndexHit {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  /** Higher is better; comparable within one search only. */
  readonly score: number;
}

/** Full-text index over the sources, kept outside the project and brought up to date before it answers. */
export interface TextIndex {
  /** Passages that hold any of the words (stemmed), ranked by BM25. */
  search(
    words: readonly string[],
    options?: { readonly limit?: number; readonly sourceIds?: readonly number[] },
  ): Promise<readonly IndexHit[]>;
}
