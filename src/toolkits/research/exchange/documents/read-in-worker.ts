import { Worker } from 'node:worker_threads';
import { ToolError } from '../../../../contract/errors.ts';
import { workerUrl } from '../../worker-location.ts';
import type { DocumentContent, DocumentKind, DocumentReply, DocumentRequest } from './document-worker.ts';

/** A file that needs more than this to be read would take the server with it. */
const MEMORY_MB = 2048;
/** Several files come one after the other; starting again for each would take most of the time. */
const IDLE_MS = 5000;

/** The fault is the file's, not ours. */
export class UnreadableDocument extends Error {}

/** Ours alone: the worker has listeners of its own to others. */
const EVENTS = ['message', 'error', 'exit'];

let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined;

/**
 * What a document holds, by its kind. The libraries read without a pause, seconds for a book, so they do it in a
 * thread of their own,
 * which ends when the caller stops waiting.
 */
export async function readInWorker<K extends DocumentKind>(
  kind: K,
  bytes: Uint8Array,
  name: string,
  signal?: AbortSignal,
): Promise<DocumentContent<K>> {
  signal?.throwIfAborted();
  const worker = await takeWorker();
  let settled = false;
  try {
    const reply = await new Promise<DocumentReply>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new UnreadableDocument(error.message) : error),
      );
      worker.once('exit', () => reject(new Error('The worker that reads documents ended.')));
      worker.postMessage({ kind, bytes, name } satisfies DocumentRequest);
    });
    settled = true;
    if ('refused' in reply) throw new ToolError('validation_error', reply.refused);
    if ('error' in reply) throw new UnreadableDocument(reply.error);
    return reply.content as DocumentContent<K>;
  } finally {
    for (const event of EVENTS) worker.removeAllListeners(event);
    if (settled && !idle) rest(worker);
    else await worker.terminate();
  }
}

async function takeWorker(): Promise<Worker> {
  const resting = idle;
  idle = undefined;
  if (resting) {
    clearTimeout(resting.timer);
    for (const event of EVENTS) resting.worker.removeAllListeners(event);
    resting.worker.ref();
    return resting.worker;
  }
  const url = await workerUrl('document-worker', import.meta.url);
  const worker = new Worker(url, { stdout: true, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
  // What a library prints must not reach stdout: on stdio that is the protocol.
  worker.stdout.resume();
  return worker;
}

function rest(worker: Worker): void {
  worker.unref();
  const timer = setTimeout(() => {
    idle = undefined;
    void worker.terminate();
  }, IDLE_MS).unref();
  // One that dies while no one waits is simply not there the next time.
  worker.once('error', () => undefined);
  worker.once('exit', () => {
    if (idle?.worker === worker) idle = undefined;
  });
  idle = { worker, timer };
}
