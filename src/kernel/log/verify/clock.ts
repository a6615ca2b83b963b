import type { Entry } from '../entry.ts';
import type { Backwards } from './report.ts';

/** An intent is dated by the start of its call, and nodes that share a database each have a clock. */
export const TOLERANCE_MS = 60_000;

/** Notices entries that are dated before what precedes them. */
export class ClockCheck {
  #latest = '';
  #count = 0;
  #first: Backwards | undefined;

  get backwards(): { count: number; first: Backwards | undefined } {
    return { count: this.#count, first: this.#first };
  }

  /** Whether entries from this time on need no look each; if so, `to` is the latest of them. */
  skip(from: string, to: string): boolean {
    if (from < this.#latest && Date.parse(this.#latest) - Date.parse(from) > TOLERANCE_MS) return false;
    if (to > this.#latest) this.#latest = to;
    return true;
  }

  take(seq: number, { at }: Entry): void {
    // Times are written in one form, which sorts as text.
    if (at >= this.#latest) {
      this.#latest = at;
      return;
    }
    if (Date.parse(this.#latest) - Date.parse(at) <= TOLERANCE_MS) return;
    this.#count += 1;
    this.#first ??= { seq, at, after: this.#latest };
  }
}
