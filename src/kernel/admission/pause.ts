import type { Kysely } from 'kysely';
import type { Engine } from '../database.ts';
import { OVERRIDES_KEY, stampOf } from '../policy-in-force.ts';
import { runStatement, statement } from '../statements.ts';
import type { SettingsTable, Tables } from '../tables.ts';

const KEY = 'paused';
const ORDERS = statement('select key, value from settings where key in (?, ?)');

/** Read inside the admission transaction, so that a pause or an edited rule holds for every process at once. */
export async function standingOrders(
  db: Kysely<Tables>,
  engine: Engine,
): Promise<{ paused: boolean; policyStamp: string }> {
  const { rows } = await runStatement<SettingsTable>(db, engine, ORDERS, [KEY, OVERRIDES_KEY]);
  return {
    paused: rows.some(({ key }) => key === KEY),
    policyStamp: stampOf(rows.find(({ key }) => key === OVERRIDES_KEY)?.value),
  };
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
