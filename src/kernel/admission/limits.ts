import { sql, type Transaction } from 'kysely';
import type { Engine } from '../database.ts';
import type { Limit } from '../policy/index.ts';
import { runStatement, statement } from '../statements.ts';
import type { Tables } from '../tables.ts';

export class LimitReached extends Error {
  readonly limit: Limit;
  readonly resetAt: Date;

  constructor(limit: Limit, resetAt: Date) {
    super(`The limit ${limit.key} is reached.`);
    this.limit = limit;
    this.resetAt = resetAt;
  }
}

/** Windows are aligned to the epoch, so that every process and node counts in the same one. */
export const windowStart = (limit: Pick<Limit, 'periodSeconds'>, now: Date): number =>
  Math.floor(now.getTime() / 1000 / limit.periodSeconds) * limit.periodSeconds;

const COUNT = statement(
  `insert into counters (key, window_start, used) values (?, ?, 1)
  on conflict (key, window_start) do update set used = counters.used + 1 where counters.used < ?`,
);

/** Counts the call in every limit at once; one that is full throws and the transaction takes all counts back. */
export async function countLimits(
  trx: Transaction<Tables>,
  engine: Engine,
  limits: readonly Limit[],
  now: Date,
): Promise<void> {
  for (const limit of inOrder(limits)) {
    const start = windowStart(limit, now);
    const counted =
      limit.max > 0 &&
      (await runStatement(trx, engine, COUNT, [limit.key, start, limit.max])).numAffectedRows;
    if (!counted) throw new LimitReached(limit, new Date((start + limit.periodSeconds) * 1000));
  }
}

/** One order for all processes, so that two transactions never wait for each other's counter. */
const inOrder = (limits: readonly Limit[]): readonly Limit[] =>
  limits.length < 2 ? limits : [...limits].sort((a, b) => (a.key < b.key ? -1 : 1));

/** Gives the count back for a call that certainly changed nothing. */
export async function refundLimits(
  trx: Transaction<Tables>,
  limits: readonly Limit[],
  startedAt: Date,
): Promise<void> {
  for (const limit of inOrder(limits)) {
    await trx
      .updateTable('counters')
      .set({ used: sql`used - 1` })
      .where('key', '=', limit.key)
      .where('window_start', '=', windowStart(limit, startedAt))
      .where('used', '>', 0)
      .execute();
  }
}
