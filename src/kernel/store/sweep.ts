import { sql } from 'kysely';
import { type Clocks, earlierOf } from './clock.ts';
import type { Database } from './database.ts';

const BATCH = 1_000;
const DAY_MS = 86_400_000;
/** A count is given back within the deadline of its call; by then no call of such a window runs. */
const COUNTER_DAYS = 2;
/** Longer than any sensible window. */
const LONGEST_DAYS = 366;

export interface Swept {
  readonly keys: number;
  readonly counters: number;
  readonly sessions: number;
}

/** Deletes what has expired and answers no one: idempotency keys, counters of past windows, sign-ins and leases. */
export async function sweepExpired({ db }: Database, clocks: Clocks): Promise<Swept> {
  const now = earlierOf(clocks);
  const at = now.toISOString();
  // Not beyond the log: `audit verify` accepts that a key is gone once an entry is newer than its end.
  const newest = db.selectFrom('audit_log').select('at').orderBy('seq', 'desc').limit(1);
  const keys = await inBatches(async () => {
    // A key with an unknown outcome stays: the call it guards must not be sent again.
    const due = db
      .selectFrom('idempotency')
      .select('scope_key')
      .where('expires_at', '<', at)
      .where('expires_at', '<', newest)
      .where('state', '=', 'ok')
      .limit(BATCH);
    return (await db.deleteFrom('idempotency').where('scope_key', 'in', due).executeTakeFirst())
      .numDeletedRows;
  });
  // The newest window of each counter stays: whether it still counts only its limit knows.
  const { numAffectedRows: counters = 0n } = await sql`
    delete from counters where window_start < ${secondsBefore(now, COUNTER_DAYS)} and (
      window_start < ${secondsBefore(now, LONGEST_DAYS)} or exists (
        select 1 from counters as newer
        where newer.key = counters.key and newer.window_start > counters.window_start))`.execute(db);
  const { numDeletedRows: sessions } = await db
    .deleteFrom('web_sessions')
    .where('expires_at', '<', at)
    .executeTakeFirst();
  await db
    .deleteFrom('leases')
    .where('expires_at', '<', new Date(now.getTime() - DAY_MS).toISOString())
    .execute();
  return { keys, counters: Number(counters), sessions: Number(sessions) };
}

const secondsBefore = (now: Date, days: number): number => Math.floor((now.getTime() - days * DAY_MS) / 1000);

/** In small steps, so that a long absence does not hold the write lock for long. */
async function inBatches(remove: () => Promise<bigint>): Promise<number> {
  for (let total = 0; ; ) {
    const removed = Number(await remove());
    total += removed;
    if (removed < BATCH) return total;
  }
}
