import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from './database.ts';

const KEY = 'request_state_secret';

/** Made from a secret in the store, so that any process on it has the same and nobody else. */
export async function storeKey({ db }: Database, purpose: string): Promise<Buffer> {
  const stored = db.selectFrom('settings').select('value').where('key', '=', KEY);
  let row = await stored.executeTakeFirst();
  // Looked for first, because writing at every start would wait for whoever writes at the time.
  if (!row) {
    await db
      .insertInto('settings')
      .values({ key: KEY, value: randomBytes(32).toString('hex') })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
    row = await stored.executeTakeFirstOrThrow();
  }
  return createHmac('sha256', Buffer.from(row.value, 'hex')).update(purpose).digest();
}

/** Answers a challenge as only a process on this store can: whoever heard an earlier answer knows no other. */
export async function storeProof(database: Database): Promise<(challenge: string) => string> {
  const key = await storeKey(database, 'countersign store proof');
  return (challenge) => createHmac('sha256', key).update(challenge).digest('hex');
}
