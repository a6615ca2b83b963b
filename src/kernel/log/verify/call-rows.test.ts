import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { CallsTable } from '../../store/tables.ts';
import { prepareEntry } from '../entry.ts';
import { statedRow } from '../rows/call-row.ts';
import { CallRowCheck } from './call-rows.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import { Problems } from './report.ts';

/** IDs that hold the time they were made. */
const C = '01900000-0000-7000-8000-00000000000c';
const D = '01900000-0000-7000-8000-00000000000d';

const read: EntryDraft = {
  kind: 'read',
  call: C,
  tool: 'look',
  toolkit: 'x',
  effect: 'read',
  principal: 'agent:local',
  transport: 'test',
  digest: 'd1',
  status: 'ok',
  decision: 'allow',
};
const intent: EntryDraft = { ...read, kind: 'intent', tool: 'post', effect: 'change', status: undefined };
const outcome: EntryDraft = { ...intent, kind: 'outcome', status: 'ok' };
const unknown: EntryDraft = { ...outcome, status: 'indeterminate' };
const settled: EntryDraft = { ...outcome, kind: 'settled' };
const approval = { uuid: 'u', digest: 'd1' };

const EQUAL = { logged: 1, rows: 1 };
const EMPTY = { approval_id: null, holder_host: null, holder_pid: null, lease_until: null };
const hashOf = (entry: EntryDraft): string => prepareEntry(dated(entry)).hash;

describe.each(ENGINES)('the row of a call on %s', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.database.db.deleteFrom('audit_log').execute();
    await store.database.db.deleteFrom('calls').execute();
  });

  /** The row as these entries state it, but for some columns. */
  const write = async (call: string, row: Partial<CallsTable>, ...entries: EntryDraft[]) => {
    const stated = statedRow(entries.map((one, seq) => ({ seq, hash: hashOf(one), entry: dated(one) })));
    if (!stated) throw new Error('A row needs an entry.');
    const started_at = stated.started_at ?? '2026-01-01T00:00:00.000Z';
    const values = {
      call_id: call,
      category: 'test',
      latency_ms: 1,
      ...EMPTY,
      ...stated,
      started_at,
      ...row,
    };
    await store.database.db.insertInto('calls').values(values).execute();
  };
  /** What is wrong with the rows after these entries, which are the whole log. */
  const found = async (entries: readonly EntryDraft[], counts: { logged: number; rows: number } = EQUAL) => {
    const problems = new Problems();
    const check = new CallRowCheck(store.database, problems);
    for (const [seq, entry] of entries.entries()) {
      const { hash, body, kind, at, call = null, run = null } = prepareEntry(dated(entry));
      await store.database.db
        .insertInto('audit_log')
        .values({ seq, hash, body, kind, at, call_id: call, run_id: run })
        .execute();
      check.take(seq, hash, dated(entry));
    }
    await check.checkPage();
    await check.finish(counts.logged, counts.rows);
    return problems.list;
  };
  const differs = (seq: number, column: string, stored: string, stated: string) => [
    { code: 'row', seq, message: `Call ${C} says ${column} is ${stored}, but its entries say ${stated}.` },
  ];

  it.each<[string, EntryDraft[]]>([
    ['a read', [read]],
    ['a change', [intent, outcome]],
    ['a change that is running', [intent]],
    ['a change of unknown outcome', [intent, unknown]],
    ['a change that was settled', [intent, unknown, settled]],
    ['a change that was settled without an outcome', [intent, settled]],
    ['a refusal', [{ ...read, kind: 'refusal', status: 'refused', code: 'paused', rule: 'hard:paused' }]],
    ['a call whose values look like two', [{ ...read, tool: 'a|=b' }]],
    ['a call whose value has a line break', [{ ...read, client: 'a\nb' }]],
    [
      'a call with everything',
      [{ ...read, parent: D, run: 'r', client: '', code: 'x', rule: 'y', replayOf: D }],
    ],
  ])('agrees with the entries of %s', async (_what, entries) => {
    await write(C, {}, ...entries);
    expect(await found([{ kind: 'config' }, ...entries])).toEqual([]);
  });

  it.each<[keyof CallsTable, string | number | null, string, string]>([
    ['started_at', 'x', '"x"', '"2024-06-10T02:35:18.400Z"'],
    ['finished_at', 'x', '"x"', '"2026-01-01T00:00:00.000Z"'],
    ['finished_at', null, 'empty', '"2026-01-01T00:00:00.000Z"'],
    ['parent_id', 'x', '"x"', 'empty'],
    ['tool', 'x', '"x"', '"look"'],
    ['toolkit', '', '""', '"x"'],
    ['effect', 'x', '"x"', '"read"'],
    ['principal', 'x', '"x"', '"agent:local"'],
    ['client', '', '""', 'empty'],
    ['client', '-', '"-"', 'empty'],
    ['client', 'null', '"null"', 'empty'],
    ['transport', 'x', '"x"', '"test"'],
    ['run_id', 'x', '"x"', 'empty'],
    ['digest', 'x', '"x"', '"d1"'],
    ['status', 'x', '"x"', '"ok"'],
    ['code', 'x', '"x"', 'empty'],
    ['decision', 'x', '"x"', '"allow"'],
    ['rule', 'x', '"x"', 'empty'],
    ['approver', 'x', '"x"', 'empty'],
    ['replay_of', 'x', '"x"', 'empty'],
    ['approval_id', 1, '"1"', '"none"'],
    ['holder_host', 'x', '"x"', 'empty'],
    ['latency_ms', -1, '"-1"', '"a duration"'],
  ])('is named when its %s is %j', async (column, value, stored, stated) => {
    await write(C, { [column]: value }, read);
    expect(await found([{ kind: 'config' }, read])).toEqual(differs(1, column, stored, stated));
  });

  it.each<Partial<CallsTable>>([{ holder_pid: 1 }, { lease_until: 'x' }])(
    'is named when only %j says that its call is running',
    async (column) => {
      await write(C, column, read);
      expect(await found([read])).toEqual(differs(0, 'holder_host', 'empty', 'empty'));
    },
  );

  it('is named when its hash is that of another entry', async () => {
    await write(C, { evidence_hash: 'x' }, read);
    expect((await found([read])).map(({ message }) => message)).toEqual([
      `Call ${C} says evidence_hash is "x", but its entries say "${hashOf(read)}".`,
    ]);
  });

  it('is named when two of its values were joined in another way', async () => {
    const entry = { ...read, tool: 'a|=b', toolkit: 'c' };
    await write(C, { tool: 'a', toolkit: 'b|=c' }, entry);
    expect((await found([entry]))[0]?.message).toContain('says tool is "a", but its entries say "a|=b"');
  });

  it('is named when it lacks the approval that its call ran under or waits for', async () => {
    const ended: EntryDraft[] = [{ ...intent, approval }, outcome];
    await write(C, {}, ...ended);
    expect(await found(ended)).toEqual(differs(1, 'approval_id', 'empty', '"u"'));
    await store.database.db.deleteFrom('audit_log').execute();
    await store.database.db.deleteFrom('calls').execute();
    const routed: EntryDraft = { ...read, kind: 'routed', status: 'routed' };
    await write(C, {}, routed);
    expect(await found([routed])).toEqual(differs(0, 'approval_id', 'empty', '"none"'));
  });

  it.each<[string, EntryDraft[], number]>([
    ['an outcome', [intent, outcome], 1],
    ['no outcome yet', [intent], 0],
    ['an unknown outcome', [intent, unknown], 1],
    ['an unknown outcome that was settled', [intent, unknown, settled], 2],
    ['a settlement alone', [intent, settled], 1],
    ['an outcome without an intent', [outcome], 0],
  ])('is named once, with the last entry of its call, when that has %s', async (_what, entries, seq) => {
    await write(C, { tool: 'x' }, ...entries);
    expect(await found(entries)).toEqual(differs(seq, 'tool', '"x"', '"post"'));
  });

  it('is named when it is missing', async () => {
    const missing = [{ code: 'row', seq: 0, message: `Call ${C} has entries, but its row is missing.` }];
    expect(await found([read])).toEqual(missing);
  });

  it('is named when no entry is about it, also where another row is missing in its place', async () => {
    const invented = { code: 'row', message: `Call ${D} has a row, but no entry in the log.` };
    await write(D, {}, read);
    expect(await found([], { logged: 0, rows: 1 })).toEqual([invented]);
    expect(await found([read])).toEqual([
      { code: 'row', seq: 0, message: `Call ${C} has entries, but its row is missing.` },
      invented,
    ]);
  });

  it('is compared without reading its entries again where it is as they state', async () => {
    const refusal: EntryDraft = { ...read, call: D, kind: 'refusal', status: 'refused' };
    await write(C, {}, intent, outcome);
    await write(D, { client: null }, refusal);
    // Which the slow way needs.
    await sql`alter table approvals rename to hidden`.execute(store.database.db);
    try {
      expect(await found([{ kind: 'config' }, intent, outcome, refusal])).toEqual([]);
    } finally {
      await sql`alter table hidden rename to approvals`.execute(store.database.db);
    }
  });

  it('is compared also where several calls have values that look like two', async () => {
    const entry = { ...read, client: 'a|=b' };
    await write(C, { tool: 'x' }, entry);
    await write(D, {}, { ...entry, call: D });
    expect(await found([entry, { ...entry, call: D }])).toEqual(differs(0, 'tool', '"x"', '"look"'));
  });

  it('is compared again on each page', async () => {
    const problems = new Problems();
    const check = new CallRowCheck(store.database, problems);
    const other: EntryDraft = { ...read, call: D };
    await write(C, {}, read);
    await write(D, { tool: 'x' }, other);
    for (const [seq, entry] of [read, other].entries()) {
      const { hash, body, kind, at, call = null } = prepareEntry(dated(entry));
      const row = { seq, hash, body, kind, at, call_id: call, run_id: null };
      await store.database.db.insertInto('audit_log').values(row).execute();
      check.take(seq, hash, dated(entry));
      await check.checkPage();
    }
    expect(problems.list.map(({ seq }) => seq)).toEqual([1]);
  });
});
