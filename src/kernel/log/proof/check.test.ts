import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import type { ProofFile } from '../../../contract/ports.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { signNote } from '../signing/note.ts';
import { checkProof } from './check.ts';
import { proveCall } from './prove.ts';
import { callEntry, enrolEntry, FIRST, signedEntries } from './signed.fixture.ts';

describe('the check of a proof', () => {
  const key = new Authenticator();
  let store: TestStore;
  let scribe: LogScribe;
  let proof: ProofFile;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
    const { signatures, decision } = signedEntries([{ key }]);
    await append([
      FIRST,
      enrolEntry(key),
      ...signatures,
      decision,
      callEntry(),
      callEntry({ kind: 'outcome' }),
    ]);
    proof = await prove('c1');
  });
  afterAll(() => store.close());

  const append = (entries: readonly EntryInput[]) =>
    store.database.write((trx) => appendEntries(trx, 'sqlite', entries.map(prepareEntry)));
  const prove = async (call: string) => {
    const made = await proveCall(store.database, scribe.signer, call, scribe.now);
    if (!made) throw new Error(`no proof of ${call}`);
    return made;
  };
  const strangersKey = async () => {
    const other = await openTestStore('sqlite');
    const stranger = await LogScribe.open(other.database, other.dataDir);
    await other.close();
    return stranger.signer;
  };
  const nothingProven = {
    ...{ ok: false, trusted: false, key: undefined, checkpoint: undefined, entries: [], signers: [] },
  };

  it('reports what the file proves', () => {
    const { key: signing } = scribe.signer;
    expect(proof).toMatchObject({ format: 'countersign-proof/2', call: 'c1', size: 7 });
    const report = checkProof(proof);
    expect(report).toMatchObject({
      ok: true,
      trusted: false,
      key: signing.text,
      checkpoint: { origin: signing.name, size: 7 },
      signers: [{ call: 'c1', person: 'person:ada' }],
      problems: [],
    });
    expect(report.entries.map(({ seq, hash, entry }) => [seq, hash.length, entry.kind])).toEqual([
      [4, 64, 'intent'],
      [5, 64, 'outcome'],
      [0, 64, 'config'],
      [1, 64, 'passkey'],
      [2, 64, 'signature'],
      [3, 64, 'approval'],
    ]);
    expect(checkProof(proof, { publicKeys: [signing.text] })).toEqual({ ...report, trusted: true });
  });

  it.each([
    ['nothing', null],
    ['no format', { format: undefined }],
    ['another format', { format: 'countersign-bundle/1' }],
    ['no call', { call: undefined }],
    ['no entries', { entries: [] }],
    ['an entry before the first', { entries: [{ seq: -1, body: '{}', path: [] }] }],
    ['an entry between two', { entries: [{ seq: 0.5, body: '{}', path: [] }] }],
    ['an entry without its text', { entries: [{ seq: 0, path: [] }] }],
    ['an entry without its path', { entries: [{ seq: 0, body: '{}' }] }],
    ['a path that is not text', { entries: [{ seq: 0, body: '{}', path: [1] }] }],
    ['support that is not entries', { support: [{}] }],
    ['an empty log', { size: 0 }],
    ['no checkpoint', { checkpoint: null }],
    ['no key', { publicKey: 1 }],
  ])('refuses a file with %s', (_, changes) => {
    const report = checkProof(changes && { ...proof, ...changes });
    expect(report).toEqual({ ...nothingProven, problems: [expect.stringMatching(/^Not a proof file: \S/)] });
  });

  it('accepts a file of version 1 without support', async () => {
    await scribe.read('plain');
    const plain = await prove('plain');
    expect(plain).toMatchObject({ format: 'countersign-proof/1' });
    expect('support' in plain).toBe(false);
    expect(checkProof(plain)).toMatchObject({ ok: true, signers: [], problems: [] });
  });

  it('refuses keys that cannot be read', () => {
    const message = '"x" is not a public key of the form name+hash+base64.';
    expect(checkProof({ ...proof, publicKey: 'x' })).toEqual({ ...nothingProven, problems: [message] });
    expect(checkProof(proof, { publicKeys: [proof.publicKey, 'x'] })).toEqual({
      ...nothingProven,
      problems: [message],
    });
  });

  it('believes the given keys and not the one in the file', async () => {
    const stranger = await strangersKey();
    const report = checkProof(proof, { publicKeys: [stranger.key.text] });
    expect(report).toMatchObject(nothingProven);
    expect(report.problems).toEqual([expect.stringContaining('The checkpoint is not signed by a known key')]);
    expect(
      checkProof({ ...proof, publicKey: stranger.key.text }, { publicKeys: [proof.publicKey] }),
    ).toMatchObject({
      ok: false,
      trusted: true,
      problems: ['The file names a different key from the one that signed it.'],
    });
  });

  it('refuses a signed note that is not a checkpoint, or one of another log', () => {
    for (const text of ['hello\n', proof.checkpoint.split('\n\n')[0]?.replace(/^[^\n]+/, 'another/log')])
      expect(checkProof({ ...proof, checkpoint: signNote(`${text}\n`, scribe.signer) })).toEqual({
        ...nothingProven,
        problems: ['The signed note is not a checkpoint of this log.'],
      });
  });

  it('refuses a size other than that of the checkpoint, and entries of another call', () => {
    expect(checkProof({ ...proof, size: 8 })).toMatchObject({
      ok: false,
      problems: ['The file says that the audit log had 8 entries; its checkpoint says 7.'],
    });
    expect(checkProof({ ...proof, call: 'c2' })).toMatchObject({
      ok: false,
      problems: ['Entry 4 is about call c1, not c2.', 'Entry 5 is about call c1, not c2.'],
    });
  });

  it.each(['entries', 'support'] as const)(
    'refuses a changed entry, position or path among the %s',
    (part) => {
      const [first, ...rest] = proof[part] ?? [];
      const { seq = 0, body = '', path = [] } = first ?? {};
      for (const changed of [
        { seq, body: body.replace('{', '{ '), path },
        { seq: seq + 8, body, path },
        { seq, body, path: path.slice(1) },
      ]) {
        const report = checkProof({ ...proof, [part]: [changed, ...rest] });
        expect(report.ok).toBe(false);
        expect(report.problems).toContain(
          `Entry ${changed.seq} is not in the signed log: its body, position or path was changed.`,
        );
      }
    },
  );

  it.each([
    'not JSON',
    'null',
    // Half of a character has no canonical form, over which a signature could be.
    '{"kind":"signature","extra":{"statement":{"person":"\\ud800"}}}',
  ])('reports an entry that cannot be read: %s', (body) => {
    const report = checkProof({ ...proof, support: [{ seq: 0, body, path: [] }] });
    expect(report.ok).toBe(false);
    expect(report.problems).toContain('Entry 0 is unreadable.');
    expect(report.entries.map(({ seq }) => seq)).toEqual([4, 5]);
  });

  it('requires the given signers', () => {
    expect(checkProof(proof, { signers: [key.fingerprint] }).problems).toEqual([]);
    expect(checkProof(proof, { signers: ['0'.repeat(32)] })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('is not one of the given signers')],
    });
  });
});
