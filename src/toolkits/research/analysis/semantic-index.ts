import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Cell, numberOf, type SqliteFile, textOf } from '../project/schema.ts';
import type { SourceText } from '../project/types.ts';
import { openCacheFile } from './cache-file.ts';
import { Pace } from './pace.ts';
import { type Segment, segmentsInSlices } from './segments.ts';
import { textHash } from './text-hash.ts';
import type { EmbedOptions, Vectors } from './vectors.ts';

const FORMAT = 2;
/** Sentences looked up and packed between two chances for other work. */
const PIECE = 256;

export interface SemanticHit {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  /** Cosine with the query. */
  readonly similarity: number;
}

/**
 * The sentences of whole sources with their vectors, one row per source, so that a search reads a few large pieces. A
 * source gets in
 * when it is prepared (tens of seconds for a long interview) and drops out when its text changes.
 */
export class SemanticIndex {
  readonly #db: SqliteFile;
  readonly #vectors: Vectors;

  constructor(path: string, vectors: Vectors) {
    this.#vectors = vectors;
    this.#db = openCacheFile(path, (db) =>
      db.exec(
        `CREATE TABLE IF NOT EXISTS sentences_${FORMAT} (source INTEGER PRIMARY KEY, model TEXT NOT NULL, hash TEXT NOT NULL,
       bytes INTEGER NOT NULL, spans BLOB NOT NULL, scales BLOB NOT NULL, vectors BLOB NOT NULL)`,
      ),
    );
  }

  /** Embeds what is missing of a source; costs nothing when it is ready. */
  async prepare(sourceId: number, text: SourceText, options: EmbedOptions = {}): Promise<void> {
    const pace = new Pace(options.signal);
    const hash = await textHash(text.value, pace);
    if (this.#holds(sourceId, hash)) return;
    const segments: Segment[] = [];
    for await (const segment of segmentsInSlices(text, [{ start: 0, end: text.length }], { pace }))
      segments.push(segment);
    let packed = new Int8Array(0);
    const scales = new Float32Array(segments.length);
    for (let from = 0; from < segments.length; from += PIECE) {
      const piece = segments.slice(from, from + PIECE).map((segment) => segment.text);
      for (const [i, vector] of (await this.#vectors.of(piece, options)).entries()) {
        if (packed.length === 0) packed = new Int8Array(segments.length * vector.length);
        scales[from + i] = pack(vector, packed, (from + i) * vector.length);
      }
      await yieldToEventLoop(undefined, options.signal ? { signal: options.signal } : undefined);
    }
    const spans = Int32Array.from(segments.flatMap(({ start, end }) => [start, end]));
    this.#db.run(
      `INSERT OR REPLACE INTO sentences_${FORMAT} (source, model, hash, bytes, spans, scales, vectors) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[
        sourceId,
        this.#vectors.model,
        hash,
        Buffer.byteLength(text.value),
        bytesOf(spans),
        bytesOf(scales),
        bytesOf(packed),
      ],
    );
  }

  /** What was read of a source that is no longer to be read. */
  forget(sourceId: number): void {
    this.#db.run(`DELETE FROM sentences_${FORMAT} WHERE source = ?`, sourceId);
  }

  /** Of the given sources, those that can be searched now; `bytes` shows whether a source has changed since. */
  prepared(sources: readonly { readonly id: number; readonly bytes: number }[]): Set<number> {
    const rows = this.#db.all(
      `SELECT source, bytes FROM sentences_${FORMAT} WHERE model = ?`,
      this.#vectors.model,
    );
    const sizes = new Map(rows.map((row) => [numberOf(row.source), numberOf(row.bytes)]));
    return new Set(sources.filter(({ id, bytes }) => sizes.get(id) === bytes).map(({ id }) => id));
  }

  /** The sentences nearest to a vector, best first, among the given sources. */
  async search(
    query: Float32Array,
    sourceIds: Iterable<number>,
    options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
  ): Promise<SemanticHit[]> {
    const limit = options.limit ?? 50;
    let best: SemanticHit[] = [];
    for (const sourceId of sourceIds) {
      await yieldToEventLoop(undefined, options.signal ? { signal: options.signal } : undefined);
      const row = this.#db.get(
        `SELECT spans, scales, vectors FROM sentences_${FORMAT} WHERE source = ? AND model = ?`,
        sourceId,
        this.#vectors.model,
      );
      if (!row) continue;
      const spans = new Int32Array(bufferOf(row.spans));
      const scales = new Float32Array(bufferOf(row.scales));
      const vectors = new Int8Array(bufferOf(row.vectors));
      for (let at = 0; at * 2 < spans.length; at += 1) {
        const similarity = (scales[at] ?? 0) * product(query, vectors, at * query.length);
        best.push({ sourceId, start: spans[at * 2] ?? 0, end: spans[at * 2 + 1] ?? 0, similarity });
      }
      best = best.sort((a, b) => b.similarity - a.similarity).slice(0, limit);
    }
    return best;
  }

  close(): void {
    this.#db.close();
  }

  #holds(sourceId: number, hash: string): boolean {
    const row = this.#db.get(
      `SELECT hash FROM sentences_${FORMAT} WHERE source = ? AND model = ?`,
      sourceId,
      this.#vectors.model,
    );
    return row !== undefined && textOf(row.hash) === hash;
  }
}

/** One byte per number; what a step of it is worth is returned. */
function pack(vector: Float32Array, into: Int8Array, offset: number): number {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return 0;
  for (const [i, value] of vector.entries()) into[offset + i] = Math.round((127 * value) / largest);
  return largest / 127;
}

const bytesOf = (view: Int8Array | Int32Array | Float32Array): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** A copy of its own: the driver's memory is not aligned for wider numbers. */
function bufferOf(cell: Cell | undefined): ArrayBuffer {
  if (typeof cell !== 'object' || cell === null) return new ArrayBuffer(0);
  return new Uint8Array(cell).slice().buffer as ArrayBuffer;
}

function product(query: Float32Array, packed: Int8Array, offset: number): number {
  let sum = 0;
  for (let i = 0; i < query.length; i += 1) sum += (query[i] ?? 0) * (packed[offset + i] ?? 0);
  return sum;
}
