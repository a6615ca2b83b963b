import { setTimeout as sleep } from 'node:timers/promises';
import type { LeasePort, Log } from '../../contract/ports.ts';
import type { AnalysisPool } from './analysis-pool.ts';
import type { PrivacyStore } from './privacy/rules.ts';
import type { OpenProject, Projects } from './project/projects.ts';

const LOOK_MS = 5_000;
/** Whoever asks first wants an answer first. */
const AFTER_FIRST_CALL_MS = 2_000;
/** Looking at a source takes a few milliseconds of this thread; calls come in between. */
const BETWEEN_MS = 20;
/** Of all processes on the store, one reads. */
const LEASE = 'research.read-sources';
const LEASE_MS = 3 * LOOK_MS;

export interface SourceReaderOptions {
  readonly ai: 'off' | 'local' | 'llm';
  readonly projects: Projects;
  readonly privacy: PrivacyStore;
  readonly analysis: AnalysisPool;
  readonly leases: LeasePort;
  readonly log: Log;
}

/**
 * Reads the open project's sources for searching by meaning, one after the other, in the worker. What is read stays read, so that it
 * can be stopped at any time and goes on where it was. Sources off limits to agents are never read by machine.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #done = '';

  constructor(options: SourceReaderOptions) {
    this.#options = options;
  }

  /** From now on behind the calls of this process; the process may end without it. */
  begin(): void {
    this.#running ??= this.#run(this.#stop.signal, AFTER_FIRST_CALL_MS);
  }

  /** Until the signal fires, as a job of the server. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#stop.abort(), { once: true });
    if (signal.aborted) this.#stop.abort();
    this.#running ??= this.#run(this.#stop.signal, 0);
    await this.#running;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal, delayMs: number): Promise<void> {
    const { ai, leases, log } = this.#options;
    if (ai === 'off') return;
    await pause(delayMs, signal);
    while (!signal.aborted) {
      try {
        await this.#look(signal);
      } catch (error) {
        // A project on a disk that is gone must not end the server; the next look may find it again.
        if (!signal.aborted)
          log.debug('sources could not be read for searching by meaning', { error: String(error) });
      }
      await pause(LOOK_MS, signal);
    }
    await leases.release(LEASE).catch(() => undefined);
  }

  /** An unchanged project is not looked through again. */
  async #look(signal: AbortSignal): Promise<void> {
    const { projects, privacy, leases } = this.#options;
    const project = await projects.find();
    if (!project) return;
    const { offLimits } = await privacy.rules(project.id);
    const state = JSON.stringify([project.id, project.store.textVersion(), [...offLimits]]);
    if (state === this.#done || !(await leases.acquire(LEASE, LEASE_MS))) return;
    // Losing the lease only means that two processes read the same source; each result is as good.
    const keep = setInterval(() => void leases.acquire(LEASE, LEASE_MS).catch(() => false), LOOK_MS).unref();
    try {
      if (await this.#read(project, signal)) this.#done = state;
    } finally {
      clearInterval(keep);
    }
  }

  /** False when the project was closed on the way. */
  async #read(project: OpenProject, signal: AbortSignal): Promise<boolean> {
    const { projects, privacy, analysis } = this.#options;
    const closed = new AbortController();
    const ids = project.store.sources().flatMap(({ id, hasText }) => (hasText ? [id] : []));
    try {
      await (await analysis.of(project)).prepare(ids, {
        signal: AbortSignal.any([signal, closed.signal]),
        async mayRead(id) {
          await pause(BETWEEN_MS, signal);
          if ((await projects.find())?.id !== project.id) closed.abort();
          return !(await privacy.rules(project.id)).offLimits.has(id);
        },
      });
      return true;
    } catch (error) {
      if (closed.signal.aborted) return false;
      throw error;
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
