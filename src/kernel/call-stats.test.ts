import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/support/engines.ts';
import { uuidv7 } from '../lib/random.ts';
import { readCallStats, updateCallStats } from './call-stats.ts';
import { prepareEntry } from './log/entry.ts';
import { appendEntries } from './log/log.ts';
import { CALLS, insertRows } from './store/statements.ts';
import type { CallsTable } from './store/tables.ts';

const COUNT = 9_000;
const START = Date.UTC(2026, 0, 1);
/** Nine thousand calls in ten days and a bit, so that whole days, whole hours and parts of both are there. */
const EVERY_MS = 100_000;
const TOOLS = ['alpha', 'beta', 'gamma'];

function callAt(index: number) {
  const ms = START + index * EVERY_MS;
  const at = new Date(ms).toISOString();
  const failed = index % 7 === 0;
  const call = {
    tool: TOOLS[index % TOOLS.length] ?? '',
    toolkit: index % 2 === 0 ? 'even' : 'odd',
    effect: 'read',
    principal: 'agent:local',
    client: null,
    transport: 'stdio',
    digest: 'd',
    decision: 'allow',
    rule: 'default',
    status: failed ? 'failed' : 'ok',
  };
  const call_id = uuidv7(ms);
  const entry = prepareEntry({ kind: 'read', at, call: call_id, status: call.status });
  const row: CallsTable = {
    ...call,
    call_id,
    parent_id: null,
    started_at: at,
    finished_at: at,
    category: 'c',
    run_id: null,
    code: failed ? 'timeout' : null,
    latency_ms: 1 + (index % 100),
    evidence_hash: entry.hash,
    approval_id: null,
    approver: null,
    replay_of: null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  };
  return { row, entry };
}

describe.each(ENGINES)('figures about calls on %s', (engine) => {
  let store: TestStore;
  const made = Array.from({ length: COUNT }, (_, index) => callAt(index));
  beforeAll(async () => {
    store = await openTestStore(engine);
    for (let start = 0; start < COUNT; start += 3_000) {
      const part = made.slice(start, start + 3_000);
      await store.database.write(async (trx) => {
        await insertRows(
          trx,
          engine,
          CALLS,
          part.map(({ row }) => row),
        );
        await appendEntries(
          trx,
          engine,
          part.map(({ entry }) => entry),
        );
      });
    }
  });
  afterAll(() => store.close());

  const rolled = async () => {
    const { seq } = await store.database.db
      .selectFrom('call_stats_head')
      .select('seq')
      .executeTakeFirstOrThrow();
    return seq;
  };
  const since = (from: Date) =>
    made.filter(({ row }) => row.started_at >= from.toISOString()).map(({ row }) => row);
  const sum = <T>(list: readonly T[], value: (one: T) => number) =>
    list.reduce((all, one) => all + value(one), 0);

  it('leave the newest calls out, and take the others in once although two processes do it', async () => {
    // SQLite blocks its whole process while it waits for a lock, so there both share a connection.
    const other = engine === 'postgres' ? await store.again() : store.database;
    await Promise.all([
      updateCallStats(store.database),
      updateCallStats(other),
      updateCallStats(store.database),
    ]);
    expect(await rolled()).toBe(7_000);
    const { db } = store.database;
    for (const unit of ['hour', 'day'] as const) {
      const rows = await db.selectFrom('call_stats').select('calls').where('unit', '=', unit).execute();
      expect(sum(rows, ({ calls }) => calls)).toBe(7_000);
    }
    await updateCallStats(store.database);
    expect(await rolled()).toBe(7_000);
  });

  it.each([
    ['the beginning', START],
    ['the middle of an hour', START + 30 * 3_600_000 + 1_234_567],
    ['a whole hour', START + 31 * 3_600_000],
    ['a whole day', START + 48 * 3_600_000],
    ['after the last figure', START + 7_500 * EVERY_MS],
  ])('are exact counted from %s', async (_name, ms) => {
    const from = new Date(ms);
    const expected = since(from);
    for (const by of ['span', 'tool'] as const) {
      for (const unit of ['hour', 'day'] as const) {
        const stats = await readCallStats(store.database, { by, from, unit });
        expect(sum(stats, ({ calls }) => calls)).toBe(expected.length);
        expect(sum(stats, ({ totalMs }) => totalMs)).toBeCloseTo(
          sum(expected, ({ latency_ms }) => latency_ms),
          3,
        );
      }
    }
    const stats = await readCallStats(store.database, { by: 'tool', from, toolkit: 'odd', tool: 'beta' });
    expect(sum(stats, ({ calls }) => calls)).toBe(
      expected.filter(({ toolkit, tool }) => toolkit === 'odd' && tool === 'beta').length,
    );
    const failed = (await readCallStats(store.database, { by: 'tool', from })).filter(
      ({ code }) => code === 'timeout',
    );
    expect(sum(failed, ({ calls }) => calls)).toBe(expected.filter(({ code }) => code !== null).length);
  });

  it('are told apart by the hour or the day a call began in', async () => {
    for (const [unit, length] of [
      ['hour', 13],
      ['day', 10],
    ] as const) {
      const stats = await readCallStats(store.database, { by: 'span', from: new Date(START), unit });
      const counted = new Map<string, number>();
      for (const { span, calls } of stats) counted.set(span, (counted.get(span) ?? 0) + calls);
      const expected = new Map<string, number>();
      for (const { row } of made) {
        const span = row.started_at.slice(0, length);
        expected.set(span, (expected.get(span) ?? 0) + 1);
      }
      expect(counted).toEqual(expected);
    }
  });

  it('keep latencies within a tenth', async () => {
    const stats = await readCallStats(store.database, { by: 'tool', from: new Date(START) });
    for (const { minMs, maxMs } of stats) expect(maxMs / minMs).toBeLessThan(1.11);
  });
});
