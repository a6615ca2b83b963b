import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tables } from '../../src/kernel/store/tables.ts';
import { openWebWorld, type WebWorld } from '../../src/web/api/api.fixture.ts';
import { ENGINES, freshPostgres } from '../support/engines.ts';

const CONFIG = 'toolkits = ["ledger"]\n[mcp_policy]\nrequire_approval_for = ["ledger_write"]\n';

/** The tables that pages read row by row, and what names a row. */
const KEYS = {
  approvals: 'id',
  approval_previews: 'approval_id',
  calls: 'call_id',
  agents: 'name',
  audit_payloads: 'hash',
  audit_checkpoints: 'size',
} as const satisfies Partial<Record<keyof Tables, string>>;
type Table = keyof typeof KEYS;
type Row = Record<string, string | number | null>;

/** What a person opens: none of it may fail because of one row. */
const LISTS = [
  '/inbox?brief=1&facets=1',
  '/inbox?state=all&group=agent',
  '/notices?after=0',
  '/activity',
  '/activity?text=waits',
  '/agents',
  '/agents/overview',
  '/policy/recommendations',
];

describe.each(ENGINES)('a damaged row on %s', (engine) => {
  let world: WebWorld;
  const pages: { readonly path: string; readonly about: readonly unknown[] }[] = [];
  beforeAll(async () => {
    const storage = engine === 'postgres' ? `[storage]\nurl = "${await freshPostgres()}"\n` : '';
    world = await openWebWorld({ config: `${CONFIG}${storage}` });
    const { kernel } = world.app;
    await world.call('ledger_read', {});
    await world.send('POST', `/inbox/${await world.ask('done')}/approve`, {});
    for (const { key } of await world.holds.list(world.app.person))
      await world.send('POST', `/holds/${key}/run`);
    await world.send('POST', `/inbox/${await world.ask('rejected')}/reject`, { reason: 'no' });
    await world.ask('waits');
    await kernel.agents.add('robin', world.app.person);
    await kernel.agents.add('wren', world.app.person);
    await kernel.agents.revoke('wren', world.app.person);
    for (const { callId, approvalId } of await kernel.telemetry.calls({})) {
      const about = approvalId === undefined ? [callId] : [callId, approvalId];
      pages.push({ path: `/activity/${callId}`, about }, { path: `/activity/${callId}/story`, about });
      if (approvalId !== undefined) pages.push({ path: `/inbox/${approvalId}`, about: [approvalId] });
    }
    for (const path of [...LISTS, ...pages.map((page) => page.path)])
      expect((await world.get(path)).status, path).toBe(200);
  }, 60_000);
  afterAll(() => world.close());

  const db = () => world.app.database.db;
  const rowsOf = async (table: Table): Promise<Row[]> =>
    (await sql<Row>`select * from ${sql.table(table)} order by ${sql.ref(KEYS[table])}`.execute(db())).rows;
  const notUtf8 = sql<string>`cast(x'61ff62' as text)`;
  const notJson = sql<string>`'{a'`;
  const damages = engine === 'sqlite' ? [notJson, notUtf8] : [notJson];
  const set = (table: Table, column: string, value: unknown, key: unknown) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value} where ${sql.ref(KEYS[table])} = ${key}`.execute(
      db(),
    );

  async function whileDamaged(
    table: Table,
    row: Row,
    column: string,
    damage: typeof notJson,
    work: () => Promise<void>,
  ): Promise<void> {
    const key = row[KEYS[table]];
    try {
      await set(table, column, damage, key);
    } catch (error) {
      if (/foreign key|unique/i.test(String(error))) return;
      throw error;
    }
    try {
      await work();
    } finally {
      await set(table, column, row[column], column === KEYS[table] ? damage : key);
    }
  }

  /** Every column on SQLite; on PostgreSQL, where each try is slower, those that are read as JSON, a time or a principal. */
  const isTried = (column: string): boolean =>
    engine === 'sqlite' || /(_at|_by|args|binding|requester|risks|context|outcome|body|note)$/.test(column);

  /** Each column with a row that has text there; the newest, because lists begin with it. */
  const sampleOf = (rows: readonly Row[]): Map<string, Row> =>
    new Map(
      rows.flatMap((row) =>
        Object.keys(row).flatMap((column) =>
          typeof row[column] === 'string' && isTried(column) ? [[column, row] as const] : [],
        ),
      ),
    );

  const pagesAbout = (table: Table, row: Row): string[] => {
    const found = pages.filter(
      ({ about }) =>
        table === 'audit_checkpoints' || about.includes(row[KEYS[table]]) || about.includes(row.call_id),
    );
    return [...new Set(found.map(({ path }) => path))];
  };

  const statusView = async (): Promise<void> => {
    const { approvals, telemetry } = world.app.kernel;
    expect(await approvals.page({ states: ['pending'], order: 'oldest', limit: 5, fresh: true })).toEqual(
      expect.anything(),
    );
    for (const { at } of await telemetry.calls({ limit: 50 })) at.toISOString();
  };

  it.each(Object.keys(KEYS) as Table[])(
    'of %s leaves every list readable, and no page fails without saying why',
    async (table) => {
      const failed: string[] = [];
      for (const [column, row] of sampleOf(await rowsOf(table)))
        for (const [index, damage] of damages.entries())
          await whileDamaged(table, row, column, damage, async () => {
            const where = `${column} of ${row[KEYS[table]]}, damage ${index}`;
            for (const path of LISTS)
              if ((await world.get(path)).status !== 200) failed.push(`${where}: ${path}`);
            for (const path of index === 0 ? pagesAbout(table, row) : [])
              if ((await world.get(path)).status >= 500) failed.push(`${where}: ${path}`);
            await statusView().catch((error) => failed.push(`${where}: ${error}`));
          });
      expect(failed).toEqual([]);
    },
    120_000,
  );
});
