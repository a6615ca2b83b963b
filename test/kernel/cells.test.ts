import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerifyReport } from '../../src/kernel/log/verify/report.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Tables } from '../../src/kernel/store/tables.ts';
import { fillStore } from '../support/busy-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import type { TestKernel } from '../support/kernel.ts';

type Cell = string | number | null;
type Row = Record<string, Cell>;

/**
 * Cells that `audit verify` need not name, and why. Every other cell of every table of the kernel is named when it is
 * changed. `*` stands for all columns of a table.
 */
const WITHOUT_MEANING: Partial<Record<keyof Tables, Readonly<Record<string, string>>>> = {
  calls: {
    category: 'groups calls on pages; no entry states it, and the tool itself does',
    latency_ms: 'a measurement; only that it is a duration is checked',
  },
  idempotency: { '*': 'answers repeated calls; what was answered is in the entry that names replayOf' },
  leases: { '*': 'says which process does background work now' },
  events: { '*': 'tells open pages to read again' },
  listeners: { '*': 'says which pages are open' },
  web_sessions: { '*': 'sign-in of a browser, checked by hash when it is used' },
  call_stats: { '*': 'figures for pages, made from calls' },
  call_stats_head: { '*': 'says which calls are in those figures' },
  settings: {
    request_state_secret: 'signs the state of a request that waits for an answer; its own signature fails',
  },
  approvals: {
    requester_label: 'how a client calls itself, never trusted',
    reason: 'the words of the agent; no entry states them',
    summary: 'made from tool and arguments, which are checked against the digest',
    gist: 'made from tool and arguments, which are checked against the digest',
    signers: 'for groups and filters; how many must sign is worked out again when it is shown and admitted',
    environment: 'where the tool acts, for filters; the presentation says it again when it is shown',
    risks: 'made from tool and arguments, which are checked against the digest',
    context: 'notes of the toolkit for itself',
    group_id: 'groups rows in the inbox',
    expires_at: 'an expired approval cannot be used; one that lives longer was approved by the same person',
    decision_reason: 'the words of the person; no entry states them',
    feedback: 'the words of the person; no entry states them',
    outcome: 'a copy for the inbox; the proven result is in audit_payloads',
    version: 'keeps two decisions apart while they happen',
  },
  approval_edits: { old_args: 'what was edited away; its digest is checked' },
  artifacts: {
    media_type: 'says how to show a file whose bytes are checked',
    created_at: 'when bytes were first stored; the entry has the time of the call',
  },
};

const TABLES: readonly (keyof Tables)[] = [
  'calls',
  'idempotency',
  'counters',
  'leases',
  'settings',
  'agents',
  'approvals',
  'approval_edits',
  'audit_log',
  'audit_nodes',
  'audit_head',
  'audit_checkpoints',
  'audit_payloads',
  'artifacts',
  'call_artifacts',
  'events',
  'listeners',
  'web_sessions',
  'call_stats',
  'call_stats_head',
];

function changed(value: Cell): Cell {
  if (value === null) return 'x';
  if (typeof value === 'number') return value + 1000;
  if (value === '') return 'x';
  const last = value.charCodeAt(value.length - 1);
  return value.slice(0, -1) + String.fromCharCode(last === 0x39 ? 0x38 : last === 0x66 ? 0x65 : last + 1);
}

const reasonFor = (table: keyof Tables, column: string, row: Row): string | undefined => {
  const reasons = WITHOUT_MEANING[table];
  return reasons?.['*'] ?? reasons?.[table === 'settings' ? String(row.key) : column];
};

describe.each(ENGINES)('a changed cell on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  const original = new Map<keyof Tables, Row[]>();

  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await fillStore(store.database, store.dataDir);
    for (const table of TABLES) {
      const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(store.database.db);
      original.set(table, rows);
    }
    expect((await verify()).problems).toEqual([]);
  }, 120_000);
  afterAll(() => store.close());

  const verify = (): Promise<VerifyReport> =>
    verifyLog(store.database, { artifacts: test.kernel.artifacts, rows: true });
  const same = engine === 'sqlite' ? sql`is` : sql`is not distinct from`;
  const isRow = (row: Row) =>
    sql.join(
      Object.entries(row).map(([name, value]) => sql`${sql.ref(name)} ${same} ${value}`),
      sql` and `,
    );
  const set = (table: keyof Tables, from: Row, column: string, value: unknown) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value} where ${isRow(from)}`.execute(
      store.database.db,
    );

  async function whileChanged(
    table: keyof Tables,
    row: Row,
    column: string,
    value: unknown,
  ): Promise<VerifyReport | undefined> {
    try {
      await set(table, row, column, value);
    } catch (error) {
      // The key of another row, or not what the column holds: no database would have it.
      if (/unique|invalid input syntax|out of range|datatype mismatch|foreign key/i.test(String(error)))
        return undefined;
      throw error;
    }
    try {
      return await verify();
    } finally {
      const { [column]: _old, ...rest } = row;
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${row[column] ?? null} where ${isRow(rest)}`.execute(
        store.database.db,
      );
    }
  }

  /** Few rows of each kind are enough where every try is slow; the first, the last and some between. */
  const sample = (rows: readonly Row[]): Row[] => {
    const most = engine === 'sqlite' ? 6 : 2;
    const step = Math.max(1, Math.floor(rows.length / most));
    return rows.filter((_, index) => index % step === 0 || index === rows.length - 1);
  };
  const rowsOf = (table: keyof Tables) => original.get(table) ?? [];

  it.each(TABLES)(
    'of %s is named by verify, or is listed with the reason why not',
    async (table) => {
      const unnoticed: string[] = [];
      for (const row of sample(rowsOf(table))) {
        for (const column of Object.keys(row)) {
          const report = await whileChanged(table, row, column, changed(row[column] ?? null));
          if (report?.ok && reasonFor(table, column, row) === undefined)
            unnoticed.push(`${column} of ${JSON.stringify(row)}`);
        }
      }
      expect(unnoticed).toEqual([]);
      expect((await verify()).problems).toEqual([]);
    },
    300_000,
  );

  it.each(['calls', 'approvals', 'counters', 'agents', 'audit_log', 'audit_payloads'] as const)(
    'that takes a whole row out of %s is named',
    async (table) => {
      for (const row of sample(rowsOf(table))) {
        await sql`delete from ${sql.table(table)} where ${isRow(row)}`.execute(store.database.db);
        const report = await verify();
        const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
        await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(
          store.database.db,
        );
        expect(report.ok, `${table} ${JSON.stringify(row)}`).toBe(false);
      }
      expect((await verify()).problems).toEqual([]);
    },
    120_000,
  );

  it('that invents a row is named', async () => {
    const invented = {
      calls: { call_id: '01900000-0000-7000-8000-000000000001' },
      approvals: { uuid: 'invented', id: 4711 },
      counters: { key: 'invented', window_start: 1_800_000_000 },
      agents: { name: 'intruder', token_hash: 'x' },
    } as const;
    for (const [table, values] of Object.entries(invented) as [keyof Tables, Row][]) {
      const row = { ...rowsOf(table)[0], ...values };
      const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
      await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(
        store.database.db,
      );
      const report = await verify();
      await sql`delete from ${sql.table(table)} where ${isRow(row)}`.execute(store.database.db);
      expect(report.problems.map(({ message }) => message).join(), table).toContain(
        String(Object.values(values)[0]),
      );
    }
  });

  // PostgreSQL itself refuses text that is not UTF-8.
  if (engine === 'sqlite')
    it('that is no text at all ends no process, and is named', async () => {
      const unnoticed: string[] = [];
      for (const table of TABLES) {
        for (const row of sample(rowsOf(table)).slice(0, 2)) {
          for (const [column, value] of Object.entries(row)) {
            if (typeof value !== 'string') continue;
            const bytes = sql`cast(x'61ff62c3' as text)`;
            const report = await whileChanged(table, row, column, bytes);
            if (report?.ok && reasonFor(table, column, row) === undefined)
              unnoticed.push(`${table}.${column} of ${JSON.stringify(row)}`);
          }
        }
      }
      expect(unnoticed).toEqual([]);
      const { kernel } = test;
      await sql`update approvals set summary = cast(x'61ff62' as text), requester_label = cast(x'c3' as text)`.execute(
        store.database.db,
      );
      await sql`update calls set client = cast(x'ff' as text)`.execute(store.database.db);
      expect((await kernel.approvals.list({})).map(({ summary }) => summary)).toContain('a\u{fffd}b');
      expect((await kernel.telemetry.calls({}))[0]?.client).toBe('\u{fffd}');
    }, 300_000);
});
