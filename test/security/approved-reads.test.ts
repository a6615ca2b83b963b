import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const ASKED = ['ledger_read', 'ledger_survey', 'ledger_batch', 'ledger_write'];

describe.each(ENGINES)('the log of approved reads on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;

  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, { policy: { require_approval_for: ASKED } });
  });
  afterEach(() => store.close());

  const route = async (tool: string, args: JsonObject): Promise<number> => {
    const { outcome } = await test.call(tool, args);
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const approve = async (id: number) => (await test.kernel.approvals.approve(id, PERSON)).approval.state;
  const verified = async (rows = true) => {
    await test.kernel.flush();
    return (await verifyLog(store.database, { rows })).problems.map(({ message }) => message);
  };
  const statuses = async (tool: string) => {
    const rows = await store.database.db
      .selectFrom('audit_log')
      .select(['kind', 'body'])
      .where('kind', 'in', ['read', 'approval', 'intent', 'outcome'])
      .orderBy('seq')
      .execute();
    return rows.flatMap(({ kind, body }) => {
      const entry = JSON.parse(body) as { tool?: string; status?: string };
      return entry.tool === tool ? [`${kind} ${entry.status ?? ''}`.trim()] : [];
    });
  };

  it('holds together when they succeed, fail and are tried again, by approval and by permit', async () => {
    expect(await approve(await route('ledger_read', { echo: 'a' }))).toBe('done');
    const failing = await route('ledger_read', { fail: true });
    expect(await approve(failing)).toBe('pending');
    expect(await approve(failing)).toBe('pending');
    const args = { fail: true, echo: 'p' };
    const asked = { tool: 'ledger_read', args, requester: AGENT, reason: 'please', kind: 'permit' as const };
    const permit = await test.kernel.approvals.propose(asked);
    await test.kernel.approvals.approve(permit.id, PERSON);
    for (const _ of [1, 2]) expect((await test.call('ledger_read', args)).outcome.status).toBe('failed');
    expect(await verified()).toEqual([]);
    expect((await statuses('ledger_read')).slice(3, 10)).toEqual([
      'approval pending',
      'approval approved',
      'read failed',
      'approval returned',
      'approval approved',
      'read failed',
      'approval returned',
    ]);
  });

  it('holds together when the parts of an approved read or change read under its approval', async () => {
    expect(await approve(await route('ledger_survey', {}))).toBe('done');
    expect(await approve(await route('ledger_batch', { texts: ['x'], look: true }))).toBe('done');
    expect(await verified()).toEqual([]);
  });

  it('has the answer in it before the approval counts as used', async () => {
    const id = await route('ledger_read', {});
    await approve(id);
    expect(await statuses('ledger_read')).toEqual(['approval pending', 'approval approved', 'read ok']);
  });

  it('refuses a read under an approval that the log does not have', async () => {
    const id = await route('ledger_read', {});
    // The decision is forged in the database alone.
    await store.database.db
      .updateTable('approvals')
      .set({ kind: 'permit', state: 'approved', decided_by: 'person:ada' })
      .where('id', '=', id)
      .execute();
    const forged = await test.kernel.approvals.get(id);
    const { outcome } = await test.call('ledger_read', {}, { approval: forged });
    expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'approval_invalid' } });
    expect(await statuses('ledger_read')).not.toContain('read ok');
    // The log itself is in order; the row stays what it was made.
    expect(await verified(false)).toEqual([]);
  });
});
