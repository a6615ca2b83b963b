import { describe, expect, it } from 'vitest';
import { CallHistoryCheck } from './call-history.ts';
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
import { Problems } from './report.ts';

describe('the story the entries tell', () => {
  it('is accepted when a change has intent and outcome', () => {
    expect(checkHistory(intent, outcome)).toEqual({ messages: [], open: 0, calls: 1 });
  });

  it('is accepted, and the intent counted as open, when the outcome is not written yet', () => {
    expect(checkHistory(intent)).toEqual({ messages: [], open: 1, calls: 1 });
  });

  it('counts each call once, however many entries it has', () => {
    const unknown: EntryDraft = { ...outcome, status: 'indeterminate' };
    const settled: EntryDraft = { ...change, kind: 'settled', status: 'ok' };
    const read: EntryDraft = { kind: 'read', call: 'r', effect: 'read', status: 'ok' };
    const refused: EntryDraft = { kind: 'refusal', call: 'n', status: 'refused' };
    expect(checkHistory(intent, unknown, settled, read, refused, asked).calls).toBe(3);
  });

  it('counts the reads that are skipped', () => {
    const history = new CallHistoryCheck(new Problems());
    history.skip(2);
    history.skip(3);
    expect(history.calls).toBe(5);
  });

  it.each(['config', 'checkpoint-key', 'erasure', 'passkey', 'signature'] as const)(
    'neither begins nor ends a call with an entry of kind %s',
    (kind) => {
      expect(checkHistory({ kind, principal: 'person:ada' })).toEqual({ messages: [], open: 0, calls: 0 });
    },
  );

  it('is accepted when a part is done that policy asked about and the whole was allowed', () => {
    const part: EntryDraft = { ...intent, call: 'part', parent: 'c', decision: 'ask' };
    const read: EntryDraft = { ...looked, call: 'r', parent: 'c', approval: undefined };
    expect(checkHistory(intent, part, read).messages).toEqual([]);
  });

  it('is accepted when a person had approved the call in advance', () => {
    const given: EntryDraft = {
      kind: 'config',
      principal: 'person:ada',
      tool: 'post',
      extra: { standing_added: 's', agent, until: '2027-01-01T00:00:00.000Z', uses: 1 },
    };
    const use: EntryDraft = { ...intent, decision: 'ask', extra: { standing: 's' } };
    expect(checkHistory(given, use, outcome).messages).toEqual([]);
    expect(checkHistory(use).messages).toEqual([
      'Entry 0 runs under standing approval s, which no one had given.',
    ]);
  });

  it('is accepted when an approved call runs once under its approval', () => {
    expect(checkHistory(asked, granted, approved, outcome).messages).toEqual([]);
  });

  it('is accepted when arguments are edited before the decision', () => {
    const edited: EntryDraft = { kind: 'edit', approval: { uuid: 'u', digest: 'd2' } };
    const later = { ...approval, digest: 'd2' };
    const entries: EntryDraft[] = [
      asked,
      edited,
      { ...granted, approval: later },
      { ...approved, digest: 'd2', approval: later },
      { ...outcome, digest: 'd2' },
    ];
    expect(checkHistory(...entries).messages).toEqual([]);
  });

  it('is accepted when a permit, whose digest is another one, is consumed', () => {
    const permit = { ...approval, digest: 'of the permit', permit: true };
    const ask: EntryDraft = { ...asked, approval: { uuid: 'u', digest: 'of the permit', permit: true } };
    expect(
      checkHistory(ask, { ...granted, approval: permit }, { ...approved, approval: permit }, outcome)
        .messages,
    ).toEqual([]);
  });

  it('is accepted when the parts of an approved call run under the approval of the whole', () => {
    const part: EntryDraft = { ...approved, call: 'part', parent: 'c', digest: 'd9' };
    const done: EntryDraft = { ...outcome, call: 'part', parent: 'c', digest: 'd9' };
    expect(checkHistory(asked, granted, approved, part, done, outcome).messages).toEqual([]);
  });

  it('is accepted when an approved read, or one with its parts, runs once under its approval', () => {
    expect(checkHistory(asked, granted, looked).messages).toEqual([]);
    const part: EntryDraft = { ...looked, call: 'part', parent: 'c', digest: 'd9' };
    expect(checkHistory(asked, granted, part, looked).messages).toEqual([]);
    expect(checkHistory(asked, granted, approved, part, outcome).messages).toEqual([]);
    const filed: EntryDraft = { ...looked, kind: 'call', effect: 'propose' };
    expect(checkHistory(asked, granted, filed).messages).toEqual([]);
  });

  it('is accepted when a part of an allowed call fails under a permit of its own, gives it back and uses it later', () => {
    const known = { tool: 'post' };
    const part: EntryDraft = { ...looked, parent: 'w' };
    const failed: EntryDraft = { ...part, status: 'failed' };
    const returned: EntryDraft = { ...asked, ...known, effect: 'read', status: 'returned' };
    const permit = { ...asked, ...known, approval: { uuid: 'u', digest: 'd1', permit: true } };
    expect(checkHistory(permit, granted, failed, returned, part).messages).toEqual([]);
  });

  it('is accepted when a read is allowed, fails before anyone was asked, or is refused with its approval', () => {
    const plain: EntryDraft = { ...looked, decision: 'allow', approval: undefined };
    expect(checkHistory(plain, { ...plain, call: 'd', status: 'failed', decision: 'deny' }).messages).toEqual(
      [],
    );
    const refused: EntryDraft = { ...looked, kind: 'refusal', status: 'refused' };
    expect(checkHistory(asked, granted, looked, { ...refused, call: 'd' }).messages).toEqual([]);
    const broken: EntryDraft = { ...approved, kind: 'call', status: 'failed' };
    expect(checkHistory(asked, granted, broken, { ...approved, call: 'd' }).messages).toEqual([]);
  });

  it('is accepted when an interrupted change is settled later', () => {
    const unknown: EntryDraft = { ...outcome, status: 'indeterminate' };
    expect(checkHistory(intent, unknown, { ...change, kind: 'settled', status: 'ok' }).messages).toEqual([]);
  });

  it('is accepted when an approval comes back because the call under it failed', () => {
    const failed: EntryDraft = { ...outcome, status: 'failed' };
    const back: EntryDraft = { ...asked, status: 'returned' };
    expect(checkHistory(asked, granted, approved, failed, back, granted, approved, outcome).messages).toEqual(
      [],
    );
    const lost: EntryDraft = { ...outcome, status: 'indeterminate' };
    const settled: EntryDraft = { ...change, kind: 'settled', status: 'failed' };
    const permit = { ...approval, permit: true };
    const ask: EntryDraft = { ...asked, approval: { uuid: 'u', digest: 'd1', permit: true } };
    const use: EntryDraft = { ...approved, approval: permit };
    expect(
      checkHistory(
        ask,
        { ...granted, approval: permit },
        use,
        lost,
        settled,
        { ...ask, status: 'returned' },
        use,
        outcome,
      ).messages,
    ).toEqual([]);
    const read: EntryDraft = { ...asked, effect: 'read', status: 'returned' };
    const closed: EntryDraft = { ...looked, status: 'failed' };
    expect(checkHistory(asked, granted, closed, read, granted, looked).messages).toEqual([]);
  });

  it('is accepted when a part of an approved call fails and the whole comes back', () => {
    const part: EntryDraft = { ...approved, call: 'part', parent: 'c', digest: 'd9' };
    const done: EntryDraft = { ...outcome, call: 'part', parent: 'c', digest: 'd9' };
    const failed: EntryDraft = { ...outcome, status: 'failed' };
    const back: EntryDraft = { ...asked, status: 'returned' };
    expect(checkHistory(asked, granted, approved, part, done, failed, back, granted).messages).toEqual([]);
  });

  it('is accepted when a replay answers without an intent', () => {
    expect(checkHistory({ ...change, kind: 'call', status: 'ok', replayOf: 'b' }).messages).toEqual([]);
  });

  it('is accepted when a person approves what they asked for themselves', () => {
    const own = { ...approval, requester: 'person:ada' };
    expect(
      checkHistory({ ...asked, principal: 'person:ada' }, { ...granted, approval: own }).messages,
    ).toEqual([]);
  });

  it.each<[string, EntryDraft[], RegExp]>([
    [
      'an approval comes back after its call succeeded',
      [asked, granted, approved, outcome, { ...asked, status: 'returned' }],
      /Entry 4 makes approval u usable again, although no call under it failed/,
    ],
    [
      'a call that came back runs again and no one approved it again',
      [
        asked,
        granted,
        approved,
        { ...outcome, status: 'failed' },
        { ...asked, status: 'returned' },
        approved,
      ],
      /Entry 5 begins call c under approval u, which no one had approved/,
    ],
    ['an outcome has no intent', [outcome], /Entry 0 is an outcome of call c, which has no open intent/],
    [
      'a call ends twice',
      [intent, outcome, outcome],
      /Entry 2 is an outcome of call c, which has no open intent/,
    ],
    ['a call begins twice', [intent, intent], /Entry 1 begins call c a second time/],
    [
      'the outcome is of other arguments',
      [intent, { ...outcome, digest: 'd2' }],
      /Entry 1 ends call c, but entry 0 began a different call/,
    ],
    [
      'the outcome is of another tool',
      [intent, { ...outcome, tool: 'delete' }],
      /Entry 1 ends call c, but entry 0 began a different call/,
    ],
    [
      'policy had said no',
      [{ ...intent, decision: 'deny' }],
      /Entry 0 begins call c although policy said deny/,
    ],
    ['only a dry run was allowed', [{ ...intent, decision: 'dry_run' }], /although policy said dry_run/],
    [
      'policy asked and no one answered',
      [{ ...intent, decision: 'ask' }],
      /without the approval that policy required/,
    ],
    [
      'a change is reported without an intent',
      [{ ...change, kind: 'call', status: 'ok' }],
      /no intent was written first/,
    ],
    [
      'something is destroyed without an intent',
      [{ ...change, kind: 'call', effect: 'destroy', status: 'ok' }],
      /no intent was written first/,
    ],
    [
      'a refused call claims success',
      [{ ...change, kind: 'refusal', status: 'ok' }],
      /claims to have succeeded/,
    ],
    [
      'a running call is refused',
      [intent, { ...change, kind: 'refusal', status: 'refused' }],
      /which had already begun/,
    ],
    [
      'a settled call was not indeterminate',
      [{ ...change, kind: 'settled' }],
      /settles call c, which was not indeterminate/,
    ],
    [
      'a read was answered that policy had denied',
      [{ ...looked, decision: 'deny', approval: undefined }],
      /Entry 0 answers call c although policy said deny/,
    ],
    [
      'a read was answered although policy allowed only a dry run',
      [{ ...looked, decision: 'dry_run', approval: undefined }],
      /Entry 0 answers call c although policy said dry_run/,
    ],
    [
      'a read was answered that no one had approved',
      [{ ...looked, approval: undefined }],
      /Entry 0 answers call c without the approval that policy required/,
    ],
    [
      'the approval of a read does not exist',
      [looked],
      /Entry 0 answers call c under approval u, which no one had approved/,
    ],
    [
      'the approval of a read was never given',
      [asked, looked],
      /under approval u, which no one had approved/,
    ],
    [
      'the approval of a read was used before',
      [asked, granted, looked, { ...looked, call: 'again' }],
      /Entry 3 answers call again under approval u, which was already used or refused/,
    ],
    [
      'the approval of a read that another call made was used before',
      [
        { ...asked, tool: 'post' },
        granted,
        { ...looked, parent: 'w' },
        { ...looked, call: 'again', parent: 'w' },
      ],
      /Entry 3 answers call again under approval u, which was already used or refused/,
    ],
    [
      'the approval of a read was for other arguments',
      [asked, granted, { ...looked, digest: 'd2' }],
      /Entry 2 answers call c with different arguments from those approved by u/,
    ],
    [
      'a read names another approver',
      [asked, granted, { ...looked, approval: { ...approval, approver: 'person:eve' } }],
      /names person:eve as approver of u, but person:ada approved it/,
    ],
    [
      'a part of a read runs under an approval that no one gave',
      [asked, { ...looked, call: 'part', parent: 'c' }],
      /Entry 1 answers call part under approval u, which no one had approved/,
    ],
    [
      'a read gives its approval back before it has failed',
      [asked, granted, { ...asked, effect: 'read', status: 'returned' }],
      /Entry 2 makes approval u usable again, although no call under it failed/,
    ],
    ['the approval was never given', [asked, approved], /under approval u, which no one had approved/],
    ['the approval does not exist', [approved], /under approval u, which no one had approved/],
    [
      'the approval was used before',
      [asked, granted, approved, outcome, { ...approved, call: 'again' }],
      /Entry 4 begins call again under approval u, which was already used or refused/,
    ],
    [
      'the approval was refused',
      [asked, { ...granted, status: 'rejected' }, approved],
      /Entry 2 begins call c under approval u, which was already used or refused/,
    ],
    [
      'the approval was for other arguments',
      [asked, granted, { ...approved, digest: 'd2' }],
      /with different arguments from those approved by u/,
    ],
    [
      'the decision was about other arguments than asked for',
      [asked, { ...granted, approval: { ...approval, digest: 'd2' } }],
      /approves u for a different call from the one requested/,
    ],
    [
      'arguments changed after the decision',
      [asked, granted, { kind: 'edit', approval: { uuid: 'u', digest: 'd2' } }],
      /edits approval u after it was decided/,
    ],
    ['it was decided twice', [asked, granted, granted], /approves u a second time/],
    [
      'it was decided after it was used',
      [asked, granted, approved, granted],
      /decides about approval u, which was already closed/,
    ],
    [
      'an agent approved its own call',
      [asked, { ...granted, approval: { ...approval, approver: agent } }],
      /lets agent:local approve its own call/,
    ],
    [
      'the call names another approver',
      [asked, granted, { ...approved, approval: { ...approval, approver: 'person:eve' } }],
      /names person:eve as approver of u, but person:ada approved it/,
    ],
    [
      'the approver ran it as their own call',
      [
        { ...granted, approval: { ...approval, approver: 'agent:bob' } },
        { ...approved, principal: 'agent:bob', approval: { ...approval, approver: 'agent:bob' } },
      ],
      /which agent:bob approved for itself/,
    ],
  ])('is refused when %s', (_when, entries, message) => {
    const { messages } = checkHistory(...entries);
    expect(messages.join('\n')).toMatch(message);
  });
});
