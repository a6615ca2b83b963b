import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/contract/json.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const HOUR = 3_600_000;

describe.each(ENGINES)('every move of an approval on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write', 'ledger_write_blind', 'ledger_read'] },
      now: () => new Date(now),
    });
  });
  afterEach(() => store.close());

  const route = async (tool: string, args: JsonObject): Promise<number> => {
    const { outcome } = await test.call(tool, args);
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const permit = async (tool: string, args: JsonObject): Promise<number> => {
    const asked = { tool, args, requester: AGENT, reason: 'please', kind: 'permit' as const };
    const { id } = await test.kernel.approvals.propose(asked);
    await test.kernel.approvals.approve(id, PERSON);
    return id;
  };
  /** The states that open pages were notified of, in order. */
  const published = async (id: number): Promise<string[]> => {
    const events = await test.kernel.events.since(0);
    return events.flatMap(({ topic, data }) =>
      topic === 'approvals' && data.id === id ? [String(data.state)] : [],
    );
  };
  const entriesOf = async (id: number) => {
    await test.kernel.flush();
    const { uuid } = (await test.kernel.approvals.get(id)) ?? { uuid: '' };
    const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    const entries = rows.map(({ body }) => JSON.parse(body) as Record<string, JsonObject & string>);
    return entries.filter((entry) => entry.approval?.uuid === uuid);
  };
  const problems = async () => {
    await test.kernel.flush();
    return (await verifyLog(store.database, { rows: true })).problems;
  };
  /** Another machine takes the process of this call for dead. */
  const loseCall = (callId: string) =>
    store.database.db
      .updateTable('calls')
      .set({ status: 'running', holder_host: 'elsewhere', lease_until: new Date(now - HOUR).toISOString() })
      .where('call_id', '=', callId)
      .execute();

  it('publishes the start of an approved call', async () => {
    const id = await route('ledger_write', { text: 'a' });
    await test.kernel.approvals.approve(id, PERSON);
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'done']);
  });

  it('publishes the start of an approved read', async () => {
    const id = await route('ledger_read', {});
    await test.kernel.approvals.approve(id, PERSON);
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'done']);
  });

  it('publishes how an indeterminate call was settled', async () => {
    const id = await route('ledger_write_blind', { text: 'a', fail: true });
    const { approval } = await test.kernel.approvals.approve(id, PERSON);
    expect(await test.kernel.settle(approval.callId ?? '', true, PERSON)).toBe(true);
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'indeterminate', 'done']);
    expect(await problems()).toEqual([]);
  });

  it('publishes a permit that is returned because its call did not happen', async () => {
    const args = { text: 'a', fail: true };
    const id = await permit('ledger_write_blind', args);
    const { callId } = await test.call('ledger_write_blind', args);
    expect(await test.kernel.settle(callId, false, PERSON)).toBe(true);
    expect((await test.kernel.approvals.get(id))?.state).toBe('approved');
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'indeterminate', 'approved']);
    expect(await problems()).toEqual([]);
  });

  it('publishes and records a read whose process died', async () => {
    const id = await route('ledger_read', { hold: true });
    const running = test.kernel.approvals.approve(id, PERSON);
    await expect.poll(async () => (await test.kernel.approvals.get(id))?.state).toBe('executing');
    now += 2 * HOUR;
    await test.kernel.recover();
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'failed']);
    const last = (await entriesOf(id)).at(-1);
    expect(last).toMatchObject({ kind: 'approval', status: 'failed', principal: 'system:kernel' });
    test.release();
    // It was alive after all: what it read is evidence too, and the approval is used up by it.
    const { outcome, approval } = await running;
    expect(outcome?.status).toBe('ok');
    expect(approval).toMatchObject({ state: 'done', outcome: { status: 'ok' } });
    expect(await published(id)).toEqual(['pending', 'approved', 'executing', 'failed', 'done']);
    expect(await problems()).toEqual([]);
  });

  it('leaves a read that was closed as lost as it is when it fails after all', async () => {
    const id = await route('ledger_read', { hold: true, fail: true });
    const running = test.kernel.approvals.approve(id, PERSON);
    await expect.poll(async () => (await test.kernel.approvals.get(id))?.state).toBe('executing');
    now += 2 * HOUR;
    await test.kernel.recover();
    test.release();
    expect((await running).approval).toMatchObject({ state: 'failed', outcome: { code: 'internal' } });
    expect(await problems()).toEqual([]);
  });

  it('publishes no late outcome that changed no row', async () => {
    const args = { text: 'once', hold: true };
    const id = await permit('ledger_write', args);
    const first = test.call('ledger_write', args);
    await expect.poll(async () => (await test.kernel.approvals.get(id))?.state).toBe('executing');
    const { callId = '' } = (await test.kernel.approvals.get(id)) ?? {};
    await loseCall(callId);
    await test.kernel.recover();
    expect((await test.kernel.approvals.get(id))?.state).toBe('approved');
    const second = test.call('ledger_write', args);
    await expect.poll(async () => (await test.kernel.approvals.get(id))?.state).toBe('executing');
    test.release();
    await first;
    await second;
    const states = await published(id);
    expect(states.filter((state) => state === 'done')).toHaveLength(1);
    expect(await test.kernel.approvals.get(id)).toMatchObject({
      state: 'done',
      callId: (await second).callId,
    });
  });
});
