import { NEEDED } from '../suggest/cold-start.ts';
import type { Basis } from '../suggest/protocol.ts';
import type { EmbedOptions, Vectors } from './vectors.ts';

/** By what means a result came about; it is stored with every suggestion. */
export interface Provenance {
  readonly method: 'lexical' | 'lexical+embeddings';
  /** The embedding model, where one took part. */
  readonly model?: string;
  /** The language model that refined the result, where one did. */
  readonly refinedBy?: string;
  /** What the figures rest on, what was sent where, and why a part that was configured did not take part. */
  readonly note?: string;
}

interface Embedded {
  /** Undefined: words alone decide, and `provenance` says so. */
  readonly vectors: readonly Float32Array[] | undefined;
  readonly provenance: Provenance;
}

/** Vectors where they can be had. A model that does not answer must not take the lexical answer with it. */
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
    const note = `The embedding model was not available: ${error instanceof Error ? error.message : String(error)}`;
    return { vectors: undefined, provenance: { method: 'lexical', note } };
  }
}

/** The same result with one more sentence to its note. */
export function withNote(provenance: Provenance, note: string | undefined): Provenance {
  if (!note) return provenance;
  return { ...provenance, note: provenance.note ? `${provenance.note} ${note}` : note };
}

/** What a confidence means, in one sentence. */
export function describeBasis({ calibrated, passages, documents }: Basis): string {
  if (calibrated)
    return `Confidence is calibrated on ${count(passages, 'coded passage')} of ${count(documents, 'source')}: of suggestions with 70, people would accept about 70 %.`;
  return `Confidence is a cautious estimate and not calibrated: this takes ${NEEDED}, and there are ${count(passages, 'coded passage')} in ${count(documents, 'source')}.`;
}

const count = (number: number, what: string): string =>
  `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
