import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ToolFault } from '../../../contract/faults.ts';

/** Writes a file whole or not at all: under another name first, synced, then renamed. */
export async function writeFileWhole(
  path: string,
  body: Readable | string | Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const draft = `${path}.${process.pid}.partial`;
  try {
    await pipeline(
      typeof body === 'string' || body instanceof Uint8Array ? [body] : body,
      createWriteStream(draft, { mode: 0o600 }),
      { signal },
    );
    const file = await open(draft, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    signal?.throwIfAborted();
    if (error instanceof ToolFault) throw error;
    throw new ToolFault('file_read_error', `The file ${path} could not be written.`, { cause: error });
  }
}
