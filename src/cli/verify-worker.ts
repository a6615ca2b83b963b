import { parentPort, workerData } from 'node:worker_threads';
import { readChunk } from '../kernel/log/verify/chunks.ts';
import { openStorageReadOnly } from '../storage/open.ts';
import type { ChunkAnswer, ChunkQuestion, HelperData } from './verify-helper.ts';

/** The second thread of `audit verify`: reads chunks of the log over a connection of its own. */
const { url, rows } = workerData as HelperData;
const opened = openStorageReadOnly({ url });

parentPort?.on('message', async (question: ChunkQuestion) => {
  if (question === 'close') {
    await (await opened).close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(await answer(question));
});

async function answer(index: number): Promise<ChunkAnswer> {
  try {
    return { index, chunk: await readChunk(await opened, index, rows) };
  } catch (error) {
    return { index, chunk: undefined, failed: String(error) };
  }
}
