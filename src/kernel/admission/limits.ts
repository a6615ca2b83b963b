import { sql, type Transaction } from 'kysely';
import type { Limit } from '../policy/index.ts';
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

/** Counts the call in every limit at once; one that is full throws and the transaction takes all counts back. */
export async function countLimits(
  trx: Transaction<Tables>,
  limits: readonly Limit[],
  now: Date,
): Promise<void> {
  // One order for all processes, so that two transactions never wait for each other's counter.
  for (const limit of [...limits].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const start = windowStart(limit, now);
    const full = new LimitReached(limit, new Date((start + limit.periodSeconds) * 1000));
    if (limit.max <= 0) throw full;
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('counters')
      .values({ key: limit.key, window_start: start, used: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['key', 'window_start'])
          .doUpdateSet({ used: sql`counters.used + 1` })
          .where('counters.used', '<', limit.max),
      )
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) throw full;
  }
}

/** Gives the count back for a call that certainly changed nothing. */
export async function refundLimits(
  trx: Transaction<Tables>,
  limits: readonly Limit[],
  startedAt: Date,
): Promise<void> {
  for (const limit of [...limits].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    await trx
      .updateTable('counters')
      .set({ used: sql`used - 1` })
      .where('key', '=', limit.key)
      .where('window_start', '=', windowStart(limit, startedAt))
      .where('used', '>', 0)
      .execute();
  }
}
