import type { Updateable } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Obstacle } from '../../contract/toolkit.ts';
import { leafHash } from '../../lib/merkle.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ADA, AT, type DecisionOptions, minutesLater, OK, openDecisions } from './approvals.fixture.ts';
import { createApprovals } from './service.ts';

const OTHER: Principal = { kind: 'agent', id: 'other' };
const CLOSED = new ToolError('unavailable', 'Closed.');
const REFUSED: Outcome = { status: 'refused', fault: CLOSED, rule: 'x' };
const DRY: Outcome = { status: 'dry_run', data: 1, notes: {}, rule: 'x' };
const FAILED: Outcome = { status: 'failed', fault: CLOSED };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const table of ['approvals', 'approval_edits', 'approval_previews'] as const)
    await store.database.db.deleteFrom(table).execute();
});

const open = (options?: DecisionOptions) => openDecisions(store.database, options);
const set = ({ id }: Approval, columns: Updateable<ApprovalsTable>) =>
  store.database.db.updateTable('approvals').set(columns).where('id', '=', id).execute();
const entriesOf = async ({ uuid }: Approval) => {
  const rows = await store.database.db
    .selectFrom('audit_log')
    .select('body')
    .where('body', 'like', `%${uuid}%`)
    .orderBy('seq')
    .execute();
  return rows.map(({ body }) => JSON.parse(body));
};

describe('an approval by a person', () => {
  it('stores who, when and why, and runs the call', async () => {
    const { approvals, ask, read, ran, invoked, setClock } = open();
    const [bystander, asked] = [await ask(), await ask()];
    setClock(minutesLater(1));
    const { approval, outcome } = await approvals.approve(asked.id, ADA, { note: 'fine', version: 1 });
    expect(outcome).toBe(OK);
    const decided = { decidedBy: ADA, decidedAt: minutesLater(1), decisionReason: 'fine' };
    expect(ran).toEqual([{ ...asked, ...decided, state: 'approved', version: 2 }]);
    expect(invoked).toEqual([]);
    expect(await read(bystander)).toEqual(bystander);
    // Another call gave the answer: the row still was approved when it came back.
    const data = { status: 'ok', data: 1, notes: {} };
    expect(approval).toEqual({ ...asked, ...decided, state: 'done', outcome: data, version: 3 });
  });

  it('leaves no reason where none is given, and decides a permit without running it', async () => {
    const { approvals, ask, ran } = open();
    const permit = await ask({ kind: 'permit' });
    const decided = await approvals.approve(permit.id, ADA);
    expect(decided).toMatchObject({ approval: { state: 'approved', decisionReason: undefined } });
    expect(decided.outcome).toBeUndefined();
    expect(ran).toEqual([]);
  });

  it.each<[string, Outcome]>([
    ['refused', REFUSED],
    ['only shown', DRY],
  ])('is asked for again when the call was %s', async (_what, outcome) => {
    const { approvals, ask } = open({ outcome });
    const { id } = await ask();
    const { approval } = await approvals.approve(id, ADA);
    expect(approval).toMatchObject({ state: 'pending', decidedBy: undefined, decidedAt: undefined });
    expect(approval.outcome).toMatchObject({ status: outcome.status });
    expect((await entriesOf(approval)).at(-1)).toMatchObject({
      status: 'pending',
      principal: 'system:kernel',
    });
  });

  it.each([
    ['used up when the call can only fail again', 'validation_error', 'failed', ADA],
    ['pending again when the call may succeed later', 'unavailable', 'pending', undefined],
    ['pending again when a limit of the toolkit is full', 'policy_denied_hard_rule', 'pending', undefined],
  ] as const)('is %s', async (_what, code, state, decidedBy) => {
    const fault = new ToolError(code, 'Nothing was done.');
    const { approvals, ask } = open({ outcome: { status: 'failed', fault } });
    const { approval } = await approvals.approve((await ask()).id, ADA);
    expect(approval).toMatchObject({ state, decidedBy, outcome: { code } });
  });

  it('gives what became of the row where the call has moved it', async () => {
    const test = open();
    const asked = await test.ask();
    const { queue } = test;
    const moving = createApprovals({
      queue,
      agentsMayApprove: false,
      async run(_bound, approval) {
        await set(approval, { state: 'indeterminate', version: 9 });
        return FAILED;
      },
      invoke: async () => OK,
      limitsOf: async () => [],
      ruleLabel: () => undefined,
    });
    const { approval, outcome } = await moving.approve(asked.id, ADA);
    expect(approval).toMatchObject({ state: 'indeterminate', version: 9 });
    expect(outcome).toBe(FAILED);
  });

  it('is refused for a version that the person has not seen, while it is pending', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    await expect(approvals.approve(asked.id, ADA, { version: 2 })).rejects.toMatchObject({
      code: 'approval_state',
      message: 'This approval was edited after you opened it. Review it before you decide.',
      detail: { id: asked.id, state: 'pending' },
    });
    expect(await read(asked)).toEqual(asked);
    await approvals.reject(asked.id, ADA);
    await expect(approvals.approve(asked.id, ADA, { version: 1 })).rejects.toThrow('is already rejected');
  });

  it('is refused for an approval that does not exist, or whose tool does not', async () => {
    const { approvals, ask } = open();
    await expect(approvals.approve('none', ADA)).rejects.toMatchObject({
      code: 'not_found',
      message: 'Approval none not found.',
      detail: { id: 'none' },
    });
    const [call, permit] = [await ask(), await ask({ kind: 'permit' })];
    const without = open({ resolve: async () => undefined });
    await expect(without.approvals.approve(call.id, ADA)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('Tool ledger_write no longer exists'),
    });
    // A permit runs nothing now; without the tool it is a person's signature that decides.
    await expect(without.approvals.approve(permit.id, ADA)).rejects.toMatchObject({
      code: 'signature_required',
    });
  });

  it('is refused where a signature is required, with the place to give it', async () => {
    const { approvals, ask, read } = open({
      signersFor: async () => 2,
      inboxUrl: async (id) => `https://example.com/inbox/${id}`,
    });
    const asked = await ask();
    await expect(approvals.approve(asked.id, ADA)).rejects.toMatchObject({
      code: 'signature_required',
      detail: { signers: 2, signed: 0, sign_url: `https://example.com/inbox/${asked.id}` },
    });
    expect(await read(asked)).toEqual(asked);
  });

  it('is refused from the moment of expiry, which closes the row', async () => {
    const { approvals, ask, read, setClock } = open();
    const asked = await ask();
    setClock(minutesLater(60));
    await expect(approvals.approve(asked.id, ADA)).rejects.toMatchObject({
      code: 'approval_state',
      message: expect.stringContaining(`Approval ${asked.id} expired at`),
      detail: { id: asked.id, state: 'expired' },
    });
    expect(await read(asked)).toMatchObject({ state: 'expired', decidedBy: undefined });
    expect((await entriesOf(asked)).at(-1)).toMatchObject({ status: 'expired', principal: 'system:clock' });
  });

  it('is not withdrawn by a decision that comes after the time of the permit', async () => {
    const { approvals, ask, read, setClock } = open();
    const { approval } = await approvals.approve((await ask({ kind: 'permit' })).id, ADA);
    setClock(minutesLater(60));
    await expect(approvals.reject(approval.id, ADA)).rejects.toThrow(
      'is already approved (decided by person:ada)',
    );
    expect(await read(approval)).toEqual(approval);
  });

  it('is refused for a row that contradicts the log, which closes it', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    await set(asked, { args: '{"text":"forged"}' });
    const forged = await read(asked);
    await expect(approvals.present(forged)).rejects.toMatchObject({ code: 'approval_invalid' });
    expect(await read(asked)).toEqual(forged);
    await expect(approvals.approve(asked.id, ADA)).rejects.toMatchObject({ code: 'approval_invalid' });
    expect(await read(asked)).toMatchObject({ state: 'failed' });
  });

  it('does not take an entry that cannot be read for a forgery', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    const body = `{"approval":{"uuid":"${asked.uuid}"`;
    await store.database.db
      .updateTable('audit_log')
      .set({ body, hash: leafHash(body) })
      .where('body', 'like', `%${asked.uuid}%`)
      .execute();
    await expect(approvals.approve(asked.id, ADA)).rejects.toThrow(SyntaxError);
    expect(await read(asked)).toEqual(asked);
  });

  it('does not take a decision that came in between for a forgery', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    await approvals.reject(asked.id, ADA);
    // As it was read before the other decision.
    await expect(approvals.present(asked)).resolves.toBeDefined();
    expect(await read(asked)).toMatchObject({ state: 'rejected' });
  });
});

describe('what keeps an approved call from running', () => {
  const error = new ToolError('not_allowed', 'No project is open.');
  const remedy = { tool: 'open_project', args: { path: 'p' } };
  /** Obstacles in the order in which they are met. */
  const meeting = (...met: readonly (Obstacle | undefined)[]) => {
    let turn = 0;
    return { toolkit: { obstacle: async () => met[turn++] } };
  };

  it('is said before it is decided', async () => {
    for (const obstacle of [{ error }, { error, remedy }]) {
      const { approvals, ask, read, invoked } = open(meeting(obstacle));
      const asked = await ask();
      await expect(approvals.approve(asked.id, ADA)).rejects.toBe(error);
      expect(await read(asked)).toEqual(asked);
      expect(invoked).toEqual([]);
    }
  });

  it('does not matter any more once it is decided', async () => {
    const { approvals, ask } = open(meeting({ error }));
    const asked = await ask();
    await approvals.reject(asked.id, ADA);
    await expect(approvals.approve(asked.id, ADA)).rejects.toThrow('is already rejected');
  });

  it('is not removed for an agent, nor where there is no way', async () => {
    const agents = open({ ...meeting({ error, remedy }), agentsMayApprove: true });
    const asked = await agents.ask({ requester: { kind: 'agent', id: 'scout' } });
    await expect(agents.approvals.approve(asked.id, OTHER, { prepare: true })).rejects.toBe(error);
    const { approvals, ask } = open(meeting({ error }));
    await expect(approvals.approve((await ask()).id, ADA, { prepare: true })).rejects.toBe(error);
  });

  it('is removed first where the person agreed to it', async () => {
    const { approvals, ask, invoked, ran } = open(meeting({ error, remedy }));
    const { approval } = await approvals.approve((await ask()).id, ADA, { prepare: true });
    expect(approval.state).toBe('done');
    expect(invoked).toEqual([['open_project', { path: 'p' }, ADA]]);
    expect(ran).toHaveLength(1);
  });

  it('keeps the approval pending when removing it fails or is not enough', async () => {
    const failing = open({ ...meeting({ error, remedy }), invoke: async () => FAILED });
    const first = await failing.ask();
    await expect(failing.approvals.approve(first.id, ADA, { prepare: true })).rejects.toBe(CLOSED);
    expect(await failing.read(first)).toEqual(first);
    const more = open(meeting({ error, remedy }, { error: CLOSED, remedy }));
    const second = await more.ask();
    await expect(more.approvals.approve(second.id, ADA, { prepare: true })).rejects.toBe(CLOSED);
    expect(await more.read(second)).toEqual(second);
  });

  it('makes it pending and undecided again when it appears after the decision', async () => {
    const { approvals, ask, read, ran } = open(meeting(undefined, { error }));
    const asked = await ask();
    await expect(approvals.approve(asked.id, ADA)).rejects.toBe(error);
    expect(await read(asked)).toMatchObject({ state: 'pending', decidedBy: undefined, decidedAt: undefined });
    expect(ran).toEqual([]);
  });

  it('makes it pending and undecided again when its tool is gone by then', async () => {
    const { approvals, ask, read } = open();
    const asked = await ask();
    await set(asked, { state: 'approved', decided_by: 'person:ada', decided_at: AT.toISOString() });
    const without = open({ resolve: async () => undefined });
    await expect(without.approvals.execute(await read(asked))).rejects.toMatchObject({ code: 'not_found' });
    expect(await approvals.get(asked.id)).toMatchObject({
      state: 'pending',
      decidedBy: undefined,
      decidedAt: undefined,
    });
  });

  it('is another process where only that can run it; what none takes is pending again', async () => {
    const { approvals, ask, read, ran, setClock } = open({ toolkit: { servedElsewhere: true } });
    const asked = await ask();
    await set(asked, { state: 'approved', decided_by: 'person:ada', decided_at: AT.toISOString() });
    setClock(minutesLater(1));
    await expect(approvals.execute(await read(asked))).rejects.toMatchObject({ code: 'server_unavailable' });
    expect(await read(asked)).toMatchObject({ state: 'pending', decidedBy: undefined });
    expect(ran).toEqual([]);
  });
});

describe('a rejection', () => {
  it('stores its reason and feedback, or none', async () => {
    const { approvals, ask, setClock } = open();
    setClock(minutesLater(2));
    const said = { reason: 'too loud', feedback: 'whisper' };
    expect(await approvals.reject((await ask()).id, ADA, said)).toMatchObject({
      state: 'rejected',
      decidedBy: ADA,
      decidedAt: minutesLater(2),
      decisionReason: 'too loud',
      feedback: 'whisper',
    });
    const silent = await approvals.reject((await ask()).id, ADA);
    expect(silent).toMatchObject({ decisionReason: undefined, feedback: undefined });
    await expect(approvals.reject(silent.id, ADA)).rejects.toMatchObject({
      code: 'approval_state',
      detail: { id: silent.id, state: 'rejected' },
    });
  });

  it('is refused for an approval that does not exist', async () => {
    await expect(open().approvals.reject(1_000_000, ADA)).rejects.toMatchObject({
      code: 'not_found',
      detail: { id: '1000000' },
    });
  });

  it('of many is for people, and for what they saw', async () => {
    const { approvals, ask, setClock, read } = open();
    const all = [await ask({ args: { text: 'one' } }), await ask({ args: { text: 'two' } })];
    const done = await ask({ args: { text: 'done' } });
    await set(done, { state: 'done' });
    setClock(minutesLater(3));
    await expect(approvals.rejectMatching({}, OTHER, { total: 2 })).rejects.toMatchObject({
      code: 'policy_denied_hard_rule',
    });
    await expect(approvals.rejectMatching({}, ADA, { total: 3 })).rejects.toMatchObject({
      code: 'approval_state',
      detail: { total: 2 },
    });
    for (const one of all) expect((await read(one)).state).toBe('pending');
    const other = await ask({ args: { text: 'another' } });
    expect(await approvals.rejectMatching({ text: 'another' }, ADA, { total: 1 })).toBe(1);
    expect((await read(other)).state).toBe('rejected');
    expect(await approvals.rejectMatching({}, ADA, { total: 2, feedback: 'less' })).toBe(2);
    for (const one of all)
      expect(await read(one)).toMatchObject({
        state: 'rejected',
        decidedBy: ADA,
        decidedAt: minutesLater(3),
        decisionReason: undefined,
        feedback: 'less',
      });
    expect((await entriesOf(all[0] ?? done)).at(-1)).toMatchObject({ principal: 'person:ada' });
    expect((await read(done)).state).toBe('done');
  });

  it('of many leaves what has expired to the clock', async () => {
    const { approvals, ask, setClock, read } = open();
    const asked = await ask();
    setClock(minutesLater(60));
    expect(await approvals.rejectMatching({}, ADA, { total: 0 })).toBe(0);
    expect((await read(asked)).state).toBe('expired');
  });
});

describe('a withdrawal', () => {
  it('is for the requester or a person', async () => {
    const { approvals, ask, setClock, read } = open();
    setClock(minutesLater(4));
    const asked = await ask();
    await expect(approvals.withdraw(asked.id, OTHER)).rejects.toMatchObject({
      code: 'policy_denied_hard_rule',
    });
    expect(await read(asked)).toEqual(asked);
    expect(await approvals.withdraw(asked.id, LOCAL_AGENT)).toMatchObject({
      state: 'withdrawn',
      decidedBy: LOCAL_AGENT,
      decidedAt: minutesLater(4),
    });
    expect(await approvals.withdraw((await ask()).id, ADA)).toMatchObject({ decidedBy: ADA });
    await expect(approvals.withdraw(asked.id, ADA)).rejects.toMatchObject({ code: 'approval_state' });
  });
});
