import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerifyReport } from '../../src/kernel/log/verify/report.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import type { Tables } from '../../src/kernel/store/tables.ts';
import { fillStore } from '../support/busy-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, PERSON, type TestKernel } from '../support/kernel.ts';

type Cell = string | number | null;
type Row = Record<string, Cell>;

type Reasons = Readonly<Record<string, string>>;

/**
 * Every table of the kernel, with the cells that `audit verify` need not name and why. Every other cell is named when it
 * is changed. `*` stands for all columns of a table.
 */
const WITHOUT_MEANING: Readonly<Record<keyof Tables, Reasons>> = {
  calls: {
    category: 'groups calls on pages; no entry states it, and the tool itself does',
    latency_ms: 'a measurement; only that it is a duration is checked',
  },
  idempotency: {
    created_at: 'read by no one',
  },
  counters: {},
  leases: { '*': 'says which process does background work now' },
  settings: {
    request_state_secret: 'signs the state of a request that waits for an answer; its own signature fails',
  },
  agents: {},
  approvals: {
    requester_label: 'how a client calls itself, never trusted',
    signers: 'for groups and filters; how many must sign is worked out again when it is shown and admitted',
    group_id: 'groups rows in the inbox',
    version: 'keeps two decisions apart while they happen',
  },
  approval_edits: { old_args: 'what was edited away; its digest is checked' },
  approval_previews: {},
  standing_approvals: { id: 'a number for people; entries and calls name the UUID' },
  audit_log: {},
  audit_nodes: {},
  audit_head: {},
  audit_checkpoints: {},
  audit_payloads: {},
  artifacts: {
    media_type: 'says how to show a file whose bytes are checked',
    created_at: 'when bytes were first stored; the entry has the time of the call',
  },
  call_artifacts: {},
  events: { '*': 'tells open pages to read again' },
  listeners: { '*': 'says which pages are open' },
  holds: { '*': 'shown to other servers; what runs is what the server that holds it remembers' },
  web_sessions: { '*': 'sign-in of a browser, checked by hash when it is used' },
  call_stats: { '*': 'figures for pages, made from calls' },
  call_stats_head: { '*': 'says which calls are in those figures' },
  call_words_head: { '*': 'says which calls can be found by their words' },
  passkey_requests: {
    '*': 'what a browser is to sign; the signature is over the statement and fails for another',
  },
  approval_signatures: {
    '*': 'says where signatures are in the log; each is verified there before the call runs',
  },
};

const TABLES = Object.keys(WITHOUT_MEANING) as (keyof Tables)[];

function changed(value: Cell): Cell {
  if (value === null) return 'x';
  if (typeof value === 'number') return value + 1000;
  if (value === '') return 'x';
  const last = value.charCodeAt(value.length - 1);
  return value.slice(0, -1) + String.fromCharCode(last === 0x39 ? 0x38 : last === 0x66 ? 0x65 : last + 1);
}

/**
 * Approvals with words of the person, one that came back and one of a read, a key whose call a person settled, standing
 * approvals, one of them used and one revoked, and signatures that are still awaited.
 */
async function fillMore({ db }: Database, { call, kernel, setPolicy }: TestKernel): Promise<void> {
  await kernel.setPaused(false, PERSON);
  await setPolicy({ require_approval_for: ['ledger_read', 'ledger_write'] } as never);
  const { approvals } = kernel;
  const asked = { tool: 'ledger_read', kind: 'permit', requester: AGENT, reason: 'please' } as const;
  for (const args of [{ fail: false }, { fail: true }]) {
    const { id } = await approvals.propose({ ...asked, args });
    await approvals.approve(id, PERSON, { note: 'Once' });
    expect((await call('ledger_read', args)).outcome.status).toBe(args.fail ? 'failed' : 'ok');
  }
  const unwanted = await approvals.propose({ ...asked, args: { echo: 'c' } });
  await approvals.reject(unwanted.id, PERSON, { reason: 'No', feedback: 'Read it yourself' });
  for (const key of ['settled', 'unknown']) {
    const lost = await call('ledger_write_blind', { text: key, fail: true }, { idempotencyKey: key });
    expect(lost.outcome.status).toBe('indeterminate');
    if (key === 'settled') await kernel.settle(lost.callId, true, PERSON);
  }
  const draft = {
    agent: 'agent:local',
    tool: 'ledger_write',
    predicates: [{ arg: 'text', op: 'starts_with' as const, text: 'note' }],
    until: new Date(Date.now() + 3_600_000).toISOString(),
    uses: 3,
  };
  await kernel.standing.add(draft, PERSON);
  expect((await call('ledger_write', { text: 'note' })).outcome.status).toBe('ok');
  const { id } = await kernel.standing.add(draft, PERSON);
  await kernel.standing.revoke(id, PERSON);
  const now = new Date().toISOString();
  const request = { nonce: 'n', session: 's', statement: '{}', more: '[]', until: now };
  await db.insertInto('passkey_requests').values(request).execute();
  const signature = { approval_id: 1, version: 1, person: 'person:ada', entry: 'e', salt: 's' };
  await db.insertInto('approval_signatures').values(signature).execute();
  await kernel.flush();
}

const reasonFor = (table: keyof Tables, column: string, row: Row): string | undefined => {
  const reasons = WITHOUT_MEANING[table];
  return reasons['*'] ?? reasons[table === 'settings' ? String(row.key) : column];
};

describe.each(ENGINES)('a changed cell on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  const original = new Map<keyof Tables, Row[]>();

  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await fillStore(store.database, store.dataDir);
    await fillMore(store.database, test);
    for (const table of TABLES) {
      const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(store.database.db);
      original.set(table, rows);
    }
    // These tables fill only on occasions that a test of cells need not bring about.
    const empty = ['leases', 'listeners', 'web_sessions', 'holds', 'call_stats', 'audit_nodes'];
    expect(TABLES.filter((table) => rowsOf(table).length === 0 && !empty.includes(table))).toEqual([]);
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

  it.each([
    'calls',
    'approvals',
    'counters',
    'agents',
    'idempotency',
    'audit_log',
    'audit_payloads',
  ] as const)(
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
