import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import type { Entry } from '../entry.ts';
import { type NoteKey, noteKey } from '../signing/note.ts';
import { endorsementText } from '../signing/signer.ts';
import { KeyCheck } from './keys.ts';
import { Problems } from './report.ts';

interface Pair {
  readonly key: NoteKey;
  readonly privateKey: KeyObject;
}

function newPair(): Pair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { key: noteKey('test/log', publicKey), privateKey };
}

const announcement = (extra?: JsonObject): Entry => ({
  v: 1,
  kind: 'checkpoint-key',
  at: '2026-01-01T00:00:00.000Z',
  extra,
});
const added = ({ key }: Pair) => announcement({ action: 'add', key: key.text });
const rotated = (old: Pair, next: Pair, endorser = old) =>
  announcement({
    action: 'rotate',
    key: next.key.text,
    retires: old.key.text,
    endorsement: sign(null, Buffer.from(endorsementText(next.key)), endorser.privateKey).toString('base64'),
  });

describe('the signing keys of a log', () => {
  let problems: Problems;
  let first: Pair;
  let second: Pair;
  beforeEach(() => {
    problems = new Problems();
    first = newPair();
    second = newPair();
  });

  const messages = () => problems.list.map(({ message }) => message);
  const validAt = (keys: KeyCheck, size: number) => keys.validAt(size).map(({ text }) => text);

  it('may sign from the checkpoint over their announcement on', () => {
    const keys = new KeyCheck([], problems);
    keys.record(4, added(first));
    expect(validAt(keys, 4)).toEqual([]);
    expect(validAt(keys, 5)).toEqual([first.key.text]);
    expect(validAt(keys, 5_000_000)).toEqual([first.key.text]);
    expect(keys.summary()).toEqual([{ key: first.key.text, trust: 'recorded', retired: false }]);
    expect(problems.list).toEqual([]);
  });

  it('may sign from the first entry on when the caller gave them', () => {
    const keys = new KeyCheck([first.key.text], problems);
    expect(validAt(keys, 1)).toEqual([first.key.text]);
    expect(keys.summary()).toEqual([{ key: first.key.text, trust: 'given', retired: false }]);
  });

  it('sign for the last time over their own retirement', () => {
    const keys = new KeyCheck([], problems);
    keys.record(0, added(first));
    keys.record(7, rotated(first, second));
    expect(validAt(keys, 7)).toEqual([first.key.text]);
    expect(validAt(keys, 8)).toEqual([first.key.text, second.key.text]);
    expect(validAt(keys, 9)).toEqual([second.key.text]);
    expect(keys.summary()).toEqual([
      { key: first.key.text, trust: 'recorded', retired: true },
      { key: second.key.text, trust: 'recorded', retired: false },
    ]);
    expect(problems.list).toEqual([]);
  });

  it('are believed without given keys', () => {
    const keys = new KeyCheck([], problems);
    keys.record(0, added(first));
    expect(keys.isTrusted(first.key)).toBe(true);
  });

  it('are believed with given keys only when one of those vouches for them', () => {
    const keys = new KeyCheck([`  ${first.key.text}\n`], problems);
    keys.record(0, added(first));
    keys.record(1, rotated(first, second));
    const third = newPair();
    const stranger = newPair();
    keys.record(2, rotated(second, third));
    keys.record(3, added(stranger));
    expect(keys.summary().map(({ key, trust }) => [key, trust])).toEqual([
      [first.key.text, 'given'],
      [second.key.text, 'endorsed'],
      [third.key.text, 'endorsed'],
      [stranger.key.text, 'recorded'],
    ]);
    expect([first, second, third, stranger].map(({ key }) => keys.isTrusted(key))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(problems.list).toEqual([]);
  });

  it('are not believed when a key that only the log names vouches for them', () => {
    const keys = new KeyCheck([newPair().key.text], problems);
    keys.record(0, added(first));
    keys.record(1, rotated(first, second));
    expect(keys.isTrusted(second.key)).toBe(false);
  });

  it('are refused when another key than the one they replace vouches for them', () => {
    const keys = new KeyCheck([], problems);
    keys.record(0, added(first));
    keys.record(3, rotated(first, second, second));
    expect(messages()).toEqual([
      `Entry 3 announces the signing key ${second.key.id}, but the key it replaces did not vouch for it.`,
    ]);
    expect(problems.list[0]).toMatchObject({ code: 'key', seq: 3 });
    expect(validAt(keys, 9)).toEqual([first.key.text]);
  });

  it('are refused when the endorsement is missing or names an unknown key', () => {
    const keys = new KeyCheck([], problems);
    keys.record(0, added(first));
    keys.record(1, announcement({ action: 'rotate', key: second.key.text, retires: first.key.text }));
    keys.record(2, rotated(newPair(), second));
    keys.record(3, announcement({ ...rotated(first, second).extra, retires: 7 }));
    expect(messages()).toHaveLength(3);
    expect(messages().every((message) => message.includes('did not vouch for it'))).toBe(true);
    expect(validAt(keys, 9)).toEqual([first.key.text]);
  });

  it('are named when they cannot be read', () => {
    const keys = new KeyCheck([], problems);
    keys.record(0, announcement());
    keys.record(1, announcement({ action: 'add', key: 7 }));
    keys.record(2, announcement({ action: 'add', key: 'test/log+00000000+AQ==' }));
    expect(messages()).toEqual([0, 1, 2].map((seq) => `Entry ${seq} announces an unreadable signing key.`));
    expect(problems.list.map(({ code, seq }) => [code, seq])).toEqual([
      ['key', 0],
      ['key', 1],
      ['key', 2],
    ]);
    expect(keys.summary()).toEqual([]);
  });

  it('must be readable where the caller gives them', () => {
    expect(() => new KeyCheck(['nonsense'], problems)).toThrow('is not a public key');
  });
});
