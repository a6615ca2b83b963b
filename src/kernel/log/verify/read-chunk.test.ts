import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { appendLeaf, type Frontier, rootOf, type TreeNode } from '../../../lib/merkle.ts';
import { uuidv7 } from '../../../lib/random.ts';
import type { AuditLogTable, CallsTable } from '../../store/tables.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { payloadRow, sealPayload } from '../log.ts';
import { CHUNK, type Chunk, readChunk } from './chunks.ts';

/** The second chunk; nothing depends on what stands before it. */
const INDEX = 1;
const START = INDEX * CHUNK;
const BEGIN = Date.UTC(2026, 0, 1);
const timeOf = (n: number) => new Date(BEGIN + n * 100).toISOString();
const idOf = (n: number) => uuidv7(BEGIN + n * 100);
const LAST = timeOf(CHUNK - 1);

/** Only few calls have payloads, and only these are read with their rows. */
const DETAILED = 16;

describe('a chunk of the log', () => {
  let store: TestStore;
  /** Of all entries, in order. */
  const leaves: string[] = [];
  const calls: string[] = [];
  let root = '';

  const db = () => store.database.db;
  const base = (n: number): EntryInput => ({
    kind: 'read',
    effect: 'read',
    at: timeOf(n),
    call: calls[n],
    tool: 'get_post',
    toolkit: 'x',
    principal: 'agent:local',
    transport: 'stdio',
    digest: 'd'.repeat(64),
    status: 'ok',
  });
  const rowOf = (n: number, input: EntryInput): AuditLogTable => {
    const { hash, body, kind, at, call, run } = prepareEntry(input);
    return { seq: START + n, hash, body, kind, at, call_id: call ?? null, run_id: run ?? null };
  };
  const callOf = (n: number, input: EntryInput): CallsTable => ({
    call_id: input.call ?? '',
    parent_id: null,
    started_at: timeOf(n),
    finished_at: input.at,
    tool: 'get_post',
    toolkit: 'x',
    category: 'posts',
    effect: 'read',
    principal: 'agent:local',
    client: input.client ?? null,
    transport: 'stdio',
    run_id: null,
    digest: 'd'.repeat(64),
    status: 'ok',
    code: null,
    decision: input.decision ?? 'none',
    rule: input.rule ?? null,
    latency_ms: 0,
    evidence_hash: prepareEntry(input).hash,
    approval_id: null,
    approver: null,
    replay_of: null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  });

  async function storeNodes(): Promise<void> {
    const frontier: Frontier = [];
    const nodes: TreeNode[] = leaves
      .flatMap((leaf, n) => appendLeaf(frontier, n, leaf))
      .filter(({ level }) => level >= 8)
      .map((node) => ({ ...node, idx: node.idx + START / 2 ** node.level }));
    root = rootOf(frontier);
    await db().deleteFrom('audit_nodes').execute();
    await db().insertInto('audit_nodes').values(nodes).execute();
  }

  const detailed = (n: number): { input: EntryInput; payloads: ReturnType<typeof payloadRow>[] } => {
    const args = n % 2 === 0 ? sealPayload({ n }) : undefined;
    const result = n % 4 < 2 ? sealPayload({ found: n }, { keep: false }) : undefined;
    const input: EntryInput = {
      ...base(n),
      ...(n < 4 ? { client: 'test/1.0', rule: 'default', decision: 'allow' } : {}),
      args: args?.hash,
      result: result?.hash,
    };
    const entry = prepareEntry(input);
    return {
      input,
      payloads: [
        ...(args ? [payloadRow(entry, 'args', args)] : []),
        ...(result ? [payloadRow(entry, 'result', result)] : []),
      ],
    };
  };

  beforeAll(async () => {
    store = await openTestStore('sqlite');
    for (let n = 0; n < CHUNK; n += 1) calls.push(idOf(n));
    const rows: AuditLogTable[] = [];
    for (let n = 0; n < CHUNK; n += 1) {
      const { input, payloads } = n < DETAILED ? detailed(n) : { input: base(n), payloads: [] };
      rows.push(rowOf(n, input));
      if (payloads.length > 0) await db().insertInto('audit_payloads').values(payloads).execute();
      if (n < DETAILED) await db().insertInto('calls').values(callOf(n, input)).execute();
    }
    for (let n = 0; n < CHUNK; n += 512)
      await db()
        .insertInto('audit_log')
        .values(rows.slice(n, n + 512))
        .execute();
    leaves.push(...rows.map(({ hash }) => hash));
    await storeNodes();
  });
  afterAll(() => store.close());

  /** Puts back whatever a test changed. */
  const undo: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    for (const one of undo.splice(0).reverse()) await one();
  });

  async function replace(n: number, input: EntryInput): Promise<void> {
    const seq = START + n;
    const before = await db()
      .selectFrom('audit_log')
      .selectAll()
      .where('seq', '=', seq)
      .executeTakeFirstOrThrow();
    const put = async (row: AuditLogTable) => {
      await db().updateTable('audit_log').set(row).where('seq', '=', seq).execute();
      leaves[n] = row.hash;
    };
    await put(rowOf(n, input));
    undo.push(async () => {
      await put(before);
      await storeNodes();
    });
  }
  async function replaceAll(some: Readonly<Record<number, Partial<EntryInput>>>): Promise<void> {
    for (const [n, more] of Object.entries(some)) await replace(Number(n), { ...base(Number(n)), ...more });
    await storeNodes();
  }
  async function changePayload(n: number, kind: string, columns: { salt?: string; at?: string }) {
    const own = db()
      .updateTable('audit_payloads')
      .where('call_id', '=', calls[n] ?? '')
      .where('kind', '=', kind);
    const before = await db()
      .selectFrom('audit_payloads')
      .selectAll()
      .where('call_id', '=', calls[n] ?? '')
      .where('kind', '=', kind)
      .executeTakeFirstOrThrow();
    await own.set(columns).execute();
    undo.push(() => own.set({ salt: before.salt, at: before.at }).execute());
  }
  async function changeCall(n: number, columns: Partial<CallsTable>): Promise<void> {
    const own = db()
      .updateTable('calls')
      .where('call_id', '=', calls[n] ?? '');
    const before = await db()
      .selectFrom('calls')
      .selectAll()
      .where('call_id', '=', calls[n] ?? '')
      .executeTakeFirstOrThrow();
    await own.set(columns).execute();
    undo.push(() => own.set(before).execute());
  }

  const read = (rows = false) => readChunk(store.database, INDEX, rows);
  const numbers = (chunk: Chunk | undefined) => chunk?.others.map(({ seq }) => seq - START);
  /** Calls that have no row are never plain where rows are compared. */
  const disagreeing = (chunk: Chunk | undefined) => numbers(chunk)?.filter((n) => n < DETAILED);

  it('is handed over as its leaves, its root, its times and its counts', async () => {
    expect(await read()).toEqual({
      leaves: leaves.join(''),
      root,
      plain: CHUNK,
      verified: 8,
      unkept: 8,
      earliest: timeOf(0),
      latest: LAST,
      others: [],
    });
  });

  it('counts reads that stand alone and hands over all others, in order', async () => {
    const approval = { uuid: 'a', digest: 'd' };
    await replaceAll({
      3000: { kind: 'call' },
      3001: { effect: 'change' },
      3002: { approval },
      3003: { artifacts: ['a'] },
      3004: { parent: 'p' },
      3005: { run: 'r' },
      3006: { code: 'c' },
      3007: { replayOf: 'o' },
      3008: { decision: 'ask' },
      3009: { decision: 'allow' },
      3010: { args: 'sha256:0' },
    });
    await changePayload(2, 'args', { salt: 'x' });
    await replaceAll({ 5: { kind: 'config', call: undefined } });
    const chunk = await read();
    const expected = [2, 5, 3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 3010];
    expect(numbers(chunk)).toEqual(expected);
    expect(chunk?.others[4]?.entry.approval).toEqual(approval);
    expect(chunk).toMatchObject({ plain: CHUNK - expected.length, verified: 7 });
  });

  it('tolerates times that go back by a minute, and no more', async () => {
    const earlier = (ms: number) => new Date(Date.parse(LAST) - ms).toISOString();
    await replaceAll({ [CHUNK - 2]: { at: LAST }, [CHUNK - 1]: { at: earlier(60_000) } });
    expect(await read()).toMatchObject({ earliest: timeOf(0), latest: LAST });
    await replaceAll({ [CHUNK - 1]: { at: earlier(60_001) } });
    expect(await read()).toBeUndefined();
  });

  it('begins with its earliest time, wherever that is', async () => {
    const early = new Date(BEGIN - 1).toISOString();
    await replaceAll({ 100: { at: early } });
    expect(await read()).toMatchObject({ earliest: early, latest: LAST });
  });

  it('is not taken when a node of it is wrong, at whichever level', async () => {
    for (const level of [8, 9, 12]) {
      const node = db()
        .updateTable('audit_nodes')
        .where('level', '=', level)
        .where('idx', '=', START / 2 ** level);
      const { hash } = await db()
        .selectFrom('audit_nodes')
        .select('hash')
        .where('level', '=', level)
        .where('idx', '=', START / 2 ** level)
        .executeTakeFirstOrThrow();
      await node.set({ hash: leaves[0] ?? '' }).execute();
      const chunk = await read();
      await node.set({ hash }).execute();
      expect(chunk, `level ${level}`).toBeUndefined();
    }
  });

  it('is not taken when a column of an entry is wrong', async () => {
    await db()
      .updateTable('audit_log')
      .set({ kind: 'call' })
      .where('seq', '=', START + 400)
      .execute();
    const kind = 'read';
    undo.push(() =>
      db()
        .updateTable('audit_log')
        .set({ kind })
        .where('seq', '=', START + 400)
        .execute(),
    );
    expect(await read()).toBeUndefined();
    expect(await readChunk(store.database, INDEX + 1, false)).toBeUndefined();
  });

  it('hands over the calls whose payloads are not in order', async () => {
    await changePayload(0, 'args', { salt: 'x' });
    await changePayload(4, 'result', { salt: 'x' });
    await changePayload(5, 'result', { at: LAST });
    await changePayload(6, 'args', { salt: 'x' });
    const chunk = await read();
    expect(chunk).toMatchObject({ plain: CHUNK - 4, verified: 5, unkept: 5 });
    expect(numbers(chunk)).toEqual([0, 4, 5, 6]);
  });

  describe('whose rows are compared', () => {
    it('counts the reads whose rows agree', async () => {
      const chunk = await read(true);
      expect(disagreeing(chunk)).toEqual([]);
      expect(chunk).toMatchObject({ plain: DETAILED, verified: 8, unkept: 8 });
    });

    it('hands over the calls whose rows do not', async () => {
      const changes: Partial<CallsTable>[] = [
        { client: null },
        { principal: 'person:eve' },
        { rule: null },
        {},
        { client: 'x' },
        { rule: 'x' },
        { finished_at: null },
        { evidence_hash: null },
        { decision: 'allow' },
        { parent_id: 'p' },
        { lease_until: 'now' },
        { approval_id: 1 },
        { holder_pid: 1 },
        { effect: 'change' },
        {},
        { latency_ms: -1 },
      ];
      for (const [n, columns] of changes.entries())
        if (Object.keys(columns).length > 0) await changeCall(n, columns);
      const chunk = await read(true);
      expect(disagreeing(chunk)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15]);
      expect(chunk?.plain).toBe(2);
    });

    it('hands over calls with a separator in what their rows repeat', async () => {
      const names = ['tool', 'toolkit', 'principal', 'client', 'transport', 'digest', 'status', 'rule'];
      const changes = Object.fromEntries(names.map((name, n) => [n + 4, { [name]: 'a|b' }]));
      await replaceAll(changes);
      for (const [n, more] of Object.entries(changes))
        await changeCall(Number(n), { ...more, evidence_hash: leaves[Number(n)] ?? '' });
      expect(disagreeing(await read(true))).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
    });

    it('hands over a call whose id does not say when it began', async () => {
      await replaceAll({ 20: { call: 'short' } });
      const row = { ...callOf(20, { ...base(20), call: 'short' }), started_at: 'undefined' };
      await db().insertInto('calls').values(row).execute();
      undo.push(() => db().deleteFrom('calls').where('call_id', '=', 'short').execute());
      expect(numbers(await read(true))).toContain(20);
    });

    it('hands over such a call also where no call around it has a row', async () => {
      await replaceAll({ 300: { call: 'short' } });
      expect(numbers(await read(true))).toContain(300);
    });
  });
});
