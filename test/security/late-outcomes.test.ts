import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe.each(ENGINES)('approvals that meet a pause, a dead process or a missing tool, on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;

  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
  });
  afterEach(() => store.close());

  const route = async (args: JsonObject, more = {}): Promise<number> => {
    const { outcome } = await test.call('ledger_write', args, more);
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const permitted = async (tool: string, args: JsonObject) => {
    const asked = { tool, args, requester: AGENT, reason: 'please', kind: 'permit' as const };
    const permit = await test.kernel.approvals.propose(asked);
    await test.kernel.approvals.approve(permit.id, PERSON);
    return permit;
  };
  const state = async (id: number) => (await test.kernel.approvals.get(id))?.state;
  const problems = async () => {
    await test.kernel.flush();
    return (await verifyLog(store.database, { rows: true })).problems;
  };
  /** Another machine takes the process of the running call for dead. */
  const takeForDead = async () => {
    await expect
      .poll(() =>
        store.database.db.selectFrom('calls').select('call_id').where('status', '=', 'running').execute(),
      )
      .toHaveLength(1);
    await store.database.db
      .updateTable('calls')
      .set({ holder_host: 'elsewhere', lease_until: new Date(Date.now() - 60_000).toISOString() })
      .where('status', '=', 'running')
      .execute();
    return test.kernel.recover();
  };

  it('an approval refused by a pause can be given again, and the log stays a whole story', async () => {
    const id = await route({ text: 'a' });
    await test.kernel.setPaused(true, PERSON);
    expect((await test.kernel.approvals.approve(id, PERSON)).approval.state).toBe('pending');
    await test.kernel.setPaused(false, PERSON);
    expect((await test.kernel.approvals.approve(id, PERSON)).approval.state).toBe('done');
    expect(await problems()).toEqual([]);
  });

  it('a permit that was given back is used up after all when its call turns out to have been done', async () => {
    const args = { text: 'once', hold: true };
    const permit = await permitted('ledger_write', args);
    const running = test.call('ledger_write', args, { idempotencyKey: 'k' });
    expect(await takeForDead()).toMatchObject({ interrupted: 1, settled: 1 });
    expect(await state(permit.id)).toBe('approved');
    test.release();
    expect((await running).outcome.status).toBe('ok');
    expect(await state(permit.id)).toBe('done');
    expect((await test.call('ledger_write', args)).outcome.status).toBe('routed');
    const again = await test.call('ledger_write', args, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await test.lines()).toEqual(['once']);
    expect(await problems()).toEqual([]);
  });

  it('verify names a permit that was used again before its first call turned out to have been done', async () => {
    const args = { text: 'once', hold: true };
    const { id } = await permitted('ledger_write', args);
    const first = test.call('ledger_write', args);
    await takeForDead();
    const second = test.call('ledger_write', args);
    await expect.poll(() => state(id)).toBe('executing');
    test.release();
    expect((await first).outcome.status).toBe('ok');
    expect((await second).outcome.status).toBe('ok');
    expect((await problems()).map(({ message }) => message)).toEqual([
      expect.stringContaining('was done after all, but another call used its approval'),
    ]);
  });

  it('a late outcome ends the doubt about its approval and its key', async () => {
    const args = { text: 'once', hold: true, fail: 'unknown' };
    const id = await route(args, { idempotencyKey: 'k' });
    const running = test.kernel.approvals.approve(id, PERSON);
    expect(await takeForDead()).toMatchObject({ interrupted: 1, open: 1 });
    test.release();
    expect((await running).outcome?.status).toBe('ok');
    expect(await state(id)).toBe('done');
    const again = await test.call('ledger_write', args, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await problems()).toEqual([]);
  });

  it('a late outcome leaves a key alone that another call has taken since', async () => {
    await test.setPolicy({});
    const first = test.call('ledger_write', { text: 'one', hold: true }, { idempotencyKey: 'k' });
    expect(await takeForDead()).toMatchObject({ interrupted: 1, settled: 1 });
    const second = await test.call('ledger_write', { text: 'two' }, { idempotencyKey: 'k' });
    expect(second.outcome.status).toBe('ok');
    test.release();
    expect((await first).outcome.status).toBe('ok');
    const again = await test.call('ledger_write', { text: 'two' }, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true, data: { written: 'two' } });
    expect(await problems()).toEqual([]);
    // The key of the second call is the one that must be there.
    await store.database.db.deleteFrom('idempotency').execute();
    expect((await problems()).map(({ message }) => message)).toEqual([
      expect.stringContaining(`The idempotency key of call ${second.callId} is missing`),
    ]);
  });

  it('a call that did not finish but did some of its parts gives no permit back, and says so', async () => {
    const args = { texts: ['one', 'two'] };
    const permit = await permitted('ledger_batch', args);
    await test.setPolicy({ require_approval_for: ['ledger_batch'] });
    const { callId, outcome } = await test.call('ledger_batch', args);
    expect(outcome.status).toBe('ok');
    // As if the process had died before it could write down how the whole ended.
    const { db } = store.database;
    const lost = { state: 'indeterminate' };
    await db.updateTable('calls').set({ status: 'indeterminate' }).where('call_id', '=', callId).execute();
    await db.updateTable('approvals').set(lost).where('id', '=', permit.id).execute();
    expect(await test.kernel.settle(callId, false, PERSON)).toBe(true);
    expect(await test.kernel.approvals.get(permit.id)).toMatchObject({
      state: 'failed',
      outcome: { message: expect.stringContaining('2 of its parts happened') },
    });
  });

  it('what cannot run here is not approved, stops nothing else, and never runs automatically later', async () => {
    const id = await route({ text: 'a' });
    const later = (ms: number) => () => new Date(Date.now() + ms);
    const without = createKernel({
      database: store.database,
      dataDir: store.dataDir,
      log: quiet,
      limits: {
        deadlineMs: 5_000,
        agentsMayApprove: false,
        approvalExpiryMs: 86_400_000,
        maxPending: 10_000,
        maxKeyLength: 512,
      },
      policy: { current: {} as never, stamp: 'none', refresh: async () => {} },
      resolve: async () => undefined,
      now: later(120_000),
    });
    await expect(without.approvals.approve(id, PERSON)).rejects.toThrow(/Tool ledger_write no longer exists/);
    expect(await state(id)).toBe('pending');

    // Approved while the tool was there, by a process that died before it ran.
    await store.database.db
      .updateTable('approvals')
      .set({ state: 'approved', decided_at: new Date(0).toISOString(), decided_by: 'person:ada' })
      .where('id', '=', id)
      .execute();
    expect(await without.recover()).toMatchObject({ resumed: 0 });
    expect(await state(id)).toBe('pending');
    const back = await openTestKernel(store.database, store.dataDir, { now: later(400_000) });
    expect(await back.kernel.recover()).toMatchObject({ resumed: 0 });
    expect(await back.lines()).toEqual([]);
  });
});
