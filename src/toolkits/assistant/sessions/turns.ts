import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import type { Run, Runs } from './runs.ts';
import { LostRun, type Transcript } from './transcript.ts';

export interface TurnTimes {
  /** First and longest pause between looks at the queue; other processes cannot wake this one. */
  readonly pollMs: number;
  readonly maxPollMs: number;
  /** How long a dead process's detached order is left for `countersign up` before the queue moves on. */
  readonly handoverMs: number;
}

/** Lets one order of a session run at a time, in the order they came, whichever process they came to. */
export class Turns {
  readonly #runs: Runs;
  readonly #transcript: Transcript;
  readonly #times: TurnTimes;
  readonly #now: () => Date;
  readonly #wake = new EventEmitter().setMaxListeners(0);

  constructor(runs: Runs, transcript: Transcript, times: TurnTimes, now: () => Date) {
    this.#runs = runs;
    this.#transcript = transcript;
    this.#times = times;
    this.#now = now;
  }

  async wait(
    run: Run,
    options: { signal: AbortSignal; timeoutMs: number; onWait: (ahead: number) => void },
  ): Promise<void> {
    const giveUpAt = this.#now().getTime() + options.timeoutMs;
    let pollMs = this.#times.pollMs;
    for (;;) {
      options.signal.throwIfAborted();
      // Looked at before claimed: a look takes no write lock, and there are many waiting.
      const ahead = await this.#runs.ahead(run);
      if (ahead.length === 0) {
        if (await this.#runs.claim(run)) return;
        if (!(await this.#runs.isHeld(run.id))) throw new LostRun();
        continue;
      }
      if ((await this.#runs.releaseDead()) || (await this.#clearDead(ahead))) continue;
      if (this.#now().getTime() > giveUpAt) {
        throw new ToolError(
          'busy',
          `The session is busy: ${ahead.length} earlier message(s) were still being worked on after ${Math.round(options.timeoutMs / 1000)} s. Send the message again later.`,
        );
      }
      options.onWait(ahead.length);
      await this.pause(run.session_id, pollMs, options.signal);
      pollMs = Math.min(pollMs * 2, this.#times.maxPollMs);
    }
  }

  /** Returns early when an order of the session ends in this process. */
  async pause(sessionId: string, ms: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    try {
      await Promise.race([
        sleep(ms, undefined, { signal: until, ref: true }),
        once(this.#wake, sessionId, { signal: until }),
      ]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.abort();
    }
  }

  /** An order of the session has ended. */
  ended(sessionId: string): void {
    this.#wake.emit(sessionId);
  }

  async #clearDead(ahead: readonly Run[]): Promise<boolean> {
    let cleared = false;
    const now = this.#now().getTime();
    for (const run of ahead) {
      const deadFor = now - Date.parse(run.lease_until);
      // Our own are alive as we are, even if a machine that slept says otherwise of their lease.
      if (deadFor <= 0 || run.owner === this.#runs.owner) continue;
      // A lease given up on purpose is dated at the epoch; the time of giving up is then unknown, so the order waits
      // for its hand-over from the moment we first saw it.
      if (run.detached && !this.#handoverIsOver(run, now)) continue;
      cleared = (await this.#transcript.interrupt(run)) || cleared;
    }
    return cleared;
  }

  readonly #firstSeenDead = new Map<string, number>();

  #handoverIsOver(run: Run, now: number): boolean {
    const seen = this.#firstSeenDead.get(run.id) ?? now;
    this.#firstSeenDead.set(run.id, seen);
    if (now - seen < this.#times.handoverMs) return false;
    this.#firstSeenDead.delete(run.id);
    return true;
  }
}
