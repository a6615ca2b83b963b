import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

/** A window, and the changes that began and ended in it; a refund of another change may have taken one of them away. */
interface Span {
  readonly seq: number;
  readonly endsAt: number;
  least: number;
  most: number;
}

/** A change that lies in one of several windows. */
interface Crossing {
  readonly seq: number;
  readonly period: number;
  readonly first: number;
  readonly last: number;
}

interface Tally {
  /** By key and start of the window. */
  readonly spans: Map<string, Span>;
  /** By key. */
  readonly crossings: Map<string, Crossing[]>;
}

interface Counted {
  readonly seq: number;
  readonly at: number;
  readonly limits: readonly (readonly [key: string, periodSeconds: number])[];
}

/**
 * The counters of limits against the changes that the log says began. Each intent names the limits it counted in; its
 * count lies in the window of its start or, when a window ended before the call did, in a later one up to its end.
 */
export class CounterCheck implements StateCheck {
  readonly #open = new Map<string, Counted>();
  readonly #ended: Tally = { spans: new Map(), crossings: new Map() };
  /** Entries of older versions name no limits: before this time nothing can be said. */
  #unknownUntil = Number.NEGATIVE_INFINITY;

  take(seq: number, entry: Entry): void {
    const { kind, call = '', at, extra } = entry;
    if (kind === 'intent') {
      const limits = limitsOf(extra?.limits);
      if (limits) this.#open.set(call, { seq, at: Date.parse(at), limits });
      else this.#unknownUntil = Math.max(this.#unknownUntil, Date.parse(at));
    } else if (kind === 'outcome') {
      const counted = this.#open.get(call);
      this.#open.delete(call);
      if (counted) count(this.#ended, counted, Date.parse(at), extra?.refunded === true);
    }
  }

  async compare({ db }: Database): Promise<RowFault[]> {
    const now = Date.now();
    const tally = copyOf(this.#ended);
    for (const counted of this.#open.values()) count(tally, counted, now, false);
    const { spans } = tally;
    const faults: RowFault[] = [];
    const rows = await db.selectFrom('counters').selectAll().execute();
    for (const { key, window_start, used } of rows) {
      const name = `${key}|${window_start}`;
      const span = spans.get(name);
      spans.delete(name);
      if (window_start * 1000 <= this.#unknownUntil) continue;
      const possible = (tally.crossings.get(key) ?? []).filter((one) => mayLieIn(one, window_start));
      const least = span?.least ?? 0;
      const most = (span?.most ?? 0) + possible.length;
      if (used >= least && used <= most) continue;
      const wanted = least === most ? changesOf(most) : `${least} to ${most} changes`;
      const start = new Date(window_start * 1000).toISOString();
      const message = `The counter ${key} from ${start} says ${used}, but the log has ${wanted}.`;
      faults.push({ seq: (span ?? possible[0])?.seq, message });
    }
    // A window that is over may have been swept; one that still counts may not.
    for (const [name, { seq, endsAt, least }] of spans) {
      if (least === 0 || endsAt <= now) continue;
      faults.push({
        seq,
        message: `The counter ${name.split('|')[0]} is missing, but the log has ${changesOf(least)}.`,
      });
    }
    return faults;
  }
}

const changesOf = (count: number): string => `${count} ${count === 1 ? 'change' : 'changes'}`;

const copyOf = ({ spans, crossings }: Tally): Tally => ({
  spans: new Map([...spans].map(([name, span]) => [name, { ...span }])),
  crossings: new Map([...crossings].map(([key, list]) => [key, [...list]])),
});

const mayLieIn = ({ first, last, period }: Crossing, window: number): boolean =>
  window >= first && window <= last && window % period === 0;

function count(
  { spans, crossings }: Tally,
  { seq, at, limits }: Counted,
  end: number,
  refunded: boolean,
): void {
  for (const [key, period] of limits) {
    const windowOf = (ms: number) => Math.floor(ms / 1000 / period) * period;
    const begun = windowOf(at);
    const ended = windowOf(end);
    if (begun === ended) {
      const name = `${key}|${begun}`;
      const span = spans.get(name) ?? { seq, endsAt: (begun + period) * 1000, least: 0, most: 0 };
      spans.set(name, span);
      if (refunded) continue;
      span.least += 1;
      span.most += 1;
      continue;
    }
    const crossing = { seq, period, first: Math.min(begun, ended), last: Math.max(begun, ended) };
    const known = crossings.get(key);
    if (known) known.push(crossing);
    else crossings.set(key, [crossing]);
    if (!refunded) continue;
    for (const start of [begun, ended]) {
      const span = spans.get(`${key}|${start}`);
      if (span) span.least = Math.max(0, span.least - 1);
    }
  }
}

function limitsOf(value: unknown): Counted['limits'] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).filter(
    (limit): limit is [string, number] => typeof limit[1] === 'number' && limit[1] > 0,
  );
}
