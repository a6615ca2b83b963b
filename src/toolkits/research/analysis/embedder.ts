import { Worker } from 'node:worker_threads';
import { workerUrl } from '../lib/worker-location.ts';
import type { EmbeddingReply, EmbeddingRequest } from './embedding-worker.ts';

/** Turns texts into unit vectors: near vectors, near meaning. */
export interface Embedder {
  /** Names the model in provenance and in cache keys. */
  readonly model: string;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface WorkerEmbedderOptions {
  readonly workerUrl?: () => Promise<URL>;
  /** The worker holds some 300 MB; it ends after this time without work and starts again when needed. */
  readonly idleMs?: number;
}

const beside = () => workerUrl('embedding-worker', import.meta.url);

/** The model reads a batch of this size fastest; it is also how soon another request gets its turn. */
const BATCH = 8;
const LONGEST_TEXT = 1000;

interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: unknown) => void;
  over: boolean;
}

/** The bundled English sentence model in a worker thread, started by the first request. */
export class WorkerEmbedder implements Embedder {
  readonly model = 'universal-sentence-encoder-lite';
  readonly #options: WorkerEmbedderOptions;
  readonly #jobs: Job[] = [];
  #worker: Worker | undefined;
  #current: Job | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WorkerEmbedderOptions = {}) {
    this.#options = options;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    if (this.#closed) throw new Error('The embedder is closed.');
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    let stop: (() => void) | undefined;
    try {
      return await new Promise<Float32Array[]>((resolve, reject) => {
        const job: Job = { texts, vectors: [], resolve, reject, over: false };
        stop = () => {
          job.over = true;
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', stop, { once: true });
        this.#jobs.push(job);
        this.#advance();
      });
    } finally {
      if (stop) signal?.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end(new Error('The embedder was closed.'));
  }

  /** Sends the next batch of the job that waited longest, so that a short request does not wait for a long one. */
  #advance(): void {
    if (this.#current) return;
    let job = this.#jobs.shift();
    while (job?.over) job = this.#jobs.shift();
    if (job) this.#send(job);
    else this.#rest();
  }

  #send(job: Job): void {
    this.#current = job;
    clearTimeout(this.#idle);
    this.#start().then(
      (worker) => {
        worker.ref();
        this.#lastId += 1;
        const texts = job.texts.slice(job.vectors.length, job.vectors.length + BATCH);
        const request: EmbeddingRequest = {
          id: this.#lastId,
          texts: texts.map((text) => text.slice(0, LONGEST_TEXT)),
        };
        worker.postMessage(request);
      },
      (error: unknown) => this.#fail(error),
    );
  }

  async #start(): Promise<Worker> {
    if (this.#worker) return this.#worker;
    const url = await (this.#options.workerUrl ?? beside)();
    if (this.#closed) throw new Error('The embedder is closed.');
    const worker = new Worker(url, { stdout: true });
    // What a library prints must not reach stdout: on stdio that is the protocol.
    worker.stdout.resume();
    worker.on('message', (reply: EmbeddingReply) => this.#take(reply));
    worker.on('error', (error) => this.#lost(worker, error));
    worker.on('exit', () => this.#lost(worker, new Error('The embedding worker ended.')));
    this.#worker = worker;
    return worker;
  }

  #take(reply: EmbeddingReply): void {
    const job = this.#current;
    if (!job || reply.id !== this.#lastId) return;
    if ('error' in reply) {
      this.#fail(new Error(reply.error));
      return;
    }
    this.#current = undefined;
    for (let at = 0; at < reply.vectors.length; at += reply.dimensions) {
      job.vectors.push(reply.vectors.slice(at, at + reply.dimensions));
    }
    if (job.vectors.length >= job.texts.length) job.resolve(job.vectors);
    else this.#jobs.push(job);
    this.#advance();
  }

  #fail(error: unknown): void {
    const job = this.#current;
    this.#current = undefined;
    job?.reject(error);
    this.#advance();
  }

  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#fail(error);
  }

  #rest(): void {
    this.#worker?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#end(new Error('idle')), this.#options.idleMs ?? 60_000).unref();
  }

  async #end(reason: Error): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    const waiting = [...(this.#current ? [this.#current] : []), ...this.#jobs.splice(0)];
    this.#current = undefined;
    for (const job of waiting) job.reject(reason);
    await worker?.terminate();
  }
}
