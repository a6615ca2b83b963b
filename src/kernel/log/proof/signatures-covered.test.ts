import { beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { type Entry, type EntryInput, prepareEntry } from '../entry.ts';
import { AT, order, signature } from '../passkeys/passkeys.fixture.ts';
import { checkSignatures } from './signatures.ts';
import {
  callEntry,
  DIGEST,
  decisionEntry,
  enrolEntry,
  FIRST,
  logHash,
  signedEntries,
  UUID,
} from './signed.fixture.ts';

const key = new Authenticator();
const spare = new Authenticator({ alg: -8 });
const grace = { key: spare, person: 'person:grace' };
let keys: EntryInput[];
beforeEach(() => {
  keys = [FIRST, enrolEntry(key)];
});

const numbered = (entries: readonly EntryInput[]) =>
  entries.map((input, seq) => {
    const { hash, body } = prepareEntry(input);
    return { seq, hash, entry: JSON.parse(body) as Entry };
  });
const check = (entries: readonly EntryInput[], given: readonly string[] = []) =>
  checkSignatures(numbered(entries), given);
/** The log of a call that ada signed for, up to the decision. */
const decided = (changes: Partial<EntryInput> = {}): EntryInput[] => {
  const { signatures, decision } = signedEntries([{ key }], decisionEntry(changes));
  return [...keys, ...signatures, decision];
};
const ada = { person: 'person:ada', fingerprint: key.fingerprint, call: 'c1' };

describe('the signers of a call', () => {
  it.each(['intent', 'read', 'call'] as const)('are named where it begins: %s', (kind) => {
    expect(check([...decided(), callEntry({ kind })])).toEqual({ signers: [ada], problems: [] });
  });

  it('are not named again where it ends', () => {
    const entries = [...decided(), callEntry(), callEntry({ kind: 'outcome' })];
    expect(check(entries)).toEqual({ signers: [ada], problems: [] });
  });

  it('are found in whatever order the file has the entries', () => {
    const entries = numbered([...decided(), callEntry()]).reverse();
    expect(checkSignatures(entries, [])).toEqual({ signers: [ada], problems: [] });
  });

  it('are all who signed, when there are several', () => {
    const { signatures, decision } = signedEntries([{ key }, grace]);
    const entries = [...keys, enrolEntry(spare, key, grace.person), ...signatures, decision, callEntry()];
    expect(check(entries)).toEqual({
      signers: [ada, { person: 'person:grace', fingerprint: spare.fingerprint, call: 'c1' }],
      problems: [],
    });
  });

  it('are none for a call that was not signed', () => {
    const { approval: _, ...open } = callEntry();
    const entries = [FIRST, decisionEntry(), callEntry(), open];
    expect(check(entries)).toEqual({ signers: [], problems: [] });
  });

  it('are none by a decision that does not approve, or an entry that is not a decision', () => {
    const { decision } = signedEntries([{ key }]);
    for (const changes of [{ status: 'rejected' }, { kind: 'edit' as const }]) {
      const entries = [...keys, { ...decision, ...changes }, callEntry()];
      expect(check(entries)).toEqual({ signers: [], problems: [] });
    }
  });

  it('are none for a part, which runs under the approval of the whole', () => {
    const part = callEntry({ parent: 'c0', tool: 'other' });
    expect(check([...decided(), part], [key.fingerprint])).toEqual({ signers: [], problems: [] });
  });

  it('has no call to name when the entry does not name one', () => {
    const { call: _, ...nameless } = callEntry();
    expect(check([...decided(), nameless]).signers).toEqual([{ ...ada, call: '' }]);
  });
});

describe('a signed decision is refused', () => {
  const notCovered = (seq: number) => `Entry ${seq} approves ${UUID} by a signature that does not cover it.`;
  let signatures: EntryInput[];
  let decision: EntryInput;
  beforeEach(() => {
    ({ signatures, decision } = signedEntries([{ key }]));
  });

  it('when it cannot be read', () => {
    const unreadable = { ...decision, extra: { signed: { by: 1 } } };
    expect(check([...keys, ...signatures, unreadable, callEntry()])).toEqual({
      signers: [],
      problems: [notCovered(3)],
    });
  });

  it('when it does not say what it is about', () => {
    const { approval: _, ...vague } = decision;
    expect(check([...keys, ...signatures, vague]).problems).toEqual([
      'Entry 3 approves  by a signature that does not cover it.',
    ]);
  });

  it('when its signature is missing, or comes later', () => {
    expect(check([...keys, decision]).problems).toEqual([notCovered(2)]);
    expect(check([...keys, decision, ...signatures]).problems).toEqual([notCovered(2)]);
  });

  it('when one of two signatures is missing, and names the other signer', () => {
    const both = signedEntries([{ key }, grace]);
    const entries = [...keys, ...both.signatures.slice(0, 1), both.decision, callEntry()];
    expect(check(entries)).toEqual({ signers: [ada], problems: [notCovered(3)] });
  });

  it.each([
    ['tool', { tool: 'erase' }],
    ['approval', { approval: { uuid: UUID, digest: 'e'.repeat(64), requester: 'agent:local' } }],
    ['requester', { approval: { uuid: UUID, digest: DIGEST, requester: 'agent:other' } }],
    ['kind', { approval: { uuid: UUID, digest: DIGEST, requester: 'agent:local', permit: true } }],
  ])('when its signature is for another %s', (_, changes) => {
    expect(check([...keys, ...signatures, { ...decision, ...changes }]).problems).toEqual([notCovered(3)]);
  });

  it('when the signature is invalid, for the same reason as in the log', () => {
    const stranger = new Authenticator();
    const forged: EntryInput = {
      kind: 'signature',
      at: AT,
      extra: signature(['c'.repeat(64)], stranger, { log: logHash() }),
    };
    const { problems } = check([...keys, forged, { kind: 'passkey', at: AT, extra: { action: 'x' } }]);
    expect(problems).toEqual([
      `Entry 2 is signed by key ${stranger.fingerprint}, which was never enrolled.`,
      'Entry 3 changes passkeys in a way that cannot be read.',
    ]);
  });

  it('when the same signature is in the file twice', () => {
    const again = signatures.map((one): EntryInput => ({ ...one, client: 'again' }));
    expect(check([...keys, ...signatures, ...again, decision]).problems).toEqual([
      'Entry 3 repeats a signature used before.',
    ]);
  });

  it('when the first entry, which names the log, is missing', () => {
    const { problems } = checkSignatures(numbered([...keys, ...signatures]).slice(1), []);
    expect(problems[0]).toBe('Entry 1 was signed for another log.');
  });

  it('when it was signed for an entry that is not the first of the log', () => {
    const moved = numbered([...keys, ...signatures]).map((one) => ({ ...one, seq: one.seq + 1 }));
    expect(checkSignatures(moved, []).problems[0]).toBe('Entry 2 was signed for another log.');
  });

  it('but an error that is not about the entry is passed on', () => {
    const broken = signature(['c'.repeat(64)], key, { log: logHash() });
    const extra: JsonObject = { ...broken, statement: { ...broken.statement, person: '\ud800' } };
    const entry: Entry = { v: 1, kind: 'signature', at: AT, extra };
    const entries = [...numbered(keys), { seq: 2, hash: 'c'.repeat(64), entry }];
    expect(() => checkSignatures(entries, [])).toThrow('surrogate');
  });
});

describe('a call under a signed decision', () => {
  const other = `Entry 4 begins call c1 under ${UUID}, which was given for another call.`;

  it.each([
    ['tool', { tool: 'erase' }],
    ['digest', { digest: 'e'.repeat(64) }],
    ['digest of the approval', { approval: { uuid: UUID, digest: 'e'.repeat(64) } }],
    ['agent', { principal: 'agent:other' }],
  ])('is refused with another %s, and no one signed it', (_, changes) => {
    expect(check([...decided(), callEntry(changes)])).toEqual({ signers: [], problems: [other] });
  });

  it('is refused where neither it nor the decision names an approval', () => {
    const { decision } = signedEntries([{ key }]);
    const unnamed = { approval: undefined };
    for (const changes of [unnamed, { ...unnamed, digest: undefined }])
      expect(check([...keys, { ...decision, ...unnamed }, callEntry(changes)])).toEqual({
        signers: [],
        problems: [
          'Entry 2 approves  by a signature that does not cover it.',
          'Entry 3 begins call c1 under , which was given for another call.',
        ],
      });
  });

  it('may have another digest and another agent only where the decision gave a permit', () => {
    const approval = { uuid: UUID, digest: DIGEST, requester: 'agent:local', permit: true };
    const permitted = decided({ approval });
    const changed = callEntry({ digest: 'e'.repeat(64), principal: 'agent:other' });
    expect(check([...permitted, changed])).toEqual({ signers: [ada], problems: [] });
    for (const changes of [{ tool: 'erase' }, { approval: { uuid: UUID, digest: 'e'.repeat(64) } }])
      expect(check([...permitted, callEntry(changes)]).problems).toEqual([other]);
  });
});

describe('given signers', () => {
  const signed = () => [...decided(), callEntry()];

  it('are recognised however the fingerprint is written', () => {
    const written = key.fingerprint.toUpperCase().replaceAll(/(..)/g, '$1:');
    expect(check(signed(), [written]).problems).toEqual([]);
  });

  it('vouch for the keys they countersigned, and for no other', () => {
    const { signatures, decision } = signedEntries([grace]);
    const entries = [...keys, enrolEntry(spare, key, grace.person), ...signatures, decision, callEntry()];
    expect(check(entries, [key.fingerprint]).problems).toEqual([]);
    expect(check(entries, [spare.fingerprint]).problems).toEqual([]);
    expect(check(signed(), [spare.fingerprint]).problems).toEqual([
      `Key ${key.fingerprint} is not one of the given signers, and none of them vouches for it.`,
    ]);
  });

  it('vouch for them also when their own key was removed since then', () => {
    const remove = order({ action: 'remove', key: key.fingerprint }, spare, { log: logHash() });
    const { signatures, decision } = signedEntries([grace]);
    const entries: EntryInput[] = [
      ...[...keys, enrolEntry(spare, key, grace.person)],
      { kind: 'passkey', at: AT, extra: remove },
      ...[...signatures, decision, callEntry()],
    ];
    expect(check(entries, [key.fingerprint]).problems).toEqual([]);
    expect(check(entries, ['0'.repeat(32)]).problems).toEqual([
      `Key ${spare.fingerprint} is not one of the given signers, and none of them vouches for it.`,
    ]);
  });

  it('are missed where the file does not show who signed an approved call', () => {
    const { approval: _, ...open } = callEntry();
    const missing = { signers: [], problems: ['The file does not show who signed call c1.'] };
    expect(check([FIRST, callEntry()], [key.fingerprint])).toEqual(missing);
    expect(check([FIRST, decisionEntry(), callEntry()], [key.fingerprint])).toEqual(missing);
    expect(check([FIRST, open, callEntry({ kind: 'outcome' })], [key.fingerprint]).problems).toEqual([]);
    expect(check([FIRST, callEntry()])).toEqual({ signers: [], problems: [] });
  });
});
