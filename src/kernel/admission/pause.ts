import type { Kysely, Transaction } from 'kysely';
import type { Engine } from '../database.ts';
import { OVERRIDES_KEY, stampOf } from '../policy-in-force.ts';
import { runStatement, statement } from '../statements.ts';
import type { Tables } from '../tables.ts';

const KEY = 'paused';

interface Orders {
  readonly paused: string | null;
  readonly overrides: string | null;
}

const ORDERS = statement(
  `select max(case when key = ? then value end) as paused, max(case when key = ? then value end) as overrides
  from settings where key in (?, ?)`,
  { single: true },
);

/** Read inside the admission transaction, so that a pause or an edited rule holds for every process at once. */
export async function standingOrders(
  trx: Transaction<Tables>,
  engine: Engine,
): Promise<{ paused: boolean; policyStamp: string }> {
  const keys = [KEY, OVERRIDES_KEY];
  const { rows } = await runStatement<Orders>(trx, engine, ORDERS, [...keys, ...keys]);
  const [orders] = rows;
  return { paused: orders?.paused != null, policyStamp: stampOf(orders?.overrides ?? undefined) };
}

export async function isPaused(db: Kysely<Tables>): Promise<boolean> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', KEY).executeTakeFirst();
  return row !== undefined;
}

export async function setPaused(db: Kysely<Tables>, paused: boolean, who: string): Promise<void> {
  if (!paused) {
    await db.deleteFrom('settings').where('key', '=', KEY).execute();
    return;
  }
  await db
    .insertInto('settings')
    .values({ key: KEY, value: who })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: who }))
    .execute();
}
