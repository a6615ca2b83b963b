import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { Proposal } from '../../contract/ports.ts';
import { expireDue } from './expire.ts';

const START = new Date('2026-03-01T10:00:00Z');
const HOUR = 3_600_000;

describe('approvals past their time', () => {
  let store: TestStore;
  let test: TestKernel;
  let now = START;
  beforeEach(async () => {
    now = START;
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, { now: () => now });
  });
  afterEach(() => store.close());

  const propose = async (text: string, more: Partial<Proposal> = {}): Promise<number> => {
    const expiresAt = new Date(START.getTime() + HOUR);
    const proposal = {
      tool: 'ledger_write',
      args: { text },
      requester: AGENT,
      reason: 'r',
      expiresAt,
      ...more,
    };
    return (await test.kernel.approvals.propose(proposal)).id;
  };
  const state = async (id: number) => (await test.kernel.approvals.get(id))?.state;

  it('expire where they are pending or unused permits, and nothing else does', async () => {
    const pending = await propose('pending');
    const permit = await propose('permit', { kind: 'permit' });
    await test.kernel.approvals.approve(permit, PERSON);
    const approved = await propose('approved');
    await store.database.db
      .updateTable('approvals')
      .set({ state: 'approved' })
      .where('id', '=', approved)
      .execute();
    const others = [
      await propose('later', { expiresAt: new Date(START.getTime() + HOUR + 1) }),
      await propose('never', { expiresAt: null }),
    ];
    now = new Date(START.getTime() + HOUR - 1);
    expect(await expireDue(test.kernel.queue)).toBe(0);
    now = new Date(START.getTime() + HOUR);
    expect(await expireDue(test.kernel.queue)).toBe(2);
    expect(await Promise.all([pending, permit, approved, ...others].map(state))).toEqual([
      'expired',
      'expired',
      'approved',
      'pending',
      'pending',
    ]);
    expect(await expireDue(test.kernel.queue)).toBe(0);
    const entries = await store.database.db.selectFrom('audit_log').select('body').execute();
    const expired = entries.map(({ body }) => JSON.parse(body)).filter(({ status }) => status === 'expired');
    expect(expired).toMatchObject([
      { principal: 'system:clock', at: now.toISOString() },
      { principal: 'system:clock', at: now.toISOString() },
    ]);
  });
});
