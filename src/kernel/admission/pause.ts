import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

const KEY = 'paused';

/** Read inside the admission transaction, so that a pause holds for every process from its commit on. */
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
