import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/contract/outcome.ts';
import type { Principal } from '../../src/contract/principal.ts';
import type { CallState } from '../../src/kernel/call/call.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { uuidv7 } from '../../src/lib/random.ts';
import { openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const SCOUT: Principal = { kind: 'agent', id: 'scout' };
const ASSISTANT: Principal = { kind: 'agent', id: 'assistant' };
const SCHEDULER: Principal = { kind: 'system', id: 'scheduler' };

describe('what would loosen governance', () => {
  let store: TestStore;
  let test: TestKernel;

  const open = async (options = {}) => {
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write', 'ledger_read'] },
      ...options,
    });
  };
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    await open();
  });
  afterEach(() => store.close());

  const routed = (outcome: Outcome): number => {
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const ask = async (principal: Principal, text = 'hello') =>
    routed((await test.call('ledger_write', { text }, { principal })).outcome);

  describe('agents that may approve', () => {
    beforeEach(() => open({ agentsMayApprove: true }));
    const denied = { code: 'policy_denied_hard_rule' };

    it('decide for another agent when both are known by their tokens', async () => {
      const { approval } = await test.kernel.approvals.approve(await ask(SCOUT), OTHER);
      expect(approval.state).toBe('done');
    });

    it('cannot become a second pair of eyes by leaving their token away', async () => {
      await expect(test.kernel.approvals.approve(await ask(SCOUT), AGENT)).rejects.toMatchObject(denied);
      await expect(test.kernel.approvals.approve(await ask(AGENT), OTHER)).rejects.toMatchObject(denied);
      expect(await test.lines()).toEqual([]);
    });

    it('cannot decide what they may have had the assistant or the scheduler ask for', async () => {
      for (const proxy of [ASSISTANT, SCHEDULER]) {
        await expect(test.kernel.approvals.approve(await ask(proxy), OTHER)).rejects.toMatchObject(denied);
      }
      await expect(test.kernel.approvals.approve(await ask(SCOUT), ASSISTANT)).rejects.toMatchObject(denied);
      expect(await test.lines()).toEqual([]);
    });

    it('decide what the system proposed', async () => {
      const id = await ask({ kind: 'system', id: 'mentions' });
      expect((await test.kernel.approvals.approve(id, AGENT)).approval.state).toBe('done');
    });
  });

  it('an approval runs only what it was given for, even if its row was changed in the store', async () => {
    const id = await ask(AGENT, 'harmless');
    await store.database.db
      .updateTable('approvals')
      .set({ args: JSON.stringify({ text: 'swapped' }) })
      .where('id', '=', id)
      .execute();
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'approval_invalid',
    });
    expect(await test.lines()).toEqual([]);
  });

  it('an edit that spells out dry_run: false still runs what was approved', async () => {
    const id = await ask(AGENT);
    await test.kernel.approvals.edit(id, PERSON, { text: 'edited', dry_run: false });
    expect((await test.kernel.approvals.approve(id, PERSON)).outcome?.status).toBe('ok');
    expect(await test.lines()).toEqual(['edited']);
  });

  it('a decision on a version that has been edited since is none', async () => {
    const id = await ask(AGENT);
    const seen = await test.kernel.approvals.get(id);
    await test.kernel.approvals.edit(id, PERSON, { text: 'edited' });
    const approve = test.kernel.approvals.approve(id, PERSON, { version: seen?.version });
    await expect(approve).rejects.toMatchObject({ code: 'approval_state' });
    expect(await test.lines()).toEqual([]);
  });

  it('a permit is for the agent that requested it, even if another learns its id', async () => {
    const permit = await test.kernel.approvals.propose({
      tool: 'ledger_permitted',
      args: { text: 'line' },
      requester: SCOUT,
      reason: 'please',
      kind: 'permit',
    });
    await test.kernel.approvals.approve(permit.id, PERSON);
    const use = (principal: Principal) =>
      test.call('ledger_permitted', { text: 'line', approval_id: permit.uuid }, { principal });
    expect((await use(OTHER)).outcome).toMatchObject({
      status: 'refused',
      fault: { code: 'approval_invalid' },
    });
    expect((await use(SCOUT)).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['line']);
  });

  it('a permit for a read works once', async () => {
    const permit = await test.kernel.approvals.propose({
      tool: 'ledger_read',
      args: {},
      requester: AGENT,
      reason: 'please',
      kind: 'permit',
    });
    await test.kernel.approvals.approve(permit.id, PERSON);
    expect((await test.call('ledger_read', {})).outcome.status).toBe('ok');
    expect((await test.call('ledger_read', {})).outcome.status).toBe('routed');
    expect((await test.kernel.approvals.get(permit.id))?.state).toBe('done');
  });

  it('an approved read is done, with what it gave', async () => {
    const id = routed((await test.call('ledger_read', {})).outcome);
    const { approval, outcome } = await test.kernel.approvals.approve(id, PERSON);
    expect(outcome).toMatchObject({ status: 'ok', data: { count: 0 } });
    expect(approval).toMatchObject({ state: 'done', outcome: { status: 'ok' } });
  });

  it('an approved read whose process died is closed later, so that it can be asked for again', async () => {
    let now = Date.now();
    await open({ now: () => new Date(now) });
    const id = routed((await test.call('ledger_read', {})).outcome);
    const { uuid } = (await test.kernel.approvals.get(id)) ?? {};
    await store.database.db
      .updateTable('approvals')
      .set({ state: 'executing', call_id: uuidv7(now) })
      .where('id', '=', id)
      .execute();
    await test.kernel.recover();
    expect(await test.kernel.approvals.get(id), uuid).toMatchObject({ state: 'executing' });
    now += 2 * 60 * 60_000;
    await test.kernel.recover();
    expect(await test.kernel.approvals.get(id)).toMatchObject({
      state: 'failed',
      outcome: { status: 'failed', message: expect.stringContaining('retry') },
    });
  });

  it('the answer of another agent is not shown to one that may not make the call', async () => {
    const rule = {
      id: 'not-other',
      tools: ['ledger_write'],
      action: 'deny' as const,
      principals: ['agent:other'],
    };
    await test.setPolicy({ rules: [{ ...rule, priority: 1, enabled: true }] });
    const args = { text: 'first', run_id: 'run-1' };
    expect((await test.call('ledger_write', args)).outcome.status).toBe('ok');
    expect((await test.call('ledger_write', args)).outcome).toMatchObject({ status: 'ok', replayed: true });
    const third = await test.call('ledger_write', args, { principal: SCOUT });
    expect(third.outcome).toMatchObject({ status: 'ok', replayed: true });
    const denied = await test.call('ledger_write', args, { principal: OTHER });
    expect(denied.outcome).toMatchObject({ status: 'refused', rule: 'not-other' });
    expect(await test.lines()).toEqual(['first']);
  });

  it('the answer of another agent is shown to one whose own call requires approval only after a person approved', async () => {
    const rule = { id: 'ask-other', tools: ['ledger_write'], action: 'ask' as const };
    const ask = { ...rule, principals: ['agent:other', 'agent:scout'], priority: 1, enabled: true };
    await test.setPolicy({ rules: [ask] });
    const args = { text: 'first', run_id: 'run-1' };
    expect((await test.call('ledger_write', args)).outcome.status).toBe('ok');
    const asked = await test.call('ledger_write', args, { principal: OTHER });
    expect(asked.outcome).toMatchObject({ status: 'routed', rule: 'ask-other' });
    const told = await test.kernel.approvals.approve(routed(asked.outcome), PERSON);
    expect(told).toMatchObject({ approval: { state: 'done' }, outcome: { status: 'ok', replayed: true } });

    const permit = { tool: 'ledger_write', args, requester: SCOUT, reason: 'r', kind: 'permit' as const };
    const { id } = await test.kernel.approvals.propose(permit);
    expect((await test.call('ledger_write', args, { principal: SCOUT })).outcome.status).toBe('routed');
    await test.kernel.approvals.approve(id, PERSON);
    const held = await test.call('ledger_write', args, { principal: SCOUT });
    expect(held.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await test.lines()).toEqual(['first']);
    await test.kernel.flush();
    expect((await verifyLog(store.database, { rows: true })).problems).toEqual([]);
  });

  it('two agents that ask for the same within a run wait in rows of their own, and it happens once', async () => {
    const args = { text: 'both', run_id: 'run-1' };
    const [mine, same, theirs] = [
      routed((await test.call('ledger_write', args)).outcome),
      routed((await test.call('ledger_write', args)).outcome),
      routed((await test.call('ledger_write', args, { principal: OTHER })).outcome),
    ];
    expect(same).toBe(mine);
    expect(await test.kernel.approvals.get(theirs)).toMatchObject({ requester: OTHER });
    expect((await test.kernel.approvals.approve(theirs, PERSON)).outcome?.status).toBe('ok');
    const second = await test.kernel.approvals.approve(mine, PERSON);
    expect(second).toMatchObject({ approval: { state: 'done' }, outcome: { replayed: true } });
    expect(await test.lines()).toEqual(['both']);
  });

  it('that a call of another agent is indeterminate is shown only to one that may make it', async () => {
    const rule = { id: 'not-other', tools: ['ledger_write'], action: 'deny' as const, priority: 1 };
    await test.setPolicy({ rules: [{ ...rule, principals: ['agent:other'], enabled: true }] });
    const args = { text: 'lost', run_id: 'run-1', fail: 'unknown' };
    expect((await test.call('ledger_write', args)).outcome.status).toBe('ok');
    await store.database.db.updateTable('idempotency').set({ state: 'indeterminate' }).execute();
    const scout = await test.call('ledger_write', args, { principal: SCOUT });
    expect(scout.outcome).toMatchObject({ status: 'failed', fault: { code: 'indeterminate' } });
    const denied = await test.call('ledger_write', args, { principal: OTHER });
    expect(denied.outcome).toMatchObject({ status: 'refused', rule: 'not-other' });
  });

  it('what a dry run calls is a dry run too', async () => {
    await test.setPolicy({});
    const parent = { id: 'outer', dryRunRequested: true } as CallState;
    const { outcome } = await test.call('ledger_write', { text: 'inner' }, { parent });
    expect(outcome.status).toBe('dry_run');
    expect(await test.lines()).toEqual([]);
  });
});
