import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../contract/json.ts';
import type { CallRequest, CallResult } from '../kernel/call/call.ts';
import type { Ending, Task, TaskBoard } from './task-board.ts';

/** How long a client may take to answer a server's question. */
const ANSWER_MS = 600_000;

/** What ends one leg of a call: its result, a question that the client answers with the next leg, or a handle. */
export type LegEnd =
  | { readonly result: CallResult }
  | { readonly requests: JsonObject }
  | { readonly task: Task };

/**
 * One call through the pipeline that may take several requests of the client: it is admitted once and has one intent and
 * one outcome, and waits here while the client gathers answers.
 */
export class ParkedCall {
  readonly principal: string;
  readonly stamp: string;
  /** Of the leg that is open now. */
  onProgress: CallRequest['onProgress'];
  onLog: CallRequest['onLog'];
  readonly #stop = new AbortController();
  readonly #started: Promise<CallResult>;
  #start: (result: Promise<CallResult>) => void = () => {};
  #endLeg: ((end: LegEnd) => void) | undefined;
  #waiting: LegEnd | undefined;
  #askTask: ((requests: JsonObject) => Promise<JsonObject>) | undefined;
  #answer: { resolve(answers: JsonObject): void; reject(error: Error): void } | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #questions: Promise<unknown> = Promise.resolve();

  constructor(principal: string, stamp: string) {
    this.principal = principal;
    this.stamp = stamp;
    this.#started = new Promise((resolve) => {
      this.#start = resolve;
    });
  }

  /** Ends the call when a leg is cancelled or no answer comes; a leg that was answered ends nothing. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isWaiting(): boolean {
    return this.#answer !== undefined;
  }

  start(run: () => Promise<CallResult>): void {
    this.#start(run());
    // What is still asked when the call is over is never answered.
    this.#started.finally(() => this.abandon()).catch(() => {});
  }

  /** One question at a time: a server may ask for roots while a person still answers its dialog. */
  put(requests: JsonObject): Promise<JsonObject> {
    const asked = this.#questions.then(() => this.#putNext(requests));
    this.#questions = asked.catch(() => {});
    return asked;
  }

  /** Continues as a task, where there is room for one; without a task the client waits for the result. */
  becomeTask(board: TaskBoard, toEnding: (result: Promise<CallResult>) => Promise<Ending>): Task | undefined {
    if (this.#askTask || !board.hasShare(this.principal)) return undefined;
    const task = board.start(this.principal, async ({ signal, say, ask }) => {
      this.onProgress = ({ message }) => say(message);
      this.onLog = undefined;
      this.#askTask = ask;
      signal.addEventListener('abort', () => this.#stop.abort(signal.reason), { once: true });
      return toEnding(this.#started);
    });
    if (task) this.#end({ task });
    return task;
  }

  #end(end: LegEnd): void {
    if (this.#endLeg) this.#endLeg(end);
    else this.#waiting = end;
  }

  #putNext(requests: JsonObject): Promise<JsonObject> {
    if (this.#stop.signal.aborted) return Promise.reject(new Error('The call is over.'));
    if (this.#askTask) return this.#askTask(requests);
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#expiry = setTimeout(() => this.abandon(), ANSWER_MS).unref();
      this.#stop.signal.addEventListener('abort', () => reject(new Error('The call was given up.')), {
        once: true,
      });
      this.#end({ requests });
    });
  }

  answer(answers: JsonObject): void {
    clearTimeout(this.#expiry);
    this.#answer?.resolve(answers);
    this.#answer = undefined;
  }

  abandon(): void {
    clearTimeout(this.#expiry);
    this.#stop.abort();
  }

  /** Waits for the result or the next question, on behalf of one request of the client. */
  async leg(cancelled: AbortSignal): Promise<LegEnd> {
    const abandon = (): void => this.abandon();
    cancelled.addEventListener('abort', abandon, { once: true });
    if (cancelled.aborted) abandon();
    const asked = new Promise<LegEnd>((resolve) => {
      this.#endLeg = resolve;
      if (this.#waiting) resolve(this.#waiting);
      this.#waiting = undefined;
    });
    try {
      const result = this.#started.then((one): LegEnd => ({ result: one }));
      return await Promise.race([asked, result]);
    } finally {
      this.#endLeg = undefined;
      // The SDK closes a request's own server after its answer, which must not cancel the call that continues.
      cancelled.removeEventListener('abort', abandon);
    }
  }
}

/** The calls of one process that wait for their client. Lost with the process: recovery settles what was in flight. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  open(principal: string, stamp: string): ParkedCall {
    return new ParkedCall(principal, stamp);
  }

  /** Names the question that the call waits with; every question has a name of its own, so an answer works once. */
  keep(call: ParkedCall): string {
    const question = randomUUID();
    this.#calls.set(question, call);
    call.signal.addEventListener('abort', () => this.#calls.delete(question), { once: true });
    return question;
  }

  /** Only the same principal with the same call gets it back, and only once per question. */
  take(question: string, principal: string, stamp: string): ParkedCall | undefined {
    const call = this.#calls.get(question);
    if (!call?.isWaiting || call.principal !== principal || call.stamp !== stamp) return undefined;
    this.#calls.delete(question);
    return call;
  }
}
