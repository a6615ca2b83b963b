import { timeLimit } from '../../../lib/time-limit.ts';
/** Turns texts into unit vectors: near vectors, near meaning. */
export interface Embedder {
  /** Names the model in provenance and in cache keys. */
  readonly model: string;
  /** Where texts are sent. */
  readonly address: string;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

export interface EndpointOptions {
  /** Address of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}

/** Texts per request: small enough that a local model answers before the time limit. */
const BATCH = 32;
const LONGEST_TEXT = 4000;
const TIMEOUT_MS = 60_000;

/** A model behind an OpenAI-compatible `/embeddings` endpoint, such as Ollama on this machine. */
export class EndpointEmbedder implements Embedder {
  readonly model: string;
  readonly #options: EndpointOptions;
  readonly address: string;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.model = options.model;
    this.address = `${options.baseUrl.replace(/\/+$/, '')}/embeddings`;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += BATCH)
      vectors.push(...(await this.#request(texts.slice(at, at + BATCH), signal)));
    return vectors;
  }

  async #request(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const limit = timeLimit(TIMEOUT_MS, signal);
    try {
      const response = await fetch(this.address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(this.#options.apiKey ? { authorization: `Bearer ${this.#options.apiKey}` } : {}),
        },
        // An empty text is an error for some servers; a dot means as little.
        body: JSON.stringify({
          model: this.model,
          input: texts.map((text) => text.slice(0, LONGEST_TEXT) || '.'),
        }),
        signal: limit.signal,
      }).catch((error: unknown) => {
        signal?.throwIfAborted();
        const cause =
          error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
        throw new Error(`${this.address} could not be reached (${cause}).`);
      });
      if (!response.ok) throw new Error(`${this.address} answered with status ${response.status}.`);
      return vectorsOf(await response.json(), texts.length, this.address);
    } finally {
      limit.clear();
    }
  }
}

function vectorsOf(reply: unknown, count: number, url: string): Float32Array[] {
  const data = typeof reply === 'object' && reply !== null && 'data' in reply ? reply.data : undefined;
  const found = new Array<Float32Array | undefined>(count);
  for (const [at, item] of (Array.isArray(data) ? data : []).entries()) {
    const { index = at, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (typeof index !== 'number' || !Array.isArray(embedding)) continue;
    found[index] = unitOf(embedding.map(Number));
  }
  const vectors = found.filter((vector) => vector !== undefined);
  const [first] = vectors;
  if (vectors.length !== count || vectors.some((vector) => vector.length !== first?.length))
    throw new Error(`${url} answered without one vector per text.`);
  return vectors;
}

function unitOf(values: readonly number[]): Float32Array {
  const size = Math.hypot(...values);
  if (!Number.isFinite(size))
    throw new Error('The embeddings endpoint answered with values that are not numbers.');
  return Float32Array.from(values, (value) => (size > 0 ? value / size : 0));
}
