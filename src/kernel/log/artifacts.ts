import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArtifactRef } from '../../contract/outcome.ts';
import type { ArtifactsPort } from '../../contract/ports.ts';
import { makeFolder } from '../../lib/file-error.ts';
import type { Database } from '../store/database.ts';

const ID = /^sha256:([0-9a-f]{2})([0-9a-f]{62})$/;

/** What the bytes on disk say about an artifact. */
export type ArtifactState = 'intact' | 'changed' | 'missing';

/** Files named by the hash of their content: `artifacts/ab/cdef…`. The same bytes are stored once. */
export class ArtifactStore implements ArtifactsPort {
  readonly #database: Database;
  readonly #folder: string;
  readonly #now: () => Date;

  constructor(database: Database, dataDir: string, now: () => Date = () => new Date()) {
    this.#database = database;
    this.#folder = join(dataDir, 'artifacts');
    this.#now = now;
  }

  async write(name: string, mediaType: string, body: string | Uint8Array): Promise<ArtifactRef> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const id = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const path = this.#path(id);
    const size = bytes.byteLength;
    // Renewed even when the row exists: the file may have been erased, or an earlier write cut short.
    if ((await this.check(id)) !== 'intact') await writeDurably(path, bytes);
    await this.#database.db
      .insertInto('artifacts')
      .values({ id, media_type: mediaType, size, created_at: this.#now().toISOString() })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return { id, name, mediaType, size };
  }

  async read(id: string): Promise<Uint8Array | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      return await readFile(this.#path(id));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Hashes the file as a stream, so that a large artifact needs no memory. */
  async check(id: string): Promise<ArtifactState> {
    if (!ID.test(id)) return 'missing';
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(this.#path(id))) hash.update(chunk as Buffer);
    } catch (error) {
      if (isMissing(error)) return 'missing';
      throw error;
    }
    return `sha256:${hash.digest('hex')}` === id ? 'intact' : 'changed';
  }

  async size(id: string): Promise<number | undefined> {
    if (!ID.test(id)) return undefined;
    return stat(this.#path(id)).then(
      (found) => found.size,
      () => undefined,
    );
  }

  async remove(id: string): Promise<void> {
    if (ID.test(id)) await rm(this.#path(id), { force: true });
  }

  #path(id: string): string {
    const [, folder = '', file = ''] = ID.exec(id) ?? [];
    return join(this.#folder, folder, file);
  }
}

/** Readers see the whole file or none, and an entry never names bytes that a power cut can undo. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
