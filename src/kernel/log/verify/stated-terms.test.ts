import { describe, expect, it } from 'vitest';
import type { Entry } from '../entry.ts';
import { contextDigest, isSalted, resultDigest, saidDigest } from '../rows/approval-terms.ts';
import { statedContext } from '../rows/approval-words.ts';
import { answerHash } from '../rows/key-row.ts';
import { ApprovalTerms } from './approval-terms.ts';

const context = '{"project":"p","salt":"s"}';
type Row = Parameters<ApprovalTerms['differences']>[0];
const row = {
  summary: 'Post',
  context,
  expires_at: null,
  decision_reason: null,
  feedback: null,
  outcome: null,
} as Row;
type Said = Partial<Entry>;
const asked: Said = { rule: 'r', status: 'pending', extra: { context_sha256: contextDigest(context) } };
const said = (decision_reason: string) => ({
  said_sha256: saidDigest({ context, decision_reason, feedback: null }),
});

const SAID = 'has a reason or feedback that differs from what the log says the person gave';
const RESULT = 'has a result that differs from what the log says was stored';

describe('what entries state about an approval', () => {
  const terms = (...moves: readonly Said[]): ApprovalTerms => {
    const made = new ApprovalTerms();
    for (const one of moves) made.moved({ v: 1, kind: 'approval', at: '', ...one });
    return made;
  };
  const found = (made: ApprovalTerms, changed: Partial<Row>, salts = new Map<string, string>()) => [
    ...made.differences({ ...row, ...changed }, salts),
  ];

  it('reads an expiry that is not a text as none', () => {
    const odd = { ...asked, extra: { ...asked.extra, expires: 5 } };
    expect(found(terms(odd), {})).toEqual([]);
  });

  it('keeps the words of the decision whatever follows it', () => {
    const approved = { status: 'approved', extra: said('Fine') };
    expect(found(terms(asked, approved), { decision_reason: 'Fine' })).toEqual([]);
    for (const next of [{ status: 'approved', code: 'approval_invalid' }, { status: 'returned' }])
      expect(found(terms(asked, approved, next), { decision_reason: 'Other' })).toEqual([SAID]);
    expect(found(terms(asked), { decision_reason: 'Other' })).toEqual([SAID]);
  });

  it('says nothing of words that an entry states as no text', () => {
    const odd = { status: 'approved', extra: { said_sha256: 5 } };
    expect(found(terms(asked, odd), { feedback: 'any' })).toEqual([]);
  });

  it.each([
    { status: 'returned' },
    { status: 'done' },
    { status: 'failed' },
    { status: 'pending' },
    { status: 'rejected', code: 'approval_invalid' },
  ])('leaves the result open after %j of an earlier version', (move) => {
    const open = terms(asked, move);
    expect(found(open, { outcome: '"any"' })).toEqual([]);
    expect(open.calls).toEqual([]);
    open.ended({ v: 1, kind: 'outcome', at: '', call: 'c', extra: { outcome_hash: 'h' } }, false);
    expect(found(open, { outcome: '"any"' })).toEqual([]);
  });

  it.each([{ status: 'approved' }, { status: 'pending', rule: 'r' }, { status: 'executing' }, {}])(
    'has no result after %j',
    (move) => {
      expect(found(terms(asked, move), { outcome: '"any"' })).toEqual([RESULT]);
    },
  );

  it('leaves the result open after a call that an earlier version ended', () => {
    const made = terms(asked);
    expect(made.calls).toEqual([]);
    made.ended({ v: 1, kind: 'outcome', at: '', call: 'c' }, true);
    expect(found(made, { outcome: '"any"' })).toEqual([]);
  });

  it('has the result that a move states', () => {
    const made = terms(asked, { extra: { outcome_sha256: resultDigest({ context, outcome: '"x"' }) } });
    expect(found(made, { outcome: '"x"' })).toEqual([]);
    expect(found(made, { outcome: null })).toEqual([RESULT]);
  });

  it('misses the result of a call that is gone', () => {
    const made = terms(asked);
    const extra = { outcome_hash: answerHash('s', 'null') };
    made.ended({ v: 1, kind: 'outcome', at: '', call: 'c', extra }, true);
    expect(made.calls).toEqual(['c']);
    expect(found(made, { outcome: null }, new Map([['c|result', 's']]))).toEqual([RESULT]);
  });

  it('knows a context with a salt, and a digest that is one', () => {
    expect([context, '{}', '{', '{"salt":1}'].map(isSalted)).toEqual([true, false, false, false]);
    expect(statedContext({ extra: { context_sha256: 'd' } })).toBe('d');
    expect(statedContext({ extra: { context_sha256: 5 } })).toBeUndefined();
  });
});
