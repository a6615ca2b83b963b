import { readInWorker, UnreadableDocument } from '../documents/read-in-worker.ts';

/** Heights of the pages of a PDF in points; undefined when it cannot be read. */
export async function pageHeights(
  bytes: Uint8Array,
  name: string,
  signal?: AbortSignal,
): Promise<readonly number[] | undefined> {
  try {
    return await readInWorker('heights', bytes, name, signal);
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined;
    throw error;
  }
}
