import type { Log } from '../../contract/ports.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;

/** Writes an outcome, or finds that it is written; throws while the database does not work. */
export type WriteOutcome = () => Promise<void>;

/**
 * Outcomes of changes that this process knows and could not write. No other process can settle them while this one
 * lives, so they are written as soon as the database works again.
 */
export class UnrecordedOutcomes {
  readonly #log: Log;
  readonly #open = new Map<string, WriteOutcome>();
  #timer: NodeJS.Timeout | undefined;
  #waitMs = FIRST_MS;
  #retrying: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(callId: string, write: WriteOutcome): void {
    this.#open.set(callId, write);
    this.#waitMs = FIRST_MS;
    this.#plan();
  }

  /** Tries all of them now. */
  async retry(): Promise<void> {
    this.#retrying ??= this.#writeAll().finally(() => {
      this.#retrying = undefined;
    });
    await this.#retrying;
  }

  async #writeAll(): Promise<void> {
    for (const [callId, write] of this.#open) {
      try {
        await write();
        this.#open.delete(callId);
        this.#log.info('The outcome of a call was recorded late', { call: callId });
      } catch (error) {
        this.#log.warn('The outcome of a call can still not be recorded', { call: callId, error });
        break;
      }
    }
    this.#waitMs = Math.min(LONGEST_MS, this.#waitMs * 2);
    this.#plan();
  }

  #plan(): void {
    if (this.#open.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.retry(), this.#waitMs).unref();
  }
}
