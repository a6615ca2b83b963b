import type { Outcome } from '../contract/outcome.ts';
import type { CallState } from './call/call.ts';
import { codeOf } from './call/evidence.ts';
import type { Database } from './store/database.ts';

/** Upper bounds in seconds: a read takes about a millisecond, a remote service seconds. */
export const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120] as const;

export interface CallCount {
  readonly tool: string;
  readonly effect: string;
  readonly status: string;
  readonly code: string;
  count: number;
}

export interface DurationCount {
  readonly effect: string;
  /** How many calls took at most as long as each bucket; not cumulative. The last is for all longer ones. */
  readonly buckets: number[];
  count: number;
  seconds: number;
}

/** What this process has done since it started. Tools, effects and codes only: never arguments, never names of clients. */
export class CallMetrics {
  readonly #calls = new Map<string, CallCount>();
  readonly #decisions = new Map<string, number>();
  readonly #durations = new Map<string, DurationCount>();

  record(call: CallState, outcome: Outcome, elapsedMs: number): void {
    const { name: tool, effect } = call.request.bound.tool;
    const { status } = outcome;
    const code = codeOf(outcome) ?? '';
    const key = `${tool}|${status}|${code}`;
    const counted = this.#calls.get(key);
    if (counted) counted.count += 1;
    else this.#calls.set(key, { tool, effect, status, code, count: 1 });
    const action = call.decision?.action ?? 'none';
    this.#decisions.set(action, (this.#decisions.get(action) ?? 0) + 1);
    this.#time(effect, elapsedMs / 1000);
  }

  get calls(): readonly CallCount[] {
    return [...this.#calls.values()];
  }

  /** Policy's action → calls. */
  get decisions(): ReadonlyMap<string, number> {
    return this.#decisions;
  }

  get durations(): readonly DurationCount[] {
    return [...this.#durations.values()];
  }

  #time(effect: string, seconds: number): void {
    const known = this.#durations.get(effect);
    const timed = known ?? {
      effect,
      buckets: Array<number>(BUCKETS.length + 1).fill(0),
      count: 0,
      seconds: 0,
    };
    if (!known) this.#durations.set(effect, timed);
    const found = BUCKETS.findIndex((bound) => seconds <= bound);
    const at = found === -1 ? BUCKETS.length : found;
    timed.buckets[at] = (timed.buckets[at] ?? 0) + 1;
    timed.count += 1;
    timed.seconds += seconds;
  }
}

export interface QueueState {
  readonly pending: number;
  /** Age of the oldest pending approval; 0 when none is pending. */
  readonly oldestSeconds: number;
}

/** How long the queue for people is, in the whole store. */
export async function queueState({ db }: Database, now: Date): Promise<QueueState> {
  const row = await db
    .selectFrom('approvals')
    .select((eb) => [eb.fn.countAll<number>().as('pending'), eb.fn.min('created_at').as('oldest')])
    .where('state', '=', 'pending')
    .executeTakeFirst();
  const oldest = row?.oldest;
  const age = oldest ? Math.max(0, now.getTime() - Date.parse(oldest)) / 1000 : 0;
  return { pending: Number(row?.pending ?? 0), oldestSeconds: age };
}
