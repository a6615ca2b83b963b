import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ToolError } from '../../src/contract/errors.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import type { Principal } from '../../src/contract/principal.ts';
import { expireDue } from '../../src/kernel/approvals/expire.ts';
import { createApprovals } from '../../src/kernel/approvals/service.ts';
import { describeDecisionTargets } from '../../src/kernel/approvals/targets.ts';
import { finishUse } from '../../src/kernel/approvals/use.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { writeWithEvidence } from '../../src/kernel/log/write.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const SCOUT: Principal = { kind: 'agent', id: 'scout' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DENIED = { code: 'policy_denied_hard_rule' };

describe.each(ENGINES)('the rules of approvals on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let now: number;

  const open = async (options = {}) => {
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write', 'ledger_batch', 'ledger_read'] },
      now: () => new Date(now),
      ...options,
    });
  };
  beforeEach(async () => {
    now = Date.now();
    store = await openTestStore(engine);
    await open();
  });
  afterEach(() => store.close());

  const route = async (args: JsonObject, tool = 'ledger_write', principal = AGENT): Promise<number> => {
    const { outcome } = await test.call(tool, args, { principal });
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const permit = async (tool: string, args: JsonObject) => {
    const asked = { tool, args, requester: AGENT, reason: 'please', kind: 'permit' as const };
    const { id } = await test.kernel.approvals.propose(asked);
    await test.kernel.approvals.approve(id, PERSON);
    return id;
  };
  const state = async (id: number) => (await test.kernel.approvals.get(id))?.state;
  const problems = async () => {
    await test.kernel.flush();
    return (await verifyLog(store.database, { rows: true })).problems;
  };
  /** A person approves, and the process dies before it runs the call. */
  const approveAndDie = async (id: number) => {
    const dying = createApprovals({
      queue: test.kernel.queue,
      agentsMayApprove: false,
      run: () => Promise.reject(new Error('killed')),
      invoke: () => Promise.reject(new Error('killed')),
      limitsOf: async () => [],
      ruleLabel: () => undefined,
    });
    await expect(dying.approve(id, PERSON)).rejects.toThrow('killed');
    expect(await state(id)).toBe('approved');
  };

  it('let no agent with a token decide its own call, where agents may approve', async () => {
    await open({ agentsMayApprove: true });
    const id = await route({ text: 'mine' }, 'ledger_write', SCOUT);
    await expect(test.kernel.approvals.approve(id, SCOUT)).rejects.toMatchObject(DENIED);
    await expect(test.kernel.approvals.reject(id, SCOUT)).rejects.toMatchObject(DENIED);
    expect(await state(id)).toBe('pending');
    expect(await test.lines()).toEqual([]);
  });

  it('let only the requester or a person withdraw', async () => {
    const id = await route({ text: 'mine' }, 'ledger_write', SCOUT);
    await expect(test.kernel.approvals.withdraw(id, OTHER)).rejects.toMatchObject(DENIED);
    expect(await state(id)).toBe('pending');
    expect((await test.kernel.approvals.withdraw(id, SCOUT)).state).toBe('withdrawn');
  });

  it('store no edit that the tool itself refuses', async () => {
    const id = await route({ text: 'fine' });
    const edit = test.kernel.approvals.edit(id, PERSON, { text: 'unspeakable' });
    await expect(edit).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await test.kernel.approvals.get(id)).toMatchObject({ args: { text: 'fine' }, version: 1 });
  });

  it('expire no permit that a call began to use in the same moment', async () => {
    const args = { text: 'just in time', hold: true };
    const id = await permit('ledger_write', args);
    const running = test.call('ledger_write', args);
    await expect.poll(() => state(id)).toBe('executing');
    const { db } = store.database;
    // The sweep has read the permit as unused, and the call begins before the sweep writes.
    await db.updateTable('approvals').set({ state: 'approved' }).where('id', '=', id).execute();
    now += 25 * HOUR;
    const { ports } = test.kernel.queue;
    const begin = () =>
      db.updateTable('approvals').set({ state: 'executing' }).where('id', '=', id).execute();
    const write: typeof ports.database.write = async (work) => {
      await begin();
      return ports.database.write(work);
    };
    const slow = { ports: { ...ports, database: { ...ports.database, db, engine, write } } };
    expect(await expireDue(slow as typeof test.kernel.queue)).toBe(0);
    expect(await state(id)).toBe('executing');
    test.release();
    expect((await running).outcome.status).toBe('ok');
    expect(await state(id)).toBe('done');
  });

  it('expire no approval that was changed after it was found due', async () => {
    const id = await route({ text: 'changed' });
    const later = new Date(now + 100 * HOUR).toISOString();
    now += 25 * HOUR;
    const { ports } = test.kernel.queue;
    const { db } = store.database;
    const write: typeof ports.database.write = async (work) => {
      await db
        .updateTable('approvals')
        .set((eb) => ({ version: eb('version', '+', 1), expires_at: later }))
        .where('id', '=', id)
        .execute();
      return ports.database.write(work);
    };
    const slow = { ports: { ...ports, database: { ...ports.database, db, engine, write } } };
    expect(await expireDue(slow as typeof test.kernel.queue)).toBe(0);
    expect(await state(id)).toBe('pending');
  });

  it('keep an approval in use when a call ends that does not use it', async () => {
    const args = { text: 'in use', hold: true };
    const id = await permit('ledger_write', args);
    const running = test.call('ledger_write', args);
    await expect.poll(() => state(id)).toBe('executing');
    const approval = await test.kernel.approvals.get(id);
    if (!approval) throw new Error('The permit is missing.');
    for (const outcome of [
      { status: 'ok', data: {}, notes: {}, replayed: false },
      { status: 'failed', fault: new ToolError('unavailable', 'Closed.', { effect: 'none' }) },
    ] as const)
      await writeWithEvidence(store.database, (write) =>
        finishUse(write, { approval, callId: 'another', partDone: false }, outcome, {}, new Date(now)),
      );
    expect(await test.kernel.approvals.get(id)).toEqual(approval);
    test.release();
    expect((await running).outcome.status).toBe('ok');
    expect(await state(id)).toBe('done');
  });

  it('give an answer in a dialog only for the text that was shown', async () => {
    const id = await route({ text: 'shown' });
    const bound = await test.inventory.resolve('ledger_write');
    if (!bound) throw new Error('no tool');
    const about = async () => {
      const deciding = { ...bound, tool: { ...bound.tool, decides: () => ({ ids: [id] }) } };
      return (await describeDecisionTargets(test.kernel.queue, deciding, {})).about;
    };
    const shown = await about();
    expect(await about()).toBe(shown);
    await test.kernel.approvals.edit(id, PERSON, { text: 'edited' });
    expect(await about()).not.toBe(shown);
  });

  it('do not return an approval whose call failed after one of its parts was done', async () => {
    const id = await route({ texts: ['one'], fail: true }, 'ledger_batch');
    const { approval, outcome } = await test.kernel.approvals.approve(id, PERSON);
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'unavailable', retryable: true } });
    expect(approval.state).toBe('failed');
    expect(await test.lines()).toEqual(['one']);
    expect(await problems()).toEqual([]);
  });

  it('do not return a permit while one of the parts may have happened', async () => {
    const args = { texts: ['one'], doubt: true };
    await test.setPolicy({ require_approval_for: ['ledger_batch'] });
    const id = await permit('ledger_batch', { ...args, texts: ['two'] });
    const { callId, outcome } = await test.call('ledger_batch', { ...args, texts: ['two'] });
    expect(outcome.status).toBe('ok');
    const { db } = store.database;
    // Only the doubtful part is left, and the process died before it could record how the whole ended.
    await db.deleteFrom('calls').where('parent_id', '=', callId).where('status', '=', 'ok').execute();
    await db.updateTable('calls').set({ status: 'indeterminate' }).where('call_id', '=', callId).execute();
    await db.updateTable('approvals').set({ state: 'indeterminate' }).where('id', '=', id).execute();
    expect(await test.kernel.settle(callId, false, PERSON)).toBe(true);
    expect(await test.kernel.approvals.get(id)).toMatchObject({
      state: 'failed',
      outcome: { message: expect.stringContaining('1 of its parts') },
    });
  });

  it('keep the outcome of the call that used a permit last, when an earlier one comes back', async () => {
    const args = { text: 'once', hold: true };
    const id = await permit('ledger_write', args);
    const first = test.call('ledger_write', args);
    await expect.poll(() => state(id)).toBe('executing');
    const lost = { holder_host: 'elsewhere', lease_until: new Date(now - HOUR).toISOString() };
    await store.database.db.updateTable('calls').set(lost).where('status', '=', 'running').execute();
    await test.kernel.recover();
    expect(await state(id)).toBe('approved');
    test.gate.broken = true;
    const second = await test.call('ledger_write', args);
    expect(second.outcome.status).toBe('failed');
    expect(await test.kernel.approvals.get(id)).toMatchObject({ state: 'failed', callId: second.callId });
    test.release();
    expect((await first).outcome.status).toBe('ok');
    expect(await test.kernel.approvals.get(id)).toMatchObject({ state: 'failed', callId: second.callId });
  });

  describe('after a process died', () => {
    it('run what was approved and never begun, once', async () => {
      const id = await route({ text: 'resumed' });
      await approveAndDie(id);
      now += 2 * MINUTE;
      expect(await test.kernel.recover()).toMatchObject({ resumed: 1 });
      expect(await test.kernel.recover()).toMatchObject({ resumed: 0 });
      expect(await test.lines()).toEqual(['resumed']);
      expect(await problems()).toEqual([]);
    });

    it('run nothing that has expired since then', async () => {
      const id = await route({ text: 'too late' });
      await approveAndDie(id);
      now += 25 * HOUR;
      await test.kernel.recover();
      expect(await test.lines()).toEqual([]);
      expect(await state(id)).not.toBe('done');
      expect(await problems()).toEqual([]);
    });

    it('run no permit, however old', async () => {
      const id = await permit('ledger_write', { text: 'permitted' });
      now += HOUR;
      expect(await test.kernel.recover()).toMatchObject({ resumed: 0 });
      expect(await test.lines()).toEqual([]);
      expect(await state(id)).toBe('approved');
    });

    it('leave the approval of a long change that is still running', async () => {
      const id = await route({ text: 'slow', hold: true });
      const running = test.kernel.approvals.approve(id, PERSON);
      await expect.poll(() => state(id)).toBe('executing');
      now += 2 * HOUR;
      await test.kernel.recover();
      expect(await state(id)).toBe('executing');
      test.release();
      expect((await running).approval.state).toBe('done');
    });

    it('leave a call whose process belongs to another user', async () => {
      const id = await route({ text: 'foreign', hold: true });
      const running = test.kernel.approvals.approve(id, PERSON);
      await expect.poll(() => state(id)).toBe('executing');
      const holder = { holder_pid: process.pid + 1 };
      await store.database.db.updateTable('calls').set(holder).where('status', '=', 'running').execute();
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
      });
      try {
        expect(await test.kernel.recover()).toMatchObject({ interrupted: 0 });
      } finally {
        kill.mockRestore();
      }
      expect(await state(id)).toBe('executing');
      test.release();
      expect((await running).approval.state).toBe('done');
    });
  });
});
