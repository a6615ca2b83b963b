import { randomUUID } from 'node:crypto';

/** How long a task can be asked for, from its creation; never less, as the extension demands. */
const TTL_MS = 24 * 3_600_000;
const POLL_MS = 1_000;
const MAX_TASKS = 1_000;

/** A task as the protocol's tasks extension shows it. */
export interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** With status completed: what the call would have answered, errors of the tool included. */
  readonly result?: object;
  /** With status failed: the protocol error the call would have answered. */
  readonly error?: { readonly code: number; readonly message: string };
}

export type Ending = Pick<Task, 'result' | 'error'> & {
  readonly status: 'completed' | 'failed' | 'cancelled';
};

/** Does the task's call; must not throw. */
export type Work = (signal: AbortSignal, say: (message: string) => void) => Promise<Ending>;

interface Entry {
  readonly owner: string;
  readonly expiresAt: number;
  readonly stop: AbortController;
  task: Task;
  done: Promise<void>;
}

/** The calls of one serving process that go on without their request. Only who started a task sees it. */
export class TaskBoard {
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;
  #closed = false;

  constructor(max: number = MAX_TASKS) {
    this.#max = max;
  }

  /** Undefined when there is no room: a task must be kept for its whole time, so none is begun. */
  start(owner: string, work: Work): Task | undefined {
    this.#dropExpired();
    if (this.#closed || this.#entries.size >= this.#max) return undefined;
    const now = new Date();
    const task: Task = {
      taskId: randomUUID(),
      status: 'working',
      createdAt: now.toISOString(),
      lastUpdatedAt: now.toISOString(),
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_MS,
    };
    const stop = new AbortController();
    const entry: Entry = { owner, expiresAt: now.getTime() + TTL_MS, stop, task, done: Promise.resolve() };
    const update = (change: Partial<Task>): void => {
      entry.task = { ...entry.task, ...change, lastUpdatedAt: new Date().toISOString() };
    };
    this.#entries.set(task.taskId, entry);
    entry.done = work(stop.signal, (statusMessage) => {
      if (entry.task.status === 'working') update({ statusMessage });
    }).then((ending) => update({ statusMessage: undefined, ...ending }));
    return task;
  }

  get(owner: string, taskId: string): Task | undefined {
    return this.#find(owner, taskId)?.task;
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

  #find(owner: string, taskId: string): Entry | undefined {
    this.#dropExpired();
    const entry = this.#entries.get(taskId);
    return entry?.owner === owner ? entry : undefined;
  }

  /** Entries stand in the order they were made, and all live equally long. */
  #dropExpired(): void {
    for (const [id, { expiresAt, task }] of this.#entries) {
      if (expiresAt > Date.now()) return;
      if (task.status !== 'working') this.#entries.delete(id);
    }
  }
}
