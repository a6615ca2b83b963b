import { describe, expect, it } from 'vitest';
import {
  agent,
  approval,
  approved,
  asked,
  change,
  checkHistory,
  type EntryDraft,
  granted,
  intent,
  looked,
  outcome,
} from './history.fixture.ts';

const KERNEL = 'system:kernel';
const failed: EntryDraft = { ...outcome, status: 'failed' };
const returned: EntryDraft = { ...asked, principal: KERNEL, status: 'returned', extra: { call: 'c' } };
const reopened: EntryDraft = { ...asked, principal: KERNEL };
const moved = (status: string, more: Partial<EntryDraft> = {}): EntryDraft => ({ ...asked, status, ...more });
/** A read whose process died is closed in its place. */
const lost = moved('failed', { principal: KERNEL, extra: { call: 'c' } });
const otherApprover = { ...approval, approver: 'agent:bob' };

const permit = { ...approval, permit: true };
const askedPermit: EntryDraft = { ...asked, approval: { uuid: 'u', digest: 'd1', permit: true } };
const grantedPermit: EntryDraft = { ...granted, approval: permit };
const usedPermit: EntryDraft = { ...approved, approval: permit };

describe('the history of an approval', () => {
  it.each<[string, EntryDraft[]]>([
    ['is rejected', [asked, moved('rejected')]],
    ['expires while it is pending', [asked, moved('expired')]],
    ['is withdrawn', [asked, moved('withdrawn')]],
    ['is a permit that expires unused', [askedPermit, grantedPermit, moved('expired')]],
    ['is a permit that is withdrawn unused', [askedPermit, grantedPermit, moved('withdrawn')]],
    ['is answered with what an identical call returned', [asked, granted, moved('done')]],
    ['is answered with the failure of an identical call', [asked, granted, moved('failed')]],
    [
      'is answered with a call that the entry names',
      [asked, granted, moved('done', { extra: { call: 'b' } })],
    ],
    ['is closed a second time by its answer', [asked, granted, looked, moved('done')]],
    ['is closed a second time because its read was taken for lost', [asked, granted, looked, lost]],
    [
      'is given back to the person before the call began',
      [asked, granted, reopened, granted, approved, outcome],
    ],
    ['is asked for by the kernel', [reopened, granted, approved, outcome]],
    ['moves in a way that this version does not know', [asked, moved('noted'), granted, approved, outcome]],
    ['is edited, though the log does not have its request', [{ kind: 'edit', approval }]],
    ['is used by a read that was lost and came back', [asked, granted, lost, looked]],
    ['is lost, though the log does not have its request', [lost]],
    ['is given by an agent to another', [asked, { ...granted, approval: otherApprover }]],
    [
      'is given by an agent, though the log does not have its request',
      [{ ...granted, principal: 'agent:bob', approval: otherApprover }],
    ],
    ['is given without saying by whom', [{ ...granted, approval: { uuid: 'u', digest: 'd1' } }]],
    ['is not named by its decision', [{ ...granted, approval: undefined }]],
    ['is not named by its edit', [{ kind: 'edit' }]],
    [
      'is known for a permit by its rule alone',
      [{ ...asked, rule: 'permit' }, granted, { ...approved, digest: 'd2' }],
    ],
    [
      'is closed because its row contradicted the log',
      [asked, moved('failed', { principal: KERNEL, code: 'approval_invalid' })],
    ],
  ])('is accepted when it %s', (_when, entries) => {
    expect(checkHistory(...entries).messages).toEqual([]);
  });

  it.each<[string, EntryDraft[], string]>([
    ['is asked for twice', [asked, asked], 'Entry 1 asks for approval u a second time.'],
    [
      'is asked for again by the kernel while it is pending',
      [asked, reopened],
      'Entry 1 asks for approval u a second time.',
    ],
    [
      'is asked for again by its agent after the decision',
      [asked, granted, asked],
      'Entry 2 asks for approval u a second time.',
    ],
    [
      'is rejected after it was given',
      [asked, granted, moved('rejected')],
      'Entry 2 closes approval u, which is approved, in a way that is not possible from there.',
    ],
    [
      'expires after it was given for one call',
      [asked, granted, moved('expired')],
      'Entry 2 closes approval u, which is approved, in a way that is not possible from there.',
    ],
    [
      'is lost before it was given',
      [asked, lost],
      'Entry 1 closes approval u, which is pending, in a way that is not possible from there.',
    ],
    [
      'is answered before it was given',
      [asked, moved('done')],
      'Entry 1 closes approval u, which is pending, in a way that is not possible from there.',
    ],
    [
      'is used after its row contradicted the log',
      [asked, granted, moved('failed', { code: 'approval_invalid' }), approved],
      'Entry 3 begins call c under approval u, which was already used or refused.',
    ],
    [
      'is used after it went back to the person',
      [asked, granted, reopened, approved],
      'Entry 3 begins call c under approval u, which no one had approved.',
    ],
    [
      'is used by another read than the one that was lost',
      [asked, granted, lost, { ...looked, call: 'd' }],
      'Entry 3 answers call d under approval u, which was already used or refused.',
    ],
    [
      'is used twice by a read that was lost',
      [asked, granted, lost, looked, looked],
      'Entry 4 answers call c under approval u, which was already used or refused.',
    ],
    [
      'is used by a read that its rejection names',
      [asked, moved('rejected', { extra: { call: 'c' } }), looked],
      'Entry 2 answers call c under approval u, which was already used or refused.',
    ],
    [
      'is given back after a read that succeeded',
      [asked, granted, looked, returned],
      'Entry 3 makes approval u usable again, although no call under it failed.',
    ],
    [
      'is given back while its call is running',
      [asked, granted, approved, returned],
      'Entry 3 makes approval u usable again, although no call under it failed.',
    ],
    [
      'is used for a call of another digest that the entry gives the approval',
      [asked, granted, { ...approved, digest: 'd2', approval: { ...approval, digest: 'd2' } }],
      'Entry 2 begins call c with different arguments from those approved by u.',
    ],
    [
      'is a permit and its use names another digest for it',
      [askedPermit, grantedPermit, { ...usedPermit, approval: { ...permit, digest: 'd2' } }],
      'Entry 2 begins call c with different arguments from those approved by u.',
    ],
    [
      'is given by the agent that asked, which only the decision says',
      [{ ...granted, approval: { ...otherApprover, requester: 'agent:bob' } }],
      'Entry 0 lets agent:bob approve its own call (u).',
    ],
    [
      'is edited after it was rejected',
      [asked, moved('rejected'), { kind: 'edit', approval }],
      'Entry 2 edits approval u after it was decided.',
    ],
  ])('is refused when it %s', (_when, entries, message) => {
    expect(checkHistory(...entries).messages).toEqual([message]);
  });
});

describe('a call that was taken for failed and gave its permit back', () => {
  const unknown: EntryDraft = { ...outcome, status: 'indeterminate' };
  const settled = (status: string): EntryDraft => ({ ...change, kind: 'settled', status });
  const backAgain = [askedPermit, grantedPermit, usedPermit, unknown, settled('failed'), returned];
  const next: EntryDraft = { ...usedPermit, call: 'd' };

  it('may prove to be done while no other call has used the permit, which is then used up', () => {
    expect(checkHistory(...backAgain, settled('ok')).messages).toEqual([]);
    expect(checkHistory(...backAgain, settled('ok'), next).messages).toEqual([
      'Entry 7 begins call d under approval u, which was already used or refused.',
    ]);
  });

  it('may not prove to be done after another call has used the permit', () => {
    expect(checkHistory(...backAgain, next, settled('ok')).messages).toEqual([
      'Entry 7 says call c was done after all, but another call used its approval u.',
    ]);
  });

  it('leaves the permit to its holder when it is settled as failed again', () => {
    expect(checkHistory(...backAgain, settled('failed'), next).messages).toEqual([]);
  });

  it('says nothing about a call without an approval that its return names', () => {
    const free: EntryDraft = { ...intent, call: 'free' };
    const named: EntryDraft = { ...returned, extra: { call: 'free' } };
    const ended: EntryDraft = { ...outcome, call: 'free' };
    expect(checkHistory(free, asked, granted, approved, failed, named, ended).messages).toEqual([]);
  });

  it('is asked about again when it was an approved call: the agent cannot use the old decision', () => {
    expect(
      checkHistory(asked, granted, approved, failed, returned, { ...approved, call: 'd' }).messages,
    ).toEqual(['Entry 5 begins call d under approval u, which no one had approved.']);
    expect(checkHistory(asked, granted, approved, failed, returned, granted).messages).toEqual([]);
  });

  it('keeps the requester: the agent cannot approve what came back', () => {
    const self: EntryDraft = { ...granted, approval: { ...approval, approver: agent } };
    expect(checkHistory(asked, granted, approved, failed, returned, self).messages).toEqual([
      'Entry 5 lets agent:local approve its own call (u).',
    ]);
  });
});
