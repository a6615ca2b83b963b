import { describe, expect, it } from 'vitest';
import type { Approval } from '../../contract/ports.ts';
import { AT, approvalOf } from './approvals.fixture.ts';
import { HAND_OVER_MS, handOver } from './hand-over.ts';

const MINUTE = 60_000;
const APPROVED = approvalOf({ state: 'approved', decidedAt: AT, version: 2 });

/** What another process makes of the approval, look by look, and how much time passes before each look. */
function watch(approval: Approval, ...looks: readonly { after: number; now: Partial<Approval> }[]) {
  let clock = AT.getTime();
  let turn = 0;
  const reopened: Approval[] = [];
  const ports = {
    async find(id: number): Promise<Approval> {
      const look = looks[turn];
      if (!look) throw new Error('It was looked at once more than expected.');
      turn += 1;
      clock += look.after;
      return { ...approval, ...look.now, id };
    },
    async reopen(current: Approval): Promise<Approval> {
      reopened.push(current);
      return { ...current, state: 'pending' };
    },
    now: () => new Date(clock),
  };
  return { run: () => handOver(approval, ports), reopened, looks: () => turn };
}

describe('a call that is handed over', () => {
  it('is waited for until the other process has run it', async () => {
    const done = { state: 'done', outcome: { status: 'ok', data: { written: 1 } } } as const;
    const { run, looks, reopened } = watch(
      APPROVED,
      { after: HAND_OVER_MS - 1, now: {} },
      { after: MINUTE, now: { state: 'executing' } },
      { after: MINUTE, now: done },
    );
    expect(await run()).toEqual({
      approval: { ...APPROVED, ...done },
      outcome: { status: 'ok', data: { written: 1 }, notes: {}, replayed: false },
    });
    expect([looks(), reopened]).toEqual([3, []]);
  });

  it('is pending again when no process takes it in time', async () => {
    const { run, looks, reopened } = watch(APPROVED, { after: HAND_OVER_MS, now: { version: 3 } });
    await expect(run()).rejects.toMatchObject({
      code: 'server_unavailable',
      effect: 'none',
      detail: { id: APPROVED.id, server: 'ledger' },
      message: expect.stringContaining(`Approval ${APPROVED.id} is still pending`),
    });
    expect(reopened).toEqual([{ ...APPROVED, version: 3 }]);
    expect(looks()).toBe(1);
  });

  it('has its time from now on where the row does not say when it was decided', async () => {
    const undated = { ...APPROVED, decidedAt: undefined };
    const { run, reopened } = watch(
      undated,
      { after: HAND_OVER_MS - 1, now: {} },
      { after: 1, now: { state: 'done' } },
    );
    expect((await run()).approval.state).toBe('done');
    expect(reopened).toEqual([]);
    const late = watch(undated, { after: HAND_OVER_MS, now: {} });
    await expect(late.run()).rejects.toMatchObject({ code: 'server_unavailable' });
  });

  it('has its time from the decision on, not from when the wait began', async () => {
    const decidedAt = new Date(AT.getTime() - HAND_OVER_MS);
    const { run } = watch({ ...APPROVED, decidedAt }, { after: 0, now: {} });
    await expect(run()).rejects.toMatchObject({ code: 'server_unavailable' });
  });

  it('is not waited for longer than calls run', async () => {
    const { run, looks, reopened } = watch(
      APPROVED,
      { after: 15 * MINUTE - 1, now: { state: 'executing' } },
      { after: 1, now: { state: 'executing' } },
    );
    expect(await run()).toEqual({ approval: { ...APPROVED, state: 'executing' }, outcome: undefined });
    expect([looks(), reopened]).toEqual([2, []]);
  });
});

describe('the outcome that another process stored', () => {
  const outcomeOf = async (state: Approval['state'], outcome: Approval['outcome']) =>
    (await watch(APPROVED, { after: 0, now: { state, outcome } }).run()).outcome;

  it('has no data where the call gave none', async () => {
    expect(await outcomeOf('done', { status: 'ok' })).toMatchObject({ status: 'ok', data: null });
  });

  it.each([
    ['refused', { status: 'refused', rule: 'unknown' }],
    ['indeterminate', { status: 'indeterminate' }],
    ['failed', { status: 'failed' }],
    ['something else', { status: 'failed' }],
  ])('is read as %s', async (status, read) => {
    const outcome = await outcomeOf('failed', { status, code: 'conflict', message: 'It has changed.' });
    expect(outcome).toEqual({ ...read, fault: expect.anything() });
    expect(outcome).toMatchObject({ fault: { code: 'conflict', message: 'It has changed.' } });
  });

  it('is an internal error where it names none', async () => {
    expect(await outcomeOf('failed', {})).toMatchObject({
      status: 'failed',
      fault: { code: 'internal', message: '' },
    });
  });

  it.each([undefined, null, 'ok', 7, [['status', 'ok']]])('is unknown when it is %j', async (outcome) => {
    expect(await outcomeOf('done', outcome)).toBeUndefined();
  });
});
