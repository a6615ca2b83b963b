import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import { prepareEntry } from '../log/entry.ts';
import { writeWithEvidence } from '../log/write.ts';
import { findForged } from './genuine.ts';

const UUID = '10000000-0000-4000-8000-000000000009';

describe.each(ENGINES)('an approval that an earlier version requested, on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let id: number;
  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
    const { outcome } = await test.call('ledger_write', { text: 'one' });
    if (outcome.status !== 'routed') throw new Error(`It was ${outcome.status}.`);
    id = outcome.approvalId;
    const { db } = store.database;
    const row = await db.selectFrom('approvals').selectAll().executeTakeFirstOrThrow();
    await db.updateTable('approvals').set({ uuid: UUID, context: '{}' }).execute();
    // Its entry stated neither what is shown nor context and expiry.
    const entry = prepareEntry({
      kind: 'approval',
      at: row.created_at,
      status: 'pending',
      tool: row.tool,
      toolkit: row.toolkit,
      effect: row.effect,
      principal: row.requester,
      rule: row.rule,
      approval: { uuid: UUID, digest: row.digest, requester: row.requester },
    });
    await writeWithEvidence(store.database, async (write) => write.append(entry));
  });
  afterEach(() => store.close());

  it('is not marked in a list, and runs once a person approves it', async () => {
    const pending = await test.kernel.approvals.list({ states: ['pending'] });
    expect(pending.map((one) => [one.id, one.expiresAt])).toEqual([[id, expect.any(Date)]]);
    expect(await findForged(store.database, pending)).toEqual(new Set());
    const { outcome } = await test.kernel.approvals.approve(id, PERSON, {});
    expect(outcome?.status).toBe('ok');
  });
});
