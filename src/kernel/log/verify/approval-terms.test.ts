import { beforeEach, describe, expect, it } from 'vitest';
import { contextDigest, resultDigest, saidDigest, saltContext, withoutSalt } from '../rows/approval-terms.ts';
import { ERASED } from '../rows/approval-words.ts';
import { answerHash } from '../rows/key-row.ts';
import {
  approval,
  asked,
  DECIDED_AT,
  differs,
  named,
  openApprovalRows,
  pending,
  type Row,
} from './approval-rows.fixture.ts';
import type { EntryDraft } from './history.fixture.ts';

const context = saltContext({ project: 'p' });
const UNTIL = '2026-01-02T00:00:00.000Z';
const bound: Row = {
  ...pending,
  context,
  expires_at: UNTIL,
  decision_reason: null,
  feedback: null,
  outcome: null,
};
const askedBound: EntryDraft = {
  ...asked,
  extra: { context_sha256: contextDigest(context), expires: UNTIL },
};
const moved = (status: string, extra: object, more: Partial<EntryDraft> = {}): EntryDraft => ({
  ...asked,
  rule: undefined,
  at: DECIDED_AT,
  status,
  principal: 'person:ada',
  extra: extra as EntryDraft['extra'],
  ...more,
});
const saidOf = (decision_reason: string | null, feedback: string | null) => ({
  said_sha256: saidDigest({ context, decision_reason, feedback }),
});
const resultOf = (outcome: string) => ({ outcome_sha256: resultDigest({ context, outcome }) });
const byKernel = { principal: 'system:kernel' };

const decided: Partial<Row> = { decided_by: 'person:ada', decided_at: DECIDED_AT };
const approvedRow: Row = { ...bound, ...decided, state: 'approved' };
const granted = moved('approved', saidOf(null, null));
const intent: EntryDraft = { kind: 'intent', call: 'c', tool: 'post', approval };
const ended = (extra: object, more: Partial<EntryDraft> = {}): EntryDraft => ({
  kind: 'outcome',
  call: 'c',
  status: 'ok',
  extra: extra as EntryDraft['extra'],
  ...more,
});
const hashOf = (salt: string, outcome: string) => ({ outcome_hash: answerHash(salt, outcome) });
const done: Row = { ...approvedRow, state: 'done', call_id: 'c', outcome: '"answer"' };

const rows = openApprovalRows();
const { insert, found } = rows;

const CONTEXT = named('has a context that differs from what the log says was stored with the request');
const SAID = named('has a reason or feedback that differs from what the log says the person gave');
const RESULT = named('has a result that differs from what the log says was stored');

describe('the terms of an approval', () => {
  beforeEach(async () => {
    const { db } = rows.database;
    await db.deleteFrom('audit_payloads').execute();
    const payload = { call_id: 'c', hash: 'h', body: null, at: DECIDED_AT, erased_at: null };
    await db
      .insertInto('audit_payloads')
      .values([
        { ...payload, kind: 'args', salt: 'args salt' },
        { ...payload, kind: 'result', salt: 'result salt' },
      ])
      .execute();
  });

  it('have a salt that no one is shown', () => {
    expect(JSON.parse(context)).toEqual({ project: 'p', salt: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(withoutSalt(JSON.parse(context))).toEqual({ project: 'p' });
    expect(saltContext({})).not.toBe(saltContext({}));
  });

  it.each<[string, Row, EntryDraft[]]>([
    ['it is pending', bound, [askedBound]],
    [
      'it does not expire',
      { ...bound, expires_at: null },
      [{ ...askedBound, extra: { ...askedBound.extra, expires: null } }],
    ],
    ['the log is of an earlier version', { ...bound, expires_at: 'x', feedback: 'x', outcome: 'x' }, [asked]],
    ['it was approved without a word', approvedRow, [askedBound, granted]],
    [
      'it was rejected with a reason',
      { ...approvedRow, state: 'rejected', decision_reason: 'No', feedback: 'Why?' },
      [askedBound, moved('rejected', saidOf('No', 'Why?'))],
    ],
    [
      'an earlier version decided it',
      { ...approvedRow, state: 'rejected', decision_reason: 'No' },
      [askedBound, moved('rejected', {})],
    ],
    [
      'it was refused before it began',
      { ...bound, outcome: '"paused"' },
      [askedBound, granted, moved('pending', resultOf('"paused"'), byKernel)],
    ],
    [
      'an earlier version returned it',
      { ...bound, outcome: '"failed"' },
      [askedBound, granted, intent, ended({}, { status: 'failed' }), moved('returned', {}, byKernel)],
    ],
    ['its call was done', done, [askedBound, granted, intent, ended(hashOf('result salt', '"answer"'))]],
    ['an earlier version ended its call', done, [askedBound, granted, intent, ended({})]],
    [
      'its call was interrupted',
      { ...done, state: 'indeterminate', outcome: null },
      [askedBound, granted, intent, ended({ interrupted: true }, { status: 'indeterminate' })],
    ],
    [
      'its call was interrupted and settled',
      done,
      [
        askedBound,
        granted,
        intent,
        ended({ interrupted: true }, { status: 'indeterminate' }),
        ended(hashOf('args salt', '"answer"'), { kind: 'settled' }),
      ],
    ],
    [
      'its call failed after it was settled as done',
      done,
      [
        askedBound,
        granted,
        intent,
        ended(hashOf('args salt', '"answer"'), { kind: 'settled' }),
        ended({ ...hashOf('args salt', '"late"'), late: true }, { kind: 'settled', status: 'failed' }),
      ],
    ],
    [
      'its call was late, and another had used it',
      done,
      [
        askedBound,
        granted,
        intent,
        ended(hashOf('result salt', '"answer"')),
        ended({ ...hashOf('args salt', '"late"'), late: true }, { kind: 'settled' }),
      ],
    ],
    [
      'its contents were erased',
      { ...done, summary: ERASED, context: '{}', args: '{}', outcome: null },
      [
        askedBound,
        granted,
        intent,
        ended(hashOf('result salt', '"answer"')),
        { kind: 'erasure', extra: { approvals: 1 } },
      ],
    ],
  ])('agree where %s', async (_, row, entries) => {
    await insert(row);
    expect(await found(...entries)).toEqual([]);
  });

  it('agree where the salt of the result was erased', async () => {
    await rows.database.db.updateTable('audit_payloads').set({ salt: '' }).execute();
    await insert({ ...done, outcome: '"other"' });
    expect(await found(askedBound, granted, intent, ended(hashOf('result salt', '"answer"')))).toEqual([]);
  });

  it.each<[string, Row, EntryDraft[], string]>([
    ['expiry', { ...bound, expires_at: null }, [askedBound], differs('expires_at', null, UNTIL)],
    [
      'expiry, also of an erased approval',
      { ...bound, summary: ERASED, context: '{}', args: '{}', expires_at: 'x' },
      [askedBound, { kind: 'erasure', extra: { approvals: 1 } }],
      differs('expires_at', 'x', UNTIL),
    ],
    ['context', { ...bound, context: saltContext({ project: 'p' }) }, [askedBound], CONTEXT],
    ['words of a person who said nothing yet', { ...bound, feedback: 'Do it' }, [askedBound], SAID],
    ['reason', { ...approvedRow, decision_reason: 'Fine' }, [askedBound, granted], SAID],
    [
      'feedback',
      { ...approvedRow, state: 'rejected', decision_reason: 'No', feedback: 'Use root' },
      [askedBound, moved('rejected', saidOf('No', null))],
      SAID,
    ],
    ['result of what did not run', { ...bound, outcome: '"done"' }, [askedBound], RESULT],
    [
      'result of what was refused',
      { ...bound, outcome: '"done"' },
      [askedBound, granted, moved('pending', resultOf('"paused"'), byKernel)],
      RESULT,
    ],
    [
      'result of its call',
      { ...done, outcome: '"other"' },
      [askedBound, granted, intent, ended(hashOf('result salt', '"answer"'))],
      RESULT,
    ],
    [
      'result that is gone',
      { ...done, outcome: null },
      [askedBound, granted, intent, ended(hashOf('result salt', '"answer"'))],
      RESULT,
    ],
    [
      'result of a settled call',
      { ...done, outcome: '"other"' },
      [askedBound, granted, intent, ended(hashOf('args salt', '"answer"'), { kind: 'settled' })],
      RESULT,
    ],
  ])('name a changed %s', async (_, row, entries, message) => {
    await insert(row);
    expect(await found(...entries)).toEqual([message]);
  });
});
