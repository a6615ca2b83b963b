// Asks X who is signed in with a token that needs refreshing, and prints the answer. Started several times in parallel.

import type { Kysely } from 'kysely';
import { openStorage } from '../../../src/app/open-storage.ts';
import { createLeases } from '../../../src/kernel/store/database.ts';
import { connectX } from '../../../src/toolkits/x/client/connect.ts';
import type { XClientTables } from '../../../src/toolkits/x/client/store.ts';

const [dataDir = '', storePath = '', origin = '', now = ''] = process.argv.slice(2);
const database = await openStorage({ url: storePath });
const silent = () => {};
const api = await connectX({
  settings: { provider_backend: 'x_api', api_base_url: origin },
  dataDir,
  db: database.db as unknown as Kysely<XClientTables>,
  leases: createLeases(database, () => new Date()),
  log: { debug: silent, info: silent, warn: silent, error: silent },
  now: () => new Date(now),
});
process.stdout.write('ready\n');
await new Promise<void>((resolve) => process.stdin.once('data', () => resolve()));
try {
  const me = await api.me();
  process.stdout.write(`me ${me.username}\n`);
} catch (error) {
  process.stdout.write(`failed ${String(error)}\n`);
}
await database.close();
process.exit(0);
