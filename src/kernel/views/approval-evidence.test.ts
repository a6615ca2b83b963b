import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillStore } from '../../../test/support/busy-log.ts';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { TestKernel } from '../../../test/support/kernel.ts';
import { approvalDifferences } from './approval-evidence.ts';

describe.each(ENGINES)('the row of an approval on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await fillStore(store.database, store.dataDir);
  });
  afterAll(() => store.close());

  it('agrees with the log however it was decided and used', async () => {
    const all = await test.kernel.approvals.list({});
    expect(new Set(all.map(({ state }) => state))).toEqual(
      new Set(['pending', 'done', 'rejected', 'withdrawn']),
    );
    for (const one of all) expect(await approvalDifferences(store.database, one)).toEqual([]);
  });

  it('differs once a decision was written into it, and is not compared while it moves on', async () => {
    const [pending] = await test.kernel.approvals.list({ states: ['pending'] });
    if (!pending) throw new Error('none is pending');
    const { db } = store.database;
    const edit = db.updateTable('approvals').where('id', '=', pending.id);
    const forged = { state: 'approved', decided_by: 'person:root', decided_at: '2026-01-01T00:00:00.000Z' };
    await edit.set(forged).execute();
    expect(await approvalDifferences(store.database, pending)).toEqual([
      'says state is "approved", but the log says "pending"',
      'says decided_by is "person:root", but the log says "null"',
      'says decided_at is "2026-01-01T00:00:00.000Z", but the log says "null"',
    ]);
    const earlier = { ...pending, version: pending.version - 1 };
    expect(await approvalDifferences(store.database, earlier)).toEqual([]);
    await db
      .updateTable('audit_log')
      .set({ kind: 'approval', hash: 'other' })
      .where('body', 'like', `%${pending.uuid}%`)
      .execute();
    expect(await approvalDifferences(store.database, pending)).toEqual(['has an entry that was changed']);
  });
});
