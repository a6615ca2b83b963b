import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Chunk, ChunkReader } from '../kernel/log/verify/chunks.ts';
import { isPostgresUrl } from '../storage/store-error.ts';

export interface HelperData {
  readonly url: string;
  readonly rows: boolean;
}

export type ChunkQuestion = number | 'close';

export interface ChunkAnswer {
  readonly index: number;
  readonly chunk: Chunk | undefined;
  readonly failed?: string;
}

export interface VerifyHelper {
  readonly read: ChunkReader;
  close(): Promise<void>;
}

/** Below this a second thread takes longer to start than it saves. */
const WORTH_BYTES = 16 * 1024 * 1024;

/** A second thread for `audit verify`; undefined where it would not help, or is not part of what runs here. */
export function startHelper(
  data: HelperData,
  script: URL | undefined = builtWorker(import.meta.url),
): VerifyHelper | undefined {
  if (isPostgresUrl(data.url) || availableParallelism() < 2 || !script) return undefined;
  if (statSync(data.url).size < WORTH_BYTES) return undefined;
  return overWorker(new Worker(script, { workerData: data, stdout: true }));
}

/** In the build next to the program, or one folder above its chunks; none while working on the sources. */
function builtWorker(from: string): URL | undefined {
  return ['./verify-worker.js', '../verify-worker.js']
    .map((path) => new URL(path, from))
    .find((url) => existsSync(url));
}

function overWorker(worker: Worker): VerifyHelper {
  // What a library prints must not reach stdout.
  worker.stdout.resume();
  const waiting = new Map<
    number,
    { resolve(chunk: Chunk | undefined): void; reject(error: unknown): void }
  >();
  let lost: unknown;
  const lose = (error: unknown): void => {
    lost ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('message', ({ index, chunk, failed }: ChunkAnswer) => {
    const asked = waiting.get(index);
    waiting.delete(index);
    if (failed === undefined) asked?.resolve(chunk);
    else asked?.reject(new Error(failed));
  });
  worker.on('error', lose);
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      lose(new Error('The second thread of verify ended.'));
      resolve();
    });
  });
  return {
    read: (index) =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) return reject(lost);
        waiting.set(index, { resolve, reject });
        worker.postMessage(index satisfies ChunkQuestion);
      }),
    async close() {
      worker.postMessage('close' satisfies ChunkQuestion);
      await ended;
    },
  };
}
