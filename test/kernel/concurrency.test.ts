import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { startChild } from '../support/child.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel } from '../support/kernel.ts';

const PROCESSES = 4;
const CALLS = 500;

describe.each(ENGINES)('four processes on one store, %s', (engine) => {
  let store: TestStore;

  beforeEach(async () => {
    store = await openTestStore(engine);
    await openTestKernel(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const run = async (order: object, limit = '100000') => {
    const children = await Promise.all(
      Array.from({ length: PROCESSES }, () => startChild('kernel-caller', [store.url, store.dataDir, limit])),
    );
    await Promise.all(children.map((child) => child.said('ready')));
    for (const [index, child] of children.entries()) {
      child.send(JSON.stringify({ ...order, args: { text: `p${index}` } }));
      child.process.stdin?.end();
    }
    const codes = await Promise.all(children.map((child) => child.ended));
    expect(codes).toEqual(children.map(() => 0));
    return children.map(
      (child) => JSON.parse(child.output().split('\n')[1] ?? '{}') as Record<string, number>,
    );
  };

  it('lose nothing over 500 calls each: every counter exact, the log whole', async () => {
    const results = await run({ tool: 'ledger_write', times: CALLS });
    expect(results).toEqual(Array.from({ length: PROCESSES }, () => ({ ok: CALLS })));
    const { db } = store.database;
    const [counter] = await db
      .selectFrom('counters')
      .select((eb) => eb.fn.sum('used').as('used'))
      .execute();
    expect(Number(counter?.used)).toBe(PROCESSES * CALLS);
    const head = await db.selectFrom('audit_head').select('size').executeTakeFirst();
    expect(head?.size).toBe(2 * PROCESSES * CALLS);
    const report = await verifyLog(store.database, { publicKeys: [] });
    expect(report.problems).toEqual([]);
  }, 300_000);

  it('never exceed the hourly limit by one', async () => {
    const results = await run({ tool: 'ledger_write', times: 100 }, '150');
    const total = (status: string) => results.reduce((sum, one) => sum + (one[status] ?? 0), 0);
    // A run across the turn of the hour meets two windows; each holds 150.
    const windows = await store.database.db.selectFrom('counters').selectAll().execute();
    expect(windows.every(({ used }) => used <= 150)).toBe(true);
    expect(total('ok')).toBe(windows.reduce((sum, { used }) => sum + used, 0));
    expect(total('ok') + total('refused')).toBe(PROCESSES * 100);
    if (windows.length === 1) expect(total('ok')).toBe(150);
  }, 300_000);
});
