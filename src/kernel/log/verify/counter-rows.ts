import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import type { RowFault, StateCheck } from './state-rows.ts';

interface Span {
  readonly seq: number;
  readonly endsAt: number;
  least: number;
  most: number;
}

interface Counted {
  readonly seq: number;
  readonly at: number;
  readonly limits: readonly (readonly [key: string, periodSeconds: number])[];
}

/**
 * The counters of limits against the changes that the log says began. Each intent names the limits it counted in; its
 * count lies in the window of its start or, when a window ended before the call did, in a later one.
 */
export class CounterCheck implements StateCheck {
  readonly #open = new Map<string, Counted>();
  readonly #spans = new Map<string, Span>();
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
      if (counted) count(this.#spans, counted, Date.parse(at), extra?.refunded === true);
    }
  }

  async compare({ db }: Database): Promise<RowFault[]> {
    const now = Date.now();
    const spans = new Map([...this.#spans].map(([key, span]) => [key, { ...span }]));
    for (const counted of this.#open.values()) count(spans, counted, now, false);
    const faults: RowFault[] = [];
    const rows = await db.selectFrom('counters').selectAll().execute();
    for (const { key, window_start, used } of rows) {
      const name = `${key}|${window_start}`;
      const span = spans.get(name);
      spans.delete(name);
      if (window_start * 1000 <= this.#unknownUntil) continue;
      const { seq, least, most } = span ?? { seq: undefined, least: 0, most: 0 };
      if (used >= least && used <= most) continue;
      const wanted = least === most ? String(most) : `${least} to ${most}`;
      const start = new Date(window_start * 1000).toISOString();
      const message = `The counter ${key} from ${start} says ${used}, the log has ${wanted} changes.`;
      faults.push({ seq, message });
    }
    // A window that is over may have been swept; one that still counts may not.
    for (const [name, { seq, endsAt, least }] of spans) {
      if (least === 0 || endsAt <= now) continue;
      faults.push({
        seq,
        message: `The counter ${name.split('|')[0]} is missing, the log has ${least} changes.`,
      });
    }
    return faults;
  }
}

function count(spans: Map<string, Span>, { seq, at, limits }: Counted, end: number, refunded: boolean): void {
  for (const [key, period] of limits) {
    const first = Math.floor(at / 1000 / period) * period;
    const last = Math.floor(end / 1000 / period) * period;
    for (const start of new Set([first, last])) {
      const name = `${key}|${start}`;
      const span = spans.get(name) ?? { seq, endsAt: (start + period) * 1000, least: 0, most: 0 };
      spans.set(name, span);
      if (first === last && refunded) continue;
      span.most += 1;
      if (first === last) span.least += 1;
      else if (refunded) span.least = Math.max(0, span.least - 1);
    }
  }
}

function limitsOf(value: unknown): Counted['limits'] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).filter(
    (limit): limit is [string, number] => typeof limit[1] === 'number' && limit[1] > 0,
  );
}
