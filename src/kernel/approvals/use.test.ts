import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval } from '../../contract/ports.ts';
import { type EvidenceWork, writeWithEvidence } from '../log/write.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { AT, minutesLater, OK, rowOf } from './approvals.fixture.ts';
import { ask, move } from './move.ts';
import { toApproval } from './row.ts';
import { beginUse, closeLostReads, finishLate, finishUse, loseUse, settleUse } from './use.ts';

const NO_SIGNERS = { effect: 'change', atLeast: 0 };
const UNKNOWN: Outcome = { status: 'indeterminate', fault: new ToolError('timeout', 'No answer.') };
const failure = (code: 'unavailable' | 'internal', effect: 'none' | 'unknown'): Outcome => ({
  status: 'failed',
  fault: new ToolError(code, 'Closed.', { effect }),
});
/** It did nothing, and may be retried. */
const PASSING = failure('unavailable', 'none');
const REFUSED: Outcome = {
  status: 'refused',
  fault: new ToolError('unavailable', 'No.', { effect: 'none' }),
  rule: 'x',
};
const DATA = { answer: 42 };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());

const write = <T>(work: EvidenceWork<T>): Promise<T> => writeWithEvidence(store.database, work);
const insert = async (more: Partial<Insertable<ApprovalsTable>>): Promise<Approval> =>
  toApproval(
    await store.database.db
      .insertInto('approvals')
      .values(rowOf(more))
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
const read = async ({ id }: Pick<Approval, 'id'>): Promise<Approval> =>
  toApproval(
    await store.database.db
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow(),
  );
const lastEntry = async (): Promise<unknown> => {
  const { body } = await store.database.db
    .selectFrom('audit_log')
    .select('body')
    .orderBy('seq', 'desc')
    .executeTakeFirstOrThrow();
  return JSON.parse(body);
};
const executing = (more: Partial<Insertable<ApprovalsTable>> = {}): Promise<Approval> =>
  insert({
    state: 'executing',
    call_id: randomUUID(),
    decided_by: 'person:ada',
    decided_at: AT.toISOString(),
    ...more,
  });
const callOf = ({ callId = '' }: Approval): string => callId;

describe('the begin of a call under an approval', () => {
  /** Asked for and approved, in the row and in the log. */
  const approved = (more: Partial<Insertable<ApprovalsTable>> = {}): Promise<Approval> =>
    write(async (one) => {
      const { state: _state, version: _version, ...row } = rowOf(more);
      const { id } = await ask(one, row);
      const set = { state: 'approved', decided_by: 'person:ada', decided_at: AT.toISOString() } as const;
      const [moved] = await move(one, 'approve', { id }, set, { at: AT, by: 'person:ada' });
      if (!moved) throw new Error('It was not approved.');
      return toApproval(moved);
    });
  const begin = (approval: Approval, at = AT, need = NO_SIGNERS) =>
    write((one) => beginUse(one, { approval, callId: 'call-1', need }, at));
  const INVALID = { code: 'approval_invalid', message: expect.stringContaining('was already used') };

  it('uses it up for every other call', async () => {
    const approval = await approved();
    expect(await begin(approval)).toBe(0);
    const used = await read(approval);
    expect(used).toMatchObject({ state: 'executing', callId: 'call-1' });
    const refused = { ...INVALID, detail: { approval_id: approval.id } };
    await expect(begin(approval)).rejects.toMatchObject(refused);
    await expect(begin(used)).rejects.toMatchObject(refused);
  });

  it('is refused when the row has another digest or version than the call', async () => {
    const approval = await approved();
    await expect(begin({ ...approval, digest: 'another' })).rejects.toMatchObject(INVALID);
    await expect(begin({ ...approval, version: 1 })).rejects.toMatchObject(INVALID);
    expect(await read(approval)).toEqual(approval);
  });

  it('is refused from the moment at which the approval expires', async () => {
    const approval = await approved({ expires_at: minutesLater(5).toISOString() });
    await expect(begin(approval, minutesLater(5))).rejects.toMatchObject(INVALID);
    expect(await read(approval)).toMatchObject({ state: 'approved' });
    expect(await begin(approval, minutesLater(4))).toBe(0);
  });

  it('is refused, and nothing is used, when the log has no such decision', async () => {
    const approval = await insert({ state: 'approved', decided_by: 'person:ada' });
    await expect(begin(approval)).rejects.toThrow('the log has no request for it');
    expect(await read(approval)).toEqual(approval);
  });

  it('is refused while a required signature is missing', async () => {
    const approval = await approved();
    const need = { effect: 'change', atLeast: 1 };
    await expect(begin(approval, AT, need)).rejects.toMatchObject({ code: 'signature_required' });
    expect(await read(approval)).toEqual(approval);
  });
});

describe('the end of a call under an approval', () => {
  const finish = (
    approval: Approval,
    outcome: Outcome,
    { partDone = false, callId = callOf(approval) } = {},
  ) => write((one) => finishUse(one, { approval, callId, partDone }, outcome, DATA, minutesLater(1)));

  it.each<[string, string, Outcome, boolean]>([
    ['done', 'a success', OK, false],
    ['indeterminate', 'an unknown outcome', UNKNOWN, false],
    ['failed', 'a failure that does not pass', failure('internal', 'none'), false],
    ['failed', 'a failure that may have done something', failure('unavailable', 'unknown'), false],
    ['failed', 'a failure of which some parts are done', PASSING, true],
    ['failed', 'a refusal', REFUSED, false],
  ])('makes it %s after %s', async (state, _what, outcome, partDone) => {
    for (const kind of ['call', 'permit']) {
      const approval = await executing({ kind });
      await finish(approval, outcome, { partDone });
      expect(await read(approval)).toEqual({ ...approval, state, outcome: DATA, version: 2 });
    }
  });

  it('makes a call pending and undecided again after a failure that did nothing and may pass', async () => {
    const approval = await executing();
    await finish(approval, PASSING);
    const undecided = { decidedBy: undefined, decidedAt: undefined, callId: undefined };
    expect(await read(approval)).toEqual({
      ...approval,
      ...undecided,
      state: 'pending',
      outcome: DATA,
      version: 2,
    });
    expect(await lastEntry()).toMatchObject({
      status: 'returned',
      principal: 'system:kernel',
      at: minutesLater(1).toISOString(),
      extra: { call: callOf(approval) },
    });
  });

  it('leaves a permit approved, by the same person, after such a failure', async () => {
    const permit = await executing({ kind: 'permit' });
    await finish(permit, PASSING);
    const back = { state: 'approved', callId: undefined, outcome: DATA, version: 2 };
    expect(await read(permit)).toEqual({ ...permit, ...back });
  });

  it('changes nothing for a call that does not hold it', async () => {
    const approval = await executing();
    for (const outcome of [OK, PASSING]) await finish(approval, outcome, { callId: 'another' });
    expect(await read(approval)).toEqual(approval);
  });

  it('changes no other approval', async () => {
    const [one, other] = [await executing({ call_id: 'shared' }), await executing({ call_id: 'shared' })];
    await finish(one, OK);
    expect(await read(other)).toEqual(other);
    const third = await executing({ call_id: 'shared' });
    await finish(third, PASSING);
    expect(await read(other)).toEqual(other);
  });
});

describe('a call that others took for dead and that came back', () => {
  const comeBack = (approval: Approval, callId: string, outcome: Outcome) =>
    write((one) => finishLate(one, { approval, callId }, outcome, DATA, minutesLater(1)));

  it.each<['done' | 'indeterminate', Outcome]>([
    ['done', OK],
    ['indeterminate', UNKNOWN],
  ])('makes its approval %s, also when it was given back', async (state, outcome) => {
    const own = await insert({ state: 'indeterminate', call_id: 'mine' });
    const free = await insert({ state: 'approved', kind: 'permit' });
    const bystander = await insert({ state: 'approved', kind: 'permit' });
    for (const approval of [own, free]) {
      await comeBack(approval, 'mine', outcome);
      const late = { state, callId: 'mine', outcome: DATA, version: 2 };
      expect(await read(approval)).toEqual({ ...approval, ...late });
    }
    expect(await read(bystander)).toEqual(bystander);
  });

  it('leaves the approval as it is when it failed, or when another call has used it since', async () => {
    const own = await insert({ state: 'indeterminate', call_id: 'mine' });
    await comeBack(own, 'mine', PASSING);
    expect(await read(own)).toEqual(own);
    await comeBack(own, 'another', OK);
    expect(await read(own)).toEqual(own);
  });
});

describe('a call whose process died', () => {
  it('leaves its approval indeterminate', async () => {
    const [lost, other] = [await executing(), await executing()];
    const rows = await write((one) => loseUse(one, callOf(lost), AT));
    expect(rows.map(({ id }) => id)).toEqual([lost.id]);
    expect(await read(lost)).toEqual({ ...lost, state: 'indeterminate', version: 2 });
    expect(await read(other)).toEqual(other);
  });

  it('closes approvals of reads that began before a call and never ended, and no others', async () => {
    const lost = [
      await executing({ effect: 'read', call_id: '0001' }),
      await executing({ effect: 'read', call_id: '0002' }),
    ];
    const kept = [
      await executing({ effect: 'read', call_id: '0003' }),
      await executing({ effect: 'change', call_id: '0001' }),
      await insert({ effect: 'read', call_id: '0001', state: 'done' }),
    ];
    expect(await write((one) => closeLostReads(one, '0003', AT))).toBe(2);
    for (const approval of lost)
      expect(await read(approval)).toEqual({
        ...approval,
        state: 'failed',
        version: 2,
        outcome: {
          status: 'failed',
          code: 'internal',
          message: 'The process stopped before the read finished. Nothing was changed; retry.',
        },
      });
    for (const approval of kept) expect(await read(approval)).toEqual(approval);
    expect(await lastEntry()).toMatchObject({
      status: 'failed',
      principal: 'system:kernel',
      extra: { call: expect.stringMatching(/^000[12]$/) },
    });
    expect(await write((one) => closeLostReads(one, '0003', AT))).toBe(0);
  });
});

describe('an indeterminate call that is settled', () => {
  const unsure = (kind: string) =>
    insert({ kind, state: 'indeterminate', call_id: randomUUID(), decided_by: 'person:ada' });
  const settle = (approval: Approval, happened: boolean, usedUp: boolean) =>
    write((one) => settleUse(one, callOf(approval), { happened, usedUp, outcome: DATA }, AT));

  it.each([
    ['call', true, true, 'done'],
    ['call', false, true, 'failed'],
    // The decision on a call is used up either way: a person is asked again.
    ['call', false, false, 'failed'],
    ['permit', true, true, 'done'],
    ['permit', false, true, 'failed'],
  ])('ends a %s (happened: %s, used up: %s) as %s', async (kind, happened, usedUp, state) => {
    const bystanders = [await unsure('call'), await unsure('permit')];
    const approval = await unsure(kind);
    await settle(approval, happened, usedUp);
    for (const one of bystanders) expect(await read(one)).toEqual(one);
    expect(await read(approval)).toEqual({ ...approval, state, outcome: DATA, version: 2 });
  });

  it('leaves a permit valid when its call proved not to have happened', async () => {
    const [permit, bystander] = [await unsure('permit'), await unsure('permit')];
    await settle(permit, false, false);
    expect(await read(bystander)).toEqual(bystander);
    const back = { state: 'approved', callId: undefined, outcome: DATA, version: 2 };
    expect(await read(permit)).toEqual({ ...permit, ...back });
    expect(await lastEntry()).toMatchObject({ status: 'returned', extra: { call: callOf(permit) } });
  });
});
