import { createHash } from 'node:crypto';
import type { Embedder } from './embedder.ts';
import type { VectorCache } from './stores.ts';

/** Saved at least this often, so that a long run that is cancelled keeps what it has. */
const SAVE_EVERY = 64;

export interface EmbedOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, total: number) => void;
}

type Mask = (text: string) => string;

/** Vectors of texts, each computed once: the cache is asked first and filled on the way. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #cache: VectorCache;
  readonly #mask: () => Promise<Mask>;

  /** `mask` replaces names by pseudonyms: a model sees no more than an agent. */
  constructor(
    embedder: Embedder,
    cache: VectorCache,
    mask: () => Promise<Mask> = async () => (text) => text,
  ) {
    this.#embedder = embedder;
    this.#cache = cache;
    this.#mask = mask;
  }

  get model(): string {
    return this.#embedder.model;
  }

  /** Where texts are sent. */
  get address(): string {
    return this.#embedder.address;
  }

  /** In the order of the texts. */
  async of(originals: readonly string[], options: EmbedOptions = {}): Promise<Float32Array[]> {
    const texts = originals.map(await this.#mask());
    const keys = texts.map((text) => this.#key(text));
    const known = new Map(this.#cache.get([...new Set(keys)]));
    const missing = [...new Map(keys.flatMap((key, at) => (known.has(key) ? [] : [[key, texts[at] ?? '']])))];
    const total = missing.length;
    for (let at = 0; at < total; at += SAVE_EVERY) {
      const part = missing.slice(at, at + SAVE_EVERY);
      const made = await this.#embedder.embed(
        part.map(([, text]) => tidy(text)),
        options.signal,
      );
      const fresh = new Map(
        part.flatMap(([key], i) => {
          const vector = made[i];
          return vector ? [[key, vector] as const] : [];
        }),
      );
      this.#cache.put(fresh);
      for (const [key, vector] of fresh) known.set(key, vector);
      options.progress?.(Math.min(at + SAVE_EVERY, total), total);
    }
    return keys.map((key) => known.get(key) ?? new Float32Array(0));
  }

  #key(text: string): string {
    return createHash('sha256')
      .update(`${this.#embedder.model}\n${tidy(text)}`)
      .digest('hex')
      .slice(0, 32);
  }
}

/** Wrapped lines and double spaces do not change what a sentence means. */
const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Cosine of two unit vectors. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
