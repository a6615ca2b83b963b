import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../contract/json.ts';
import { put } from '../lib/lookup.ts';

/** How long a task can be asked for, from its creation; never less, as the extension demands. */
const TTL_MS = 24 * 3_600_000;
const POLL_MS = 1_000;
const MAX_TASKS = 1_000;
const MAX_WORKING = 100;

/** A task as the protocol's tasks extension shows it. */
export interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** With status input_required: what the client is still asked, by key. */
  readonly inputRequests?: JsonObject;
  /** With status completed: what the call would have answered, errors of the tool included. */
  readonly result?: object;
  /** With status failed: the protocol error the call would have answered. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Ending = Pick<Task, 'result' | 'error'> & {
  readonly status: 'completed' | 'failed' | 'cancelled';
};

/** What the work may do with its task. */
export interface TaskControl {
  readonly signal: AbortSignal;
  say(message: string): void;
  /** Puts requests of a server to the client that polls the task. Fails when the task is cancelled. */
  ask(requests: JsonObject): Promise<JsonObject>;
}

/** Does the task's call; must not throw. */
export type Work = (control: TaskControl) => Promise<Ending>;

/** What a task waits for before it works on. */
interface Question {
  readonly answers: JsonObject;
  resolve(answers: JsonObject): void;
}

interface Entry {
  readonly owner: string;
  readonly expiresAt: number;
  readonly stop: AbortController;
  task: Task;
  done: Promise<void>;
  question: Question | undefined;
  readonly changed: Set<() => void>;
}

export const isOver = ({ status }: Task): boolean => status !== 'working' && status !== 'input_required';

/** The calls of one serving process that go on without their request. Only who started a task sees it. */
export class TaskBoard {
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;
  readonly #working: number;
  #closed = false;

  /** `working`: how many tasks of one owner may be under way. */
  constructor({ max = MAX_TASKS, working = MAX_WORKING }: { max?: number; working?: number } = {}) {
    this.#max = max;
    this.#working = working;
  }

  /** False while this owner has as many tasks under way as it may have. */
  hasShare(owner: string): boolean {
    return this.#countOf(owner, ({ task }) => !isOver(task)) < this.#working;
  }

  /**
   * Undefined when there is no room: a task must be kept for its whole time, so none is begun. One owner fills at most
   * half of the board.
   */
  start(owner: string, work: Work): Task | undefined {
    this.#dropExpired();
    if (this.#closed || this.#entries.size >= this.#max) return undefined;
    if (this.#countOf(owner, () => true) >= Math.max(1, this.#max / 2)) return undefined;
    const now = new Date();
    const task: Task = {
      taskId: randomUUID(),
      status: 'working',
      createdAt: now.toISOString(),
      lastUpdatedAt: now.toISOString(),
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_MS,
    };
    const entry: Entry = {
      owner,
      expiresAt: now.getTime() + TTL_MS,
      stop: new AbortController(),
      task,
      done: Promise.resolve(),
      question: undefined,
      changed: new Set(),
    };
    this.#entries.set(task.taskId, entry);
    entry.done = work({
      signal: entry.stop.signal,
      say: (statusMessage) => {
        if (!isOver(entry.task)) update(entry, { statusMessage });
      },
      ask: (requests) => ask(entry, requests),
    }).then((ending) => {
      entry.question = undefined;
      update(entry, { statusMessage: undefined, inputRequests: undefined, ...ending });
    });
    return task;
  }

  get(owner: string, taskId: string): Task | undefined {
    return this.#find(owner, taskId)?.task;
  }

  /** Every task of the owner, oldest first. */
  list(owner: string): Task[] {
    this.#dropExpired();
    return [...this.#entries.values()].filter((entry) => entry.owner === owner).map(({ task }) => task);
  }

  /** Waits until the task is over or asks its client. */
  async next(owner: string, taskId: string, signal: AbortSignal): Promise<Task | undefined> {
    const entry = this.#find(owner, taskId);
    while (entry?.task.status === 'working') await changeOf(entry, signal);
    return entry?.task;
  }

  /** Answers to some or all of what the task asks; others are passed over. The task works on when all are there. */
  answer(owner: string, taskId: string, answers: JsonObject): boolean {
    const entry = this.#find(owner, taskId);
    const { question, task } = entry ?? {};
    if (!entry || !question || !task?.inputRequests) return entry !== undefined;
    const left: JsonObject = { ...task.inputRequests };
    for (const [key, answer] of Object.entries(answers)) {
      if (!Object.hasOwn(left, key)) continue;
      put(question.answers, key, answer);
      delete left[key];
    }
    if (Object.keys(left).length > 0) update(entry, { inputRequests: left });
    else {
      entry.question = undefined;
      update(entry, { status: 'working', inputRequests: undefined });
      question.resolve(question.answers);
    }
    return true;
  }

  /** For clients whose protocol wants a cancelled task to be `cancelled`; what became of its work is in its result. */
  async cancelForGood(owner: string, taskId: string): Promise<Task | undefined> {
    const entry = this.#find(owner, taskId);
    if (!entry || isOver(entry.task)) return undefined;
    this.cancel(owner, taskId);
    await entry.done;
    update(entry, { status: 'cancelled' });
    return entry.task;
  }

  /** Asks the work to stop; what became of it, the task itself says. False when there is no such task. */
  cancel(owner: string, taskId: string): boolean {
    const entry = this.#find(owner, taskId);
    entry?.stop.abort(new Error('The task was cancelled.'));
    return entry !== undefined;
  }

  /** The process ends: what can go on elsewhere is let go, as if its caller had stopped waiting. */
  async close(): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries.values()];
    for (const { stop } of entries) stop.abort(new DOMException('The server is closing.', 'TimeoutError'));
    await Promise.all(entries.map(({ done }) => done));
  }

  #countOf(owner: string, matches: (entry: Entry) => boolean): number {
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.owner === owner && matches(entry)) count += 1;
    return count;
  }

  #find(owner: string, taskId: string): Entry | undefined {
    this.#dropExpired();
    const entry = this.#entries.get(taskId);
    return entry?.owner === owner ? entry : undefined;
  }

  /** Entries stand in the order they were made, and all live equally long. */
  #dropExpired(): void {
    for (const [id, { expiresAt, task }] of this.#entries) {
      if (expiresAt > Date.now()) return;
      if (isOver(task)) this.#entries.delete(id);
    }
  }
}

function update(entry: Entry, change: Partial<Task>): void {
  entry.task = { ...entry.task, ...change, lastUpdatedAt: new Date().toISOString() };
  for (const tell of entry.changed) tell();
}

function ask(entry: Entry, inputRequests: JsonObject): Promise<JsonObject> {
  const { signal } = entry.stop;
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    entry.question = { answers: {}, resolve };
    update(entry, { status: 'input_required', inputRequests });
  });
}

function changeOf({ changed }: Entry, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      changed.delete(end);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    changed.add(end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
