import { performance } from 'node:perf_hooks';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Long enough to get on, short enough that other calls do not notice. */
const SLICE_MS = 8;

/** Paces work of unknown length on the main thread: ask `isDue` at each small step and `await rest()` when it is. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get isDue(): boolean {
    return performance.now() >= this.#until;
  }

  async rest(): Promise<void> {
    await yieldToEventLoop(undefined, this.#signal ? { signal: this.#signal } : undefined);
    this.#until = performance.now() + SLICE_MS;
  }
}
