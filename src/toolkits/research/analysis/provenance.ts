import type { EmbedOptions, Vectors } from './vectors.ts';

/** By what means a result came about; it travels with every suggestion into the record. */
export interface Provenance {
  readonly method: 'lexical' | 'lexical+embeddings';
  /** The sentence model, where one took part. */
  readonly model?: string;
  /** The language model that refined the result, where one did. */
  readonly refinedBy?: string;
  /** Why a part that was wanted did not take part. */
  readonly note?: string;
}

export interface Embedded {
  /** Undefined: work goes on with words alone, and `provenance` says so. */
  readonly vectors: readonly Float32Array[] | undefined;
  readonly provenance: Provenance;
}

/** Vectors where they can be had. A model that does not start must not take the lexical answer with it. */
export async function embedIfPossible(
  vectors: Vectors | undefined,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Embedded> {
  if (!vectors) return { vectors: undefined, provenance: { method: 'lexical' } };
  try {
    const made = await vectors.of(texts, options);
    return { vectors: made, provenance: { method: 'lexical+embeddings', model: vectors.model } };
  } catch (error) {
    options.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return {
      vectors: undefined,
      provenance: { method: 'lexical', note: `The sentence model was not available: ${why}` },
    };
  }
}
