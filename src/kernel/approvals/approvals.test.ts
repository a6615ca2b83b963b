import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { verifyLog } from '../log/verify/verify.ts';

const ASK_WRITES = { require_approval_for: ['ledger_write'] };

describe.each(ENGINES)('approvals on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let clock: Date;

  const open = async (options = {}) => {
    test = await openTestKernel(store.database, store.dataDir, {
      policy: ASK_WRITES,
      now: () => clock,
      ...options,
    });
  };
  beforeEach(async () => {
    clock = new Date('2026-03-01T12:00:00Z');
    store = await openTestStore(engine);
    await open();
  });
  afterEach(() => store.close());

  const routed = (outcome: Outcome): number => {
    if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
    return outcome.approvalId;
  };
  const ask = async (text = 'hello', more = {}) =>
    routed((await test.call('ledger_write', { text }, more)).outcome);
  const pass = (hours: number) => {
    clock = new Date(clock.getTime() + hours * 3_600_000);
  };

  it('an approval that comes back after a passing fault can be given again, and the log stays a whole story', async () => {
    const args = { text: 'x', fail: 'before' };
    const id = routed((await test.call('ledger_write', args)).outcome);
    for (const _round of [1, 2]) {
      expect((await test.kernel.approvals.approve(id, PERSON)).outcome?.status).toBe('failed');
      expect((await test.kernel.approvals.get(id))?.state).toBe('pending');
    }
    const permit = await test.kernel.approvals.propose({
      tool: 'ledger_write',
      args: { text: 'y', fail: 'before' },
      requester: AGENT,
      reason: 'please',
      kind: 'permit',
    });
    await test.kernel.approvals.approve(permit.id, PERSON);
    for (const _round of [1, 2]) {
      expect((await test.call('ledger_write', { text: 'y', fail: 'before' })).outcome.status).toBe('failed');
      expect((await test.kernel.approvals.get(permit.id))?.state).toBe('approved');
    }
    await test.kernel.flush();
    expect((await verifyLog(store.database)).problems).toEqual([]);
  });

  it.each(['robot:r2', 'local', 'agent:'])(
    'refuses an approval whose stored requester is %s, and runs nothing',
    async (requester) => {
      const id = await ask();
      await store.database.db.updateTable('approvals').set({ requester }).where('id', '=', id).execute();
      await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toThrow(
        `Approval ${id} cannot be read. Run \`countersign audit verify\`.`,
      );
      expect(await test.lines()).toEqual([]);
    },
  );

  it('refuses a pending approval whose title was edited in the database, and runs nothing', async () => {
    const id = await ask();
    const edited = { summary: 'Like a kitten', gist: 'meow' };
    await store.database.db.updateTable('approvals').set(edited).where('id', '=', id).execute();
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({
      code: 'approval_invalid',
      message: expect.stringContaining('its title or content is not what was requested'),
    });
    expect(await test.lines()).toEqual([]);
  });

  it('warns of a decision that only the row has, and leaves a row that the log explains', async () => {
    const warnings = new Map<unknown, string>();
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (text: string, data: { readonly approval?: unknown } = {}) => warnings.set(data.approval, text),
    };
    await open({ log });
    const forged = { state: 'approved', decided_by: 'person:root', decided_at: clock.toISOString() };
    const [pending, rejected] = [await ask('pending'), await ask('rejected')];
    await test.kernel.approvals.reject(rejected, PERSON);
    await store.database.db.updateTable('approvals').set(forged).execute();
    pass(1);
    await test.kernel.recover();
    const why = 'Refused an approval: its row is not what the audit log has';
    expect([warnings.get(pending), warnings.get(rejected)]).toEqual([why, why]);
    expect(await test.lines()).toEqual([]);
    await test.kernel.flush();
    expect(await test.kernel.approvals.get(pending)).toMatchObject({ state: 'failed', decidedBy: undefined });
    expect(await test.kernel.approvals.get(rejected)).toMatchObject({ state: 'rejected', decidedBy: PERSON });
    expect((await verifyLog(store.database, { rows: true })).problems).toEqual([]);
  });

  it('stores the whole call, runs nothing, and notifies people', async () => {
    const { outcome } = await test.call('ledger_write', { text: 'hello' });
    expect(outcome).toMatchObject({ status: 'routed', reason: "tool 'ledger_write' requires approval" });
    const approval = await test.kernel.approvals.get(routed(outcome));
    expect(approval).toMatchObject({
      state: 'pending',
      tool: 'ledger_write',
      args: { text: 'hello' },
      requester: AGENT,
      summary: 'Write “hello” to the ledger (local)',
      kind: 'call',
    });
    expect(approval?.expiresAt).toEqual(new Date('2026-03-02T12:00:00Z'));
    expect(test.notified.map(({ id }) => id)).toEqual([approval?.id]);
    expect(await test.lines()).toEqual([]);
    expect(await test.kernel.approvals.get(approval?.uuid ?? '')).toEqual(approval);
  });

  it('executes exactly the stored call, as its requester, with the approver on record', async () => {
    const id = await ask();
    const { approval, outcome } = await test.kernel.approvals.approve(id, PERSON);
    expect(outcome).toMatchObject({
      status: 'ok',
      data: { written: 'hello', by: 'local', approved_by: 'ada' },
    });
    expect(approval).toMatchObject({ state: 'done', decidedBy: PERSON, outcome: { status: 'ok' } });
    expect(await test.lines()).toEqual(['hello']);
    const call = await test.kernel.telemetry.call(approval.callId ?? '');
    expect(call).toMatchObject({
      status: 'ok',
      transport: 'approval',
      principal: 'agent:local',
      approvalId: id,
    });
  });

  it('works once: of many decisions at the same time one counts and the others get an error', async () => {
    const id = await ask();
    // Some read the row before the first decision and the log after it.
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, async (_, turn) => {
        await new Promise((resolve) => setTimeout(resolve, turn));
        return test.kernel.approvals.approve(id, PERSON);
      }),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of results) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'approval_state' });
    }
    expect(await test.lines()).toEqual(['hello']);
    await expect(test.kernel.approvals.reject(id, PERSON)).rejects.toMatchObject({
      message: `Approval ${id} is already done (decided by person:ada).`,
    });
  });

  it('rejects all that match in one step, with an entry for each and one event, or none at all', async () => {
    for (let turn = 0; turn < 20; turn += 1) await ask(`${turn % 2 ? 'odd' : 'even'} ${turn}`);
    const log = () =>
      store.database.db.selectFrom('audit_log').select('body').where('kind', '=', 'approval').execute();
    const events = () => store.database.db.selectFrom('events').select('data').execute();
    const [entriesBefore, eventsBefore] = [await log(), await events()];
    const reject = (total: number) =>
      test.kernel.approvals.rejectMatching({ text: 'odd' }, PERSON, { reason: 'Not needed', total });

    await expect(reject(9)).rejects.toThrow('10 approvals match now, not 9. Review the list');
    expect(await test.kernel.approvals.count({ states: ['pending'] })).toBe(20);
    expect([await log(), await events()]).toEqual([entriesBefore, eventsBefore]);

    expect(await reject(10)).toBe(10);
    const rejected = await test.kernel.approvals.list({ states: ['rejected'] });
    expect(new Set(rejected.map(({ decisionReason }) => decisionReason))).toEqual(new Set(['Not needed']));
    const entries = (await log()).slice(entriesBefore.length).map(({ body }) => JSON.parse(body));
    expect(entries.map(({ approval }) => approval.uuid).sort()).toEqual(
      rejected.map(({ uuid }) => uuid).sort(),
    );
    for (const one of entries) expect(one).toMatchObject({ status: 'rejected', principal: 'person:ada' });
    expect((await events()).slice(eventsBefore.length).map(({ data }) => JSON.parse(data))).toEqual([
      { count: 10, state: 'rejected' },
    ]);
    await test.kernel.flush();
    expect((await verifyLog(store.database)).problems).toEqual([]);
  });

  it('keeps the reason and the feedback of a rejection and runs nothing', async () => {
    const id = await ask();
    const rejected = await test.kernel.approvals.reject(id, PERSON, {
      reason: 'too loud',
      feedback: 'whisper',
    });
    expect(rejected).toMatchObject({ state: 'rejected', decisionReason: 'too loud', feedback: 'whisper' });
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({ code: 'approval_state' });
    expect(await test.lines()).toEqual([]);
  });

  it('expires undecided approvals, and refuses a late approval', async () => {
    const id = await ask();
    const late = await ask('second');
    pass(25);
    await expect(test.kernel.approvals.approve(id, PERSON)).rejects.toMatchObject({ code: 'approval_state' });
    expect(await test.kernel.approvals.count({ states: ['pending'] })).toBe(0);
    expect((await test.kernel.approvals.get(late))?.state).toBe('expired');
  });

  it('lets a person edit: a new digest, validated again, the history kept, the edited call executed', async () => {
    const id = await ask();
    const before = await test.kernel.approvals.get(id);
    await expect(test.kernel.approvals.edit(id, PERSON, { text: '' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(test.kernel.approvals.edit(id, AGENT, { text: 'mine' })).rejects.toMatchObject({
      code: 'policy_denied_hard_rule',
    });
    const edited = await test.kernel.approvals.edit(id, PERSON, { text: 'HELLO' });
    expect(edited.digest).not.toBe(before?.digest);
    expect(edited.summary).toBe('Write “HELLO” to the ledger (local)');
    await test.kernel.approvals.approve(id, PERSON);
    expect(await test.lines()).toEqual(['HELLO']);
    const history = await store.database.db.selectFrom('approval_edits').selectAll().execute();
    expect(history).toMatchObject([
      { approval_id: id, editor: 'person:ada', old_args: '{"text":"hello"}', new_args: '{"text":"HELLO"}' },
    ]);
  });

  it('refuses a decision on a version that has been edited since', async () => {
    const id = await ask();
    const [approve, edit] = await Promise.allSettled([
      test.kernel.approvals.approve(id, PERSON),
      test.kernel.approvals.edit(id, PERSON, { text: 'other' }),
    ]);
    // Whichever came first, the ledger holds what the approver could see.
    const lines = await test.lines();
    if (approve.status === 'fulfilled' && edit.status === 'fulfilled') expect(lines).toEqual(['other']);
    else expect(lines).toEqual(approve.status === 'fulfilled' ? ['hello'] : []);
  });

  it('says before a decision what would refuse it, and decides nothing', async () => {
    const { approvals } = test.kernel;
    const id = await ask();
    const before = await approvals.get(id);
    expect(await approvals.requireApprovable(id, PERSON, { version: 1 })).toEqual(before);
    expect(await approvals.get(id)).toEqual(before);
    const refusals = [
      [() => approvals.requireApprovable(id, PERSON, { version: 2 }), 'edited after you opened it'],
      [() => approvals.requireApprovable(id, AGENT), 'agents may not decide approvals'],
      [() => approvals.requireApprovable(77, PERSON), 'not found'],
    ] as const;
    for (const [refused, why] of refusals) await expect(refused()).rejects.toThrow(why);
    await approvals.reject(id, PERSON);
    await expect(approvals.requireApprovable(id, PERSON)).rejects.toThrow(
      'already rejected (decided by person:ada)',
    );
    const late = await ask('late');
    pass(25);
    await expect(approvals.requireApprovable(late, PERSON)).rejects.toThrow('expired at');
    expect((await approvals.get(late))?.state).toBe('expired');
    expect(await test.lines()).toEqual([]);
  });

  it('satisfies only ask: what denies by then still refuses, and the row waits again', async () => {
    const id = await ask();
    await test.setPolicy({
      ...ASK_WRITES,
      blocked_tools: [],
      rules: [{ id: 'no', action: 'deny', tools: ['ledger_write'], priority: 1, enabled: true }],
    });
    const { approval, outcome } = await test.kernel.approvals.approve(id, PERSON);
    expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'policy_denied_user_rule' } });
    expect(approval).toMatchObject({ state: 'pending', decidedBy: undefined });
    await test.setPolicy(ASK_WRITES);
    await test.kernel.setPaused(true, PERSON);
    expect((await test.kernel.approvals.approve(id, PERSON)).approval.state).toBe('pending');
    await test.kernel.setPaused(false, PERSON);
    expect((await test.kernel.approvals.approve(id, PERSON)).approval.state).toBe('done');
    expect(await test.lines()).toEqual(['hello']);
  });

  it('waits again after a failure that did nothing and may pass later, and is done with after any other', async () => {
    const closed = routed((await test.call('ledger_write', { text: 'later', fail: 'before' })).outcome);
    const { approval, outcome } = await test.kernel.approvals.approve(closed, PERSON);
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'unavailable', retryable: true } });
    expect(approval).toMatchObject({ state: 'pending', decidedBy: undefined, outcome: { status: 'failed' } });
    const broken = routed((await test.call('ledger_write', { text: 'never', fail: 'crash' })).outcome);
    expect((await test.kernel.approvals.approve(broken, PERSON)).approval.state).toBe('failed');
  });

  it('refuses agents, their own calls always, others unless opened on purpose', async () => {
    const id = await ask();
    for (const agent of [AGENT, OTHER, { kind: 'system', id: 'scheduler' } as const]) {
      await expect(test.kernel.approvals.approve(id, agent)).rejects.toMatchObject({
        code: 'policy_denied_hard_rule',
      });
      await expect(test.kernel.approvals.reject(id, agent)).rejects.toMatchObject({
        code: 'policy_denied_hard_rule',
      });
    }
    await open({ agentsMayApprove: true });
    await expect(
      test.kernel.approvals.approve(id, { ...AGENT, label: 'somebody else' }),
    ).rejects.toMatchObject({ code: 'policy_denied_hard_rule' });
    const scouts = await ask('from a named agent', { principal: { kind: 'agent', id: 'scout' } });
    expect((await test.kernel.approvals.approve(scouts, OTHER)).approval.state).toBe('done');
  });

  it('asks for every destroy, regardless of the rules', async () => {
    await test.setPolicy({ rules: [{ id: 'all', action: 'allow', priority: 1, enabled: true }] });
    expect((await test.call('ledger_erase', { text: 'hello' })).outcome.status).toBe('routed');
    await test.setPolicy({ enforce_for_mutations: false });
    expect((await test.call('ledger_erase', { text: 'hello' })).outcome.status).toBe('routed');
  });

  it('gives a repeated call under one key the same row, and its answer once approved', async () => {
    const first = await ask('keyed', { idempotencyKey: 'k' });
    expect(await ask('keyed', { idempotencyKey: 'k' })).toBe(first);
    await test.kernel.approvals.approve(first, PERSON);
    const again = await test.call('ledger_write', { text: 'keyed' }, { idempotencyKey: 'k' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true, data: { written: 'keyed' } });
    expect(await test.lines()).toEqual(['keyed']);
  });

  it('covers the calls of an approved composite, and only those', async () => {
    await test.setPolicy({ require_approval_for: ['ledger_write', 'ledger_batch'] });
    const id = routed((await test.call('ledger_batch', { texts: ['a', 'b'] })).outcome);
    const { outcome } = await test.kernel.approvals.approve(id, PERSON);
    expect(outcome).toMatchObject({ status: 'ok', data: { statuses: ['ok', 'ok'] } });
    await test.setPolicy(ASK_WRITES);
    const unapproved = await test.call('ledger_batch', { texts: ['c'] });
    expect(unapproved.outcome).toMatchObject({ status: 'ok', data: { statuses: ['routed'] } });
    expect(await test.lines()).toHaveLength(2);
  });

  describe('permits', () => {
    const request = async (text: string) =>
      test.kernel.approvals.propose({
        tool: 'ledger_permitted',
        args: { text },
        requester: AGENT,
        reason: 'please',
        kind: 'permit',
      });
    const use = (text: string, approval_id: string) => test.call('ledger_permitted', { text, approval_id });

    it('let the one exact call through once', async () => {
      const { uuid, id } = await request('line');
      expect((await use('line', uuid)).outcome).toMatchObject({
        status: 'refused',
        fault: { code: 'approval_required' },
      });
      const { outcome } = await test.kernel.approvals.approve(id, PERSON);
      expect(outcome).toBeUndefined();
      expect(await test.lines()).toEqual([]);
      expect((await use('another line', uuid)).outcome).toMatchObject({
        status: 'refused',
        fault: { code: 'approval_invalid' },
      });
      expect((await use('line', uuid)).outcome).toMatchObject({ status: 'ok' });
      expect((await use('line', uuid)).outcome).toMatchObject({ fault: { code: 'approval_invalid' } });
      expect(await test.lines()).toEqual(['line']);
    });

    it('are void when what they are bound to has moved, or after their time', async () => {
      const first = await request('line');
      await test.kernel.approvals.approve(first.id, PERSON);
      await test.setPolicy({});
      await test.call('ledger_write', { text: 'moved' });
      expect((await use('line', first.uuid)).outcome).toMatchObject({ fault: { code: 'approval_invalid' } });
      const second = await request('line');
      await test.kernel.approvals.approve(second.id, PERSON);
      pass(25);
      expect((await use('line', second.uuid)).outcome).toMatchObject({ fault: { code: 'approval_invalid' } });
      expect(await test.lines()).toEqual(['moved']);
    });

    it('are not checked by a dry run', async () => {
      const { outcome } = await test.call('ledger_permitted', {
        text: 'line',
        approval_id: 'none',
        dry_run: true,
      });
      expect(outcome).toMatchObject({ status: 'dry_run', data: { would_write: 'line' } });
    });

    it('run once when used twice at the same time', async () => {
      const { uuid, id } = await request('line');
      await test.kernel.approvals.approve(id, PERSON);
      const outcomes = (await Promise.all([use('line', uuid), use('line', uuid), use('line', uuid)])).map(
        ({ outcome }) => outcome.status,
      );
      expect(outcomes.filter((status) => status === 'ok')).toHaveLength(1);
      expect(await test.lines()).toEqual(['line']);
    });

    it('spare a call that policy asks for, without naming the permit', async () => {
      const permit = await test.kernel.approvals.propose({
        tool: 'ledger_write',
        args: { text: 'ahead' },
        requester: AGENT,
        reason: 'r',
        kind: 'permit',
      });
      await test.kernel.approvals.approve(permit.id, PERSON);
      expect((await test.call('ledger_write', { text: 'ahead' }, { principal: OTHER })).outcome.status).toBe(
        'routed',
      );
      expect((await test.call('ledger_write', { text: 'ahead' })).outcome).toMatchObject({
        status: 'ok',
        data: { approved_by: 'ada' },
      });
      expect((await test.call('ledger_write', { text: 'ahead' })).outcome.status).toBe('routed');
    });
  });
});
