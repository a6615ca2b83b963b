import { performance } from 'node:perf_hooks';

/**
 * How long a call may take, together with its caller's wish to stop. Most handlers never look: the signal, its timer and
 * its listener are made for the first that does.
 */
export class Deadline {
  readonly #ms: number;
  readonly #cancelled: AbortSignal | undefined;
  readonly #started = performance.now();
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, cancelled?: AbortSignal) {
    this.#ms = ms;
    this.#cancelled = cancelled;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    if (this.passed) controller.abort(this.#reason());
    else {
      this.#timer = setTimeout(this.#stop, this.#ms - (performance.now() - this.#started)).unref();
      this.#cancelled?.addEventListener('abort', this.#stop, { once: true });
    }
    return controller.signal;
  }

  /** Whether the caller gave up or the time is over. */
  get passed(): boolean {
    return (
      this.#controller?.signal.aborted === true ||
      this.#cancelled?.aborted === true ||
      performance.now() - this.#started >= this.#ms
    );
  }

  throwIfPassed(): void {
    if (this.passed) throw this.#reason();
  }

  /** To be called when the work is over; the signal stays as it is. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#controller) this.#cancelled?.removeEventListener('abort', this.#stop);
  }

  readonly #stop = (): void => this.#controller?.abort(this.#reason());

  #reason(): unknown {
    if (this.#cancelled?.aborted) return this.#cancelled.reason;
    return new DOMException(`The deadline of ${this.#ms} ms passed.`, 'TimeoutError');
  }
}
