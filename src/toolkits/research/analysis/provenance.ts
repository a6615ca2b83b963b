import { isEnglish } from './language.ts';
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

export interface PatientOptions extends EmbedOptions {
  /** Answer by words alone after this time; the model reads on and the next answer has its vectors. */
  readonly patienceMs?: number;
}

/** Vectors where they can be had. A model that does not start must not take the lexical answer with it. */
export async function embedIfPossible(
  vectors: Vectors | undefined,
  texts: readonly string[],
  options: PatientOptions = {},
): Promise<Embedded> {
  if (!vectors) return { vectors: undefined, provenance: { method: 'lexical' } };
  if (!isEnglish(texts))
    return lexical('The sentence model reads English only, so only words were compared.');
  try {
    const made = await withPatience(vectors.of(texts, options), options.patienceMs);
    if (made) return { vectors: made, provenance: { method: 'lexical+embeddings', model: vectors.model } };
    return lexical('The sentence model is still reading; ask again later for suggestions by meaning.');
  } catch (error) {
    options.signal?.throwIfAborted();
    return lexical(
      `The sentence model was not available: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const lexical = (note: string): Embedded => ({ vectors: undefined, provenance: { method: 'lexical', note } });

async function withPatience<T>(work: Promise<T>, limitMs: number | undefined): Promise<T | undefined> {
  if (limitMs === undefined) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Whatever it ends with, nobody waits for it any more.
    work.catch(() => {});
  }
}
