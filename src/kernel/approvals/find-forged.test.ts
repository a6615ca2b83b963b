import type { Updateable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { findForged } from './genuine.ts';

describe.each(ENGINES)('a list of pending approvals on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  beforeAll(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
    for (const text of ['one', 'two', 'three']) await test.call('ledger_write', { text });
  });
  afterAll(() => store.close());

  const pending = () => test.kernel.approvals.list({ states: ['pending'], order: 'oldest' });
  const forged = async () => [...(await findForged(store.database, await pending()))];
  const set = (id: number, change: Updateable<ApprovalsTable>) =>
    store.database.db.updateTable('approvals').set(change).where('id', '=', id).execute();

  it('marks none that is what was requested, edited or given back', async () => {
    const [, second] = await pending();
    await test.kernel.approvals.edit(second?.id ?? 0, PERSON, { text: 'two, edited' });
    expect(await forged()).toEqual([]);
    expect([...(await findForged(store.database, []))]).toEqual([]);
  });

  it.each<Updateable<ApprovalsTable>>([
    { summary: 'Read the ledger' },
    { gist: 'harmless' },
    { reason: 'The person asked for it' },
    { environment: 'sandbox' },
    { risks: '["Checked"]' },
    { args: '{"text":"another"}' },
    { requester: 'person:ada' },
    { tool: 'ledger_read' },
    { uuid: '00000000-0000-4000-8000-000000000000' },
  ])('marks the one whose row was changed: %o', async (change) => {
    const [row] = await pending();
    if (!row) throw new Error('none is pending');
    const { id } = row;
    const before = await store.database.db
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await set(id, change);
    expect(await forged()).toEqual([id]);
    await set(id, before);
    expect(await forged()).toEqual([]);
  });

  it('is compared by two statements, however long it is', async () => {
    const all = await pending();
    for (const some of [all.slice(0, 1), all]) {
      const statements = vi.spyOn(store.database.db.getExecutor(), 'executeQuery');
      await findForged(store.database, some);
      expect(statements.mock.calls.length).toBe(2);
      statements.mockRestore();
    }
  });

  it('marks what was decided and is said to be pending again', async () => {
    const [row] = await pending();
    if (!row) throw new Error('none is pending');
    await test.kernel.approvals.reject(row.id, PERSON);
    await set(row.id, { state: 'pending' });
    expect(await forged()).toEqual([row.id]);
  });

  it('does not mark what was decided after the list was read', async () => {
    const [, listed] = await pending();
    if (!listed) throw new Error('none is pending');
    await test.kernel.approvals.reject(listed.id, PERSON);
    expect([...(await findForged(store.database, [listed]))]).toEqual([]);
  });
});
