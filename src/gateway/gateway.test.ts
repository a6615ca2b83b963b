import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/engines.ts';
import { Gateway } from './gateway.ts';
import type { GatewayDb } from './store.ts';

describe('what a gateway has of its servers', () => {
  let store: TestStore;
  let db: GatewayDb;
  let gateway: Gateway;

  beforeEach(async () => {
    store = await openTestStore('sqlite');
    db = store.database.db as unknown as GatewayDb;
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const now = () => new Date('2026-11-01T12:00:00Z');
    gateway = await Gateway.open({ servers: {}, db, dataDir: store.dataDir, env: {}, log, now });
  });
  afterEach(() => store.close());

  const list = async (server: string): Promise<void> => {
    const at = '2026-11-01T12:00:00.000Z';
    const facts = { server, target: 't', era: '{}', offers: '{}', listed_at: at, restart_at: null };
    await db.insertInto('gateway_servers').values(facts).execute();
    const definition = { server, target: 't', tool: 'echo', hash: 'h', definition: '{}', effect: 'read' };
    const seen = { state: 'seen', seen_at: at, decided_at: null, decided_by: null };
    await db
      .insertInto('gateway_definitions')
      .values({ ...definition, ...seen })
      .execute();
  };
  const names = () => gateway.sources.map(({ id }) => id);
  const rename = (from: string, to: string) =>
    sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db as unknown as Kysely<unknown>);

  it('is read again after the database failed in the middle of reading it', async () => {
    await list('notes');
    await rename('gateway_servers', 'elsewhere');
    await expect(gateway.refresh()).rejects.toThrow('gateway_servers');
    await rename('elsewhere', 'gateway_servers');
    await gateway.refresh();
    expect(names()).toEqual(['gateway', 'notes']);
  });

  it('is the newest, however many readings are under way', async () => {
    await list('notes');
    const first = gateway.refresh();
    await list('files');
    await Promise.all([first, gateway.refresh(), gateway.refresh()]);
    expect(names()).toEqual(['gateway', 'files', 'notes']);
  });
});
