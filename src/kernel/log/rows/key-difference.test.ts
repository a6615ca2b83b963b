import { describe, expect, it } from 'vitest';
import { leafHash } from '../../../lib/merkle.ts';
import type { Entry } from '../entry.ts';
import { payloadHash } from '../log.ts';
import { answerHash, ERASED_ANSWER, keyDifference, keyHash, statedKey } from './key-row.ts';

const row = {
  scope_key: 'agent:a|post|k',
  digest: 'd',
  call_id: 'c',
  state: 'ok' as const,
  outcome: '"answer"',
  expires_at: null,
};
const SALTS = { salt: 'result salt', args_salt: 'args salt', erased_at: null as string | null };
const NAMED = 'stores a result that call c did not return';

type Said = Partial<Pick<Entry, 'kind' | 'status' | 'extra'>>;
const evidence = (said: Said, more: Partial<Record<keyof typeof SALTS, string | null>> = {}) => {
  const body = JSON.stringify({ v: 1, at: '2026-01-01', call: 'c', kind: 'outcome', status: 'ok', ...said });
  return [{ seq: 3, hash: leafHash(body), body, ...SALTS, ...more }];
};
const outcome = (hash: string) => ({ extra: { replay_hash: hash } });
const settled = (hash: string): Said => ({ kind: 'settled', extra: { outcome_hash: hash } });

describe('a key compared with the entries of its call', () => {
  it('agrees with the outcome by the salt of the result, and with a settlement by that of the arguments', () => {
    const [byResult, byArgs] = ['result salt', 'args salt'].map((salt) => answerHash(salt, row.outcome));
    expect(keyDifference(row, evidence(outcome(byResult ?? '')))).toBeUndefined();
    expect(keyDifference(row, evidence(outcome(byArgs ?? '')))).toBe(NAMED);
    expect(keyDifference(row, evidence(settled(byArgs ?? '')))).toBeUndefined();
    expect(keyDifference(row, evidence(settled(byResult ?? '')))).toBe(NAMED);
  });

  it('agrees where an earlier version wrote the entry', () => {
    expect(keyDifference(row, evidence({}))).toBeUndefined();
    expect(keyDifference(row, evidence({ kind: 'settled' }))).toBeUndefined();
    expect(keyDifference(row, evidence({ extra: {} }))).toBeUndefined();
  });

  it('answers as erased only once the payloads of its call were erased', () => {
    const erased = { ...row, outcome: ERASED_ANSWER };
    const said = outcome(answerHash('result salt', row.outcome));
    expect(keyDifference(erased, evidence(said))).toBe(NAMED);
    expect(keyDifference(erased, evidence(said, { erased_at: '2026' }))).toBeUndefined();
    expect(keyDifference({ ...row, outcome: '"x"' }, evidence(said, { erased_at: '2026' }))).toBe(NAMED);
  });

  it('is named where result or salt is missing, whatever the entry states', () => {
    const stated = payloadHash(`null${row.outcome}`);
    expect(keyDifference(row, evidence(outcome(stated), { salt: null }))).toBe(NAMED);
    const empty = answerHash('result salt', 'null');
    expect(keyDifference({ ...row, outcome: null }, evidence(outcome(empty)))).toBe(NAMED);
  });

  it('is compared with the key of the entry as long as the salt of the arguments exists', () => {
    const key = (salt: string) => ({ extra: { replay_key: { hash: keyHash(salt, row), until: null } } });
    expect(keyDifference(row, evidence(key('args salt')))).toBeUndefined();
    expect(keyDifference(row, evidence(key('other')))).toMatch(/^is not the key or not for the arguments/);
    expect(keyDifference(row, evidence(key('other'), { args_salt: '' }))).toBeUndefined();
    expect(keyDifference(row, evidence(key('other'), { args_salt: null }))).toBeUndefined();
  });
});

describe('the key that an entry states', () => {
  const said = (replay_key: unknown) =>
    statedKey({ v: 1, kind: 'intent', at: '', extra: { replay_key } as Entry['extra'] });

  it('is read only as far as it is text', () => {
    expect(said({ hash: 'h', until: 'u' })).toEqual({ hash: 'h', until: 'u' });
    expect(said({ hash: 5, until: 5 })).toEqual({ hash: undefined, until: null });
    expect(said('h')).toBeUndefined();
    expect(statedKey({ v: 1, kind: 'intent', at: '' })).toBeUndefined();
  });
});
