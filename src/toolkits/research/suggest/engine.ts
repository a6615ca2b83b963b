import { Worker } from 'node:worker_threads';
import { workerUrl } from '../worker-location.ts';
import type { Answers, ProjectView, Question, WorkerReply, WorkerRequest } from './protocol.ts';

/** A model of a large project holds some 100 MB; it is built again in seconds. */
const IDLE_MS = 15 * 60_000;

interface Waiting {
  readonly resolve: (answer: Answers[keyof Answers]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Suggests codes from what a project's own codings teach. All of the work is done in one worker thread, which keeps the models of the
 * projects in use and brings them up to date with each question.
 */
export class SuggestionEngine {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Promise<Worker> | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  async ask<Q extends Question>(
    view: ProjectView,
    question: Q,
    signal?: AbortSignal,
  ): Promise<Answers[Q['kind']]> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error('The suggestion engine is closed.');
    const worker = await this.#start();
    signal?.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    clearTimeout(this.#idle);
    worker.ref();
    const stop = () => {
      worker.postMessage({ cancel: id } satisfies WorkerRequest);
      this.#settle(id)?.reject(signal?.reason);
    };
    try {
      return await new Promise<Answers[Q['kind']]>((resolve, reject) => {
        this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
        signal?.addEventListener('abort', stop, { once: true });
        worker.postMessage({ id, view, question } satisfies WorkerRequest);
      });
    } finally {
      signal?.removeEventListener('abort', stop);
      if (this.#waiting.size === 0) this.#rest(worker);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end(new Error('The suggestion engine was closed.'));
  }

  #start(): Promise<Worker> {
    this.#worker ??= this.#launch();
    return this.#worker;
  }

  async #launch(): Promise<Worker> {
    const worker = new Worker(await workerUrl('suggest-worker', import.meta.url), { stdout: true });
    // What a library prints must not reach stdout: on stdio that is the protocol.
    worker.stdout.resume();
    worker.on('message', (reply: WorkerReply) => {
      const waiting = this.#settle(reply.id);
      if ('error' in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.answer);
    });
    worker.on('error', (error) => this.#lost(error));
    worker.on('exit', () => this.#lost(new Error('The worker that suggests codes ended.')));
    return worker;
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #rest(worker: Worker): void {
    worker.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#end(new Error('idle')), IDLE_MS).unref();
  }

  #lost(error: Error): void {
    this.#worker = undefined;
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error);
  }

  async #end(reason: Error): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#lost(reason);
    await (await worker?.catch(() => undefined))?.terminate();
  }
}
