import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { App } from '../app.ts';
import { storeProof } from '../kernel/store-key.ts';

const KEY = 'server_url';
const CONFIG_KEY = 'server_config';

/** Where `countersign up` really listens, as a flag may have said another port, and the configuration it has read. */
export async function rememberServer({ database, config }: App, url: string): Promise<void> {
  const rows = [
    { key: KEY, value: url },
    { key: CONFIG_KEY, value: `${hostname()} ${fingerprint(config.path)}` },
  ];
  for (const row of rows)
    await database.db
      .insertInto('settings')
      .values(row)
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value }))
      .execute();
}

/** A configuration is read at start. Undefined unless a server runs here that has read another one than this command. */
export async function outdatedServer(app: App): Promise<string | undefined> {
  const { database, config } = app;
  const row = await database.db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', CONFIG_KEY)
    .executeTakeFirst();
  // Machines that share a PostgreSQL store have a configuration each.
  const [host, read] = row?.value.split(' ') ?? [];
  if (host !== hostname() || read === fingerprint(config.path)) return undefined;
  const url = await runningServer(app);
  if (url === undefined) return undefined;
  return `The server at ${url} was started with another configuration than ${config.path} has now; stop and start it to apply this one.`;
}

const fingerprint = (path: string): string =>
  existsSync(path) ? hash('sha256', readFileSync(path)) : 'defaults';

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
