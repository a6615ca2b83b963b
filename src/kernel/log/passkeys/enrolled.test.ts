import { beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { EnrolledKeys, PasskeyProblem } from './enrolled.ts';
import { AT, enrolment, ISSUED, LOG, order, signature, UNTIL } from './passkeys.fixture.ts';

const key = new Authenticator();
const spare = new Authenticator({ alg: -8 });
const stranger = new Authenticator();
const ITEM = 'c'.repeat(64);

describe('the keys that a log enrols', () => {
  let keys: EnrolledKeys;
  beforeEach(() => {
    keys = new EnrolledKeys();
  });

  const take = (extra: JsonObject | undefined, at = AT, principal?: string) =>
    keys.take(LOG, { at, extra, principal });
  const check = (extra: JsonObject | undefined, at = AT) => keys.checkSignature(LOG, at, extra);
  const refuses = (attempt: () => unknown, message: string) => {
    expect(attempt).toThrow(PasskeyProblem);
    expect(attempt).toThrow(message);
  };
  const fingerprints = () => keys.list.map(({ fingerprint }) => fingerprint);

  it('starts without keys and without a duty to sign', () => {
    expect(keys).toMatchObject({ list: [], resets: [], any: false, mode: 'off' });
    expect(keys.find(key.fingerprint)).toBeUndefined();
  });

  it('enrols a first key alone and a second one by the first', () => {
    expect(take(enrolment(key))).toMatchObject({ action: 'enrol' });
    expect(keys.any).toBe(true);
    take(enrolment(spare, key, { person: 'person:grace' }));
    expect(keys.list).toMatchObject([
      { fingerprint: key.fingerprint, person: 'person:ada', enrolledAt: AT, spki: key.spki },
      { fingerprint: spare.fingerprint, person: 'person:grace', endorsedBy: key.fingerprint, alg: -8 },
    ]);
    expect(keys.find(key.fingerprint)?.endorsedBy).toBeUndefined();
    expect(keys.find(spare.fingerprint)).toBe(keys.list[1]);
  });

  it.each([
    ['nothing', undefined],
    ['no action', {}],
    ['an unknown action', { action: 'trust' }],
    ['an enrolment without its signature', { action: 'enrol', possession: null }],
    ['a field that has no meaning', { action: 'reset', keys: [] }],
  ])('refuses an entry with %s', (_, extra) => {
    refuses(() => take(extra), 'changes passkeys in a way that cannot be read');
    refuses(() => check(extra), 'has an unreadable signature');
  });

  describe('refuses to enrol', () => {
    const refusesKey = (extra: JsonObject, message: string, before: readonly string[] = []) => {
      refuses(() => take(extra), message);
      expect(fingerprints()).toEqual(before);
    };

    it('a key that does not match its algorithm', () => {
      const { person: _, ...shape } = key.key();
      refusesKey(enrolment(key, undefined, { key: { ...shape, alg: -8 } }), 'does not match its algorithm');
    });

    it('a key that cannot be read', () => {
      const { person: _, ...shape } = key.key();
      const unreadable = { ...shape, spki: 'A'.repeat(60) };
      refusesKey(enrolment(key, undefined, { key: unreadable }), 'does not match its algorithm');
    });

    it('a key that did not sign its own enrolment', () => {
      const { possession } = enrolment(stranger);
      refusesKey({ ...enrolment(key), possession }, `enrols key ${key.fingerprint}, which did not sign: it`);
    });

    it('a later key that no enrolled key countersigned', () => {
      take(enrolment(key));
      refusesKey(enrolment(spare), `enrols key ${spare.fingerprint}, which no enrolled key countersigned`, [
        key.fingerprint,
      ]);
    });

    it('a later key countersigned by itself, or a first key by a stranger', () => {
      refusesKey(enrolment(key, stranger), `signed by key ${stranger.fingerprint}, which was never enrolled`);
      take(enrolment(key));
      refusesKey(enrolment(spare, spare), 'which was never enrolled', [key.fingerprint]);
    });

    it('a later key whose countersignature is for something else', () => {
      take(enrolment(key));
      const by = key.signAs('c29tZXRoaW5nIGVsc2U');
      refusesKey(
        { ...enrolment(spare), countersigned: by },
        `is not signed by key ${key.fingerprint}: it signs something else`,
        [key.fingerprint],
      );
    });

    it('a key a second time, whether it is still enrolled or was removed', () => {
      take(enrolment(key));
      refusesKey(enrolment(key, key), `enrols key ${key.fingerprint} a second time`, [key.fingerprint]);
      take(enrolment(spare, key));
      take(order({ action: 'remove', key: key.fingerprint }, spare));
      refusesKey(enrolment(key, spare), `enrols key ${key.fingerprint} a second time`, [spare.fingerprint]);
    });
  });

  describe('once two keys are enrolled', () => {
    beforeEach(() => {
      take(enrolment(key));
      take(enrolment(spare, key, { person: 'person:grace' }));
    });

    it('changes the mode by a signature of any of them', () => {
      expect(take(order({ action: 'mode', mode: 'always' }, spare))).toMatchObject({ action: 'mode' });
      expect(keys.mode).toBe('always');
      take(order({ action: 'mode', mode: 'destructive' }, key));
      expect(keys.mode).toBe('destructive');
      refuses(() => take(order({ action: 'mode', mode: 'off' }, stranger)), 'which was never enrolled');
      expect(keys.mode).toBe('destructive');
    });

    it('removes a key, but neither an unknown nor the last one', () => {
      const remove = (one: Authenticator, by: Authenticator) =>
        take(order({ action: 'remove', key: one.fingerprint }, by));
      refuses(() => remove(stranger, key), `removes key ${stranger.fingerprint}, which is not enrolled`);
      remove(key, spare);
      expect(fingerprints()).toEqual([spare.fingerprint]);
      expect(keys.mode).toBe('off');
      refuses(() => remove(spare, spare), 'removes the last key; only a reset may do that');
      expect(fingerprints()).toEqual([spare.fingerprint]);
      refuses(() => remove(spare, key), `is signed by key ${key.fingerprint}, which was removed`);
    });

    it('refuses an order that differs from what was signed', () => {
      const signed = order({ action: 'mode', mode: 'off' }, key);
      refuses(() => take({ ...signed, action: 'remove' }), 'differs from what was signed');
      const altered = { ...signed.statement, order: { action: 'mode', mode: 'always' } };
      refuses(() => take({ ...signed, statement: altered }), 'it signs something else');
      expect(keys.mode).toBe('off');
      expect(fingerprints()).toHaveLength(2);
    });

    it('refuses what was signed for another log or is used a second time', () => {
      const foreign = { log: 'f'.repeat(64) };
      refuses(() => take(order({ action: 'mode', mode: 'off' }, key, foreign)), 'was signed for another log');
      refuses(() => take(enrolment(stranger, key, foreign)), 'was signed for another log');
      refuses(() => check(signature([ITEM], key, foreign)), 'was signed for another log');
      const always = order({ action: 'mode', mode: 'always' }, key);
      take(always);
      take(order({ action: 'mode', mode: 'off' }, key));
      refuses(() => take(always), 'repeats a signature used before');
      expect(keys.mode).toBe('off');
    });

    it.each([
      ['the moment it was issued', ISSUED, true],
      ['its last moment', UNTIL, true],
      ['the moment before', '2026-03-01T11:59:59.999Z', false],
      ['the moment after', '2026-03-01T12:01:00.001Z', false],
    ])('accepts a signature only from its issue to its end: %s', (_, at, isValid) => {
      const attempts = [
        () => take(order({ action: 'mode', mode: 'always' }, key), at),
        () => check(signature([ITEM], key), at),
      ];
      for (const attempt of attempts) {
        if (isValid) attempt();
        else refuses(attempt, `was signed for ${ISSUED} to ${UNTIL}, not for ${at}`);
      }
    });

    it.each(['{}', '{"at":null}', '{"at":1772366430000}', '{"at":["x"]}'])(
      'refuses a signature in an entry that has no readable time: %s',
      (body) => {
        const { at } = JSON.parse(body);
        refuses(() => check(signature([ITEM], key), at ?? null), `was signed for ${ISSUED} to ${UNTIL}`);
      },
    );

    it('after a reset has no keys, requires nothing, and can enrol the same key again', () => {
      take(order({ action: 'mode', mode: 'always' }, key));
      expect(take({ action: 'reset' }, AT, 'person:ada')).toEqual({ action: 'reset' });
      expect(keys).toMatchObject({ list: [], any: false, mode: 'off' });
      take({ action: 'reset' }, UNTIL);
      expect(keys.resets).toEqual([
        { at: AT, by: 'person:ada', removed: 2 },
        { at: UNTIL, by: 'unknown', removed: 0 },
      ]);
      take(enrolment(key));
      expect(fingerprints()).toEqual([key.fingerprint]);
    });

    it('accepts the signature of a decision once, by the person whose key it is', () => {
      const extra = signature([ITEM], key);
      expect(check(extra)).toEqual(extra);
      expect(keys.takeSignature(LOG, AT, extra)).toEqual(extra);
      refuses(() => keys.takeSignature(LOG, AT, extra), 'repeats a signature used before');
      expect(check(extra)).toEqual(extra);
      refuses(() => check(signature([ITEM], spare)), 'names person:ada, but the key belongs to person:grace');
      refuses(() => check(signature([ITEM], stranger)), 'which was never enrolled');
    });

    it('does not accept the nonce of an order again as that of a decision, nor the other way round', () => {
      const { statement } = order({ action: 'mode', mode: 'off' }, key);
      const { nonce } = statement;
      take(order({ action: 'mode', mode: 'off' }, key, { nonce }));
      refuses(
        () => keys.takeSignature(LOG, AT, signature([ITEM], key, { nonce })),
        'repeats a signature used before',
      );
      const decided = signature([ITEM], key);
      keys.takeSignature(LOG, AT, decided);
      refuses(
        () => take(enrolment(stranger, key, { nonce: decided.statement.nonce })),
        'repeats a signature used before',
      );
    });

    it('refuses a decision that counts its approvals wrongly', () => {
      refuses(() => check(signature([ITEM], key, { of: 2 })), 'signs a different number of approvals');
      expect(check(signature([ITEM, ITEM], key))).toBeDefined();
    });
  });
});
