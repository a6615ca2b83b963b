import { type Cell, type SqliteFile, textOf } from '../project/schema.ts';
import { openCacheFile } from './cache-file.ts';
import type { VectorCache } from './stores.ts';

const FORMAT = 1;
const LOOKUP = 100;

/** Vectors in a file of their own. Eight bits per number: a quarter of the size, the cosine off by about a thousandth. */
export class FileVectorCache implements VectorCache {
  readonly #db: SqliteFile;

  constructor(path: string) {
    this.#db = openCacheFile(path, (db) =>
      db.exec(
        `CREATE TABLE IF NOT EXISTS vector_${FORMAT} (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`,
      ),
    );
  }

  get(keys: readonly string[]): ReadonlyMap<string, Float32Array> {
    const found = new Map<string, Float32Array>();
    for (let at = 0; at < keys.length; at += LOOKUP) {
      const part = keys.slice(at, at + LOOKUP);
      // One statement for all sizes of a lookup: absent places ask for a key that cannot exist.
      const padded: Cell[] = [...part, ...new Array<string>(LOOKUP - part.length).fill('')];
      const marks = padded.map(() => '?').join(',');
      for (const row of this.#db.all(
        `SELECT key, value FROM vector_${FORMAT} WHERE key IN (${marks})`,
        ...padded,
      )) {
        if (typeof row.value === 'object' && row.value) found.set(textOf(row.key), unpack(row.value));
      }
    }
    return found;
  }

  put(entries: ReadonlyMap<string, Float32Array>): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      for (const [key, vector] of entries) {
        this.#db.run(`INSERT OR REPLACE INTO vector_${FORMAT} (key, value) VALUES (?, ?)`, key, pack(vector));
      }
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#db.close();
  }
}

/** Four bytes for the scale, then one signed byte per number. */
function pack(vector: Float32Array): Uint8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const bytes = new Uint8Array(4 + vector.length);
  const view = new DataView(bytes.buffer);
  view.setFloat32(0, largest / 127);
  for (const [at, value] of vector.entries())
    view.setInt8(4 + at, largest ? Math.round((value / largest) * 127) : 0);
  return bytes;
}

function unpack(stored: ArrayBuffer | Uint8Array): Float32Array {
  const bytes = new Uint8Array(stored);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scale = view.getFloat32(0);
  const vector = new Float32Array(bytes.byteLength - 4);
  for (let at = 0; at < vector.length; at += 1) vector[at] = view.getInt8(4 + at) * scale;
  const size = Math.hypot(...vector) || 1;
  return vector.map((value) => value / size);
}
