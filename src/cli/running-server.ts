import { randomBytes } from 'node:crypto';
import type { App } from '../app.ts';
import type { Database } from '../kernel/database.ts';
import { storeProof } from '../kernel/store-key.ts';

const KEY = 'server_url';

/** Where `countersign up` really listens: a flag may have said another port than the configuration. */
export async function rememberServer({ db }: Database, url: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ key: KEY, value: url })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: url }))
    .execute();
}

/** The address of a server on this store that answers now, or undefined. */
export async function runningServer({ database, config }: App): Promise<string | undefined> {
  const row = await database.db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', KEY)
    .executeTakeFirst();
  const configured = `http://${config.server.host}:${config.server.port}`;
  const prove = await storeProof(database);
  for (const url of new Set([row?.value ?? configured, configured]))
    if (await answers(url, prove)) return url;
  return undefined;
}

/** What answers at the usual address may well be the server of another data directory, or one that passes for ours. */
async function answers(url: string, prove: (challenge: string) => string): Promise<boolean> {
  const challenge = randomBytes(16).toString('hex');
  try {
    const response = await fetch(`${url}/?challenge=${challenge}`, {
      signal: AbortSignal.timeout(1000),
      headers: { accept: 'application/json' },
    });
    const info: unknown = await response.json();
    return typeof info === 'object' && info !== null && 'store' in info && info.store === prove(challenge);
  } catch {
    return false;
  }
}
