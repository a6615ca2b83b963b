import { beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import type { Entry } from '../entry.ts';
import { itemOfDecision, passkeyEntry, signatureEntry, signedDecision } from './entries.ts';
import { enrolment, order, signature } from './passkeys.fixture.ts';
import {
  adminStatement,
  challengeOf,
  decisionStatement,
  enrolStatement,
  itemHash,
  type SignedItem,
  signedParts,
  signersOf,
} from './statement.ts';

const key = new Authenticator();
const HASH = 'c'.repeat(64);
let decision: ReturnType<typeof signature>;
let enrol: ReturnType<typeof enrolment>;
let remove: ReturnType<typeof order>;
let mode: ReturnType<typeof order>;
beforeEach(() => {
  decision = signature([HASH], key);
  enrol = enrolment(key, key);
  remove = order({ action: 'remove', key: key.fingerprint }, key);
  mode = order({ action: 'mode', mode: 'always' }, key);
});

/** What is accepted as it is must be refused with each of these fields, and accepted with each of those. */
function compare(
  shape: z.ZodType,
  valid: object,
  { refused, accepted = {} }: { refused: Fields; accepted?: Fields },
): void {
  expect(shape.safeParse(valid).data).toEqual(valid);
  for (const [field, values] of Object.entries(accepted))
    for (const value of values)
      expect(shape.safeParse({ ...valid, [field]: value }).success, `${field}: ${value}`).toBe(true);
  for (const [field, values] of Object.entries(refused))
    for (const value of [...values, undefined])
      expect(
        shape.safeParse({ ...valid, [field]: value }).success,
        `${field}: ${JSON.stringify(value)}`,
      ).toBe(false);
  expect(shape.safeParse({ ...valid, more: true }).success, 'a field that is not signed about').toBe(false);
}
type Fields = Readonly<Record<string, readonly unknown[]>>;

const noHash = [
  '',
  'c'.repeat(63),
  'c'.repeat(65),
  `${'c'.repeat(63)}g`,
  `${'c'.repeat(64)}\n`,
  'C'.repeat(64),
];
const noFingerprint = ['', 'c'.repeat(31), 'c'.repeat(33), `g${'c'.repeat(31)}`];
const noMoment = ['', 'today', '2026-03-01', '2026-03-01T12:00:00+01:00'];

describe('a statement that is signed', () => {
  const inCommon = {
    log: noHash,
    head: [{}, { size: 1 }, { size: 0, root: HASH }, { size: 1, root: 'x' }, { size: 1, root: HASH, at: 1 }],
    issued: noMoment,
    until: noMoment,
    nonce: ['', 'n'.repeat(21), 'n'.repeat(65)],
  };
  const nonces = ['n'.repeat(22), 'n'.repeat(64)];

  it('of a decision approves 1 to 25 items, once', () => {
    compare(decisionStatement, decision.statement, {
      refused: {
        ...inCommon,
        v: ['countersign-decision/2', 'countersign-enrol/1'],
        person: [''],
        decision: ['rejected'],
        scope: ['always'],
        of: [0, 26, 1.5],
        items: [[], ['x'], Array(26).fill(HASH)],
      },
      accepted: { nonce: nonces, of: [1, 25], items: [Array(25).fill(HASH)], person: ['p'] },
    });
  });

  it('of an enrolment has the complete key', () => {
    compare(enrolStatement, enrol.statement, {
      refused: { ...inCommon, v: ['countersign-decision/1'], person: [''], key: [{}] },
      accepted: { nonce: nonces, person: ['p'] },
    });
    compare(enrolStatement.shape.key, enrol.statement.key, {
      refused: {
        credential: ['', 'c'.repeat(2049)],
        spki: ['s'.repeat(39), 's'.repeat(4097)],
        alg: [0, -37, '-7'],
        rpId: [''],
        origins: [[], [''], Array(6).fill('o')],
        name: ['', 'n'.repeat(81)],
      },
      accepted: {
        credential: ['c', 'c'.repeat(2048)],
        spki: ['s'.repeat(40), 's'.repeat(4096)],
        alg: [-7, -8, -257],
        rpId: ['r'],
        origins: [['o'], Array(5).fill('o')],
        name: ['n', 'n'.repeat(80)],
      },
    });
  });

  it('of an order removes one key or sets one of three modes', () => {
    const { fingerprint } = key;
    compare(adminStatement, remove.statement, {
      refused: {
        ...inCommon,
        v: ['countersign-decision/1'],
        order: [
          {},
          ...noFingerprint.map((one) => ({ action: 'remove', key: one })),
          { action: 'remove', key: fingerprint, mode: 'off' },
          { action: 'mode', mode: 'never' },
          { action: 'mode', mode: 'off', key: fingerprint },
        ],
      },
      accepted: {
        nonce: nonces,
        order: ['off', 'destructive', 'always'].map((one) => ({ action: 'mode', mode: one })),
      },
    });
  });

  it('has another challenge for any other content', () => {
    const { statement } = decision;
    const hash = challengeOf(statement).toString('hex');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const { v, ...rest } = statement;
    expect(challengeOf({ ...rest, v }).toString('hex')).toBe(hash);
    expect(challengeOf({ ...statement, person: 'person:eve' }).toString('hex')).not.toBe(hash);
  });
});

describe('an entry about passkeys', () => {
  const noBytes = ['', 'a b', 'a=', ' a', 'a\n', 'é', 'a'.repeat(8193)];
  const unsigned = (one: object): object[] => [
    {},
    ...Object.keys(one).map((name) => ({ ...one, [name]: undefined })),
    ...['authenticatorData', 'clientData', 'signature'].flatMap((name) =>
      noBytes.map((bytes) => ({ ...one, [name]: bytes })),
    ),
    { ...one, more: 'x' },
  ];
  const noSigner = (): object[] => [
    ...unsigned(mode.by),
    ...noFingerprint.map((one) => ({ ...mode.by, key: one })),
  ];

  it('has a statement and a complete signature of it', () => {
    const longest = { ...decision.by, clientData: 'a'.repeat(8192), signature: '-_0Az' };
    compare(signatureEntry, decision, {
      refused: { statement: [{}, mode.statement], by: noSigner() },
      accepted: { by: [longest] },
    });
    compare(passkeyEntry, mode, { refused: { statement: [{}, decision.statement], by: noSigner() } });
    compare(passkeyEntry, remove, { refused: { statement: [{}, decision.statement], by: noSigner() } });
  });

  it('enrols a key by its own signature and at most one other', () => {
    const { countersigned: _, ...alone } = { countersigned: undefined, ...enrol };
    expect(passkeyEntry.safeParse(alone).success).toBe(true);
    compare(passkeyEntry, enrol, {
      refused: { statement: [{}, mode.statement], possession: unsigned(enrol.possession) },
    });
    for (const countersigned of noSigner())
      expect(passkeyEntry.safeParse({ ...alone, countersigned }).success).toBe(false);
  });

  it('resets without saying anything else', () => {
    compare(passkeyEntry, { action: 'reset' }, { refused: { action: ['', 'forget'] } });
  });
});

describe('a signed decision', () => {
  const by = { entry: HASH, salt: 's'.repeat(16) };
  const item = { version: 1, binding: null, expires: null };

  it('names the signatures that cover it, and what they cover beyond the entry', () => {
    compare(
      signedDecision,
      { item, by: [by] },
      {
        refused: {
          item: [{}],
          by: [
            [],
            [{}],
            [{ ...by, salt: 's'.repeat(15) }],
            [{ ...by, more: 1 }],
            ...noHash.map((entry) => [{ ...by, entry }]),
          ],
        },
        accepted: { by: [[by, by]] },
      },
    );
    compare(signedParts, item, {
      refused: { version: [0, -1, 1.5], binding: [1], expires: noMoment },
      accepted: { version: [7], binding: ['b'], expires: ['2026-03-01T12:00:00Z'] },
    });
  });

  it('covers the call of its own entry and no other', () => {
    const approval = { uuid: 'u', digest: 'd', requester: 'agent:local' };
    const entry: Entry = { v: 1, kind: 'approval', at: '', tool: 'post', approval };
    const parts = { version: 3, binding: 'b', expires: '2026-03-01T12:00:00Z' };
    const call = { approval: 'u', kind: 'call', tool: 'post', digest: 'd', requester: 'agent:local' };
    expect(itemOfDecision(entry, parts)).toEqual({ ...call, ...parts });
    const permit = { ...entry, approval: { ...approval, permit: true } };
    expect(itemOfDecision(permit, parts)).toEqual({ ...call, ...parts, kind: 'permit' });
    const empty: Entry = { v: 1, kind: 'approval', at: '' };
    expect(itemOfDecision(empty, parts)).toEqual({
      ...parts,
      ...{ approval: '', kind: 'call', tool: '', digest: '', requester: '' },
    });
  });

  it('hashes an item with its salt', () => {
    const one: SignedItem = { approval: 'u', kind: 'call', tool: 't', digest: 'd', requester: 'r', ...item };
    const hash = itemHash(one, by.salt);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(itemHash(one, 'another salt')).not.toBe(hash);
    expect(itemHash({ ...one, version: 2 }, by.salt)).not.toBe(hash);
  });

  it('is required of what destroys or of everything, as the mode says', () => {
    const needed = (['off', 'destructive', 'always'] as const).map((one) =>
      ['read', 'change', 'destroy'].map((effect) => signersOf(one, effect)),
    );
    expect(needed).toEqual([
      [0, 0, 0],
      [0, 0, 1],
      [1, 1, 1],
    ]);
  });
});
