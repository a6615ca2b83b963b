import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { leafHash } from '../../../lib/merkle.ts';
import { type NoteSigner, noteKey, signNote } from '../signing/note.ts';
import { CheckpointCheck } from './checkpoints.ts';
import { KeyCheck } from './keys.ts';
import { Problems } from './report.ts';

const AT = '2026-01-01T00:00:00.000Z';
const OTHER = leafHash('other');
const rootAt = (size: number) => leafHash(`root ${size}`);

function newSigner(name = 'test/log'): NoteSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { key: noteKey(name, publicKey), sign: (message) => sign(null, message, privateKey) };
}

describe('checkpoints against the log', () => {
  let store: TestStore;
  let problems: Problems;
  let signer: NoteSigner;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    problems = new Problems();
    signer = newSigner();
  });
  afterEach(() => store.database.db.deleteFrom('audit_checkpoints').execute());

  const textOf = (size: number, { origin = 'test/log', root = rootAt(size) } = {}) =>
    `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\ntime ${AT}\n`;
  const noteOf = (size: number, by = signer, more = {}) => signNote(textOf(size, more), by);
  const insert = (...rows: { size: number; note?: string; root?: string; at?: string }[]) =>
    store.database.db
      .insertInto('audit_checkpoints')
      .values(rows.map((row) => ({ note: noteOf(row.size), root: rootAt(row.size), at: AT, ...row })))
      .execute();
  const messages = () => problems.list.map(({ message }) => message);

  function open({
    signers = [signer],
    given = [],
    outside = [],
    largestStored = 1_000_000,
  }: {
    signers?: NoteSigner[];
    given?: string[];
    outside?: string[];
    largestStored?: number;
  } = {}): CheckpointCheck {
    const keys = new KeyCheck(given, problems);
    for (const { key } of signers)
      keys.record(0, { v: 1, kind: 'checkpoint-key', at: AT, extra: { action: 'add', key: key.text } });
    return new CheckpointCheck(store.database, keys, problems, { outside, largestStored });
  }
  /** As the scan does it: every checkpoint up to the size of the log. */
  async function checkTo(size: number, checks: CheckpointCheck): Promise<CheckpointCheck> {
    for (let next = await checks.next(); next <= size; next = await checks.next())
      checks.check(next, rootAt(next));
    return checks;
  }

  it('are all compared, stored or kept outside, in the order of their sizes', async () => {
    await insert({ size: 1 }, { size: 4 }, { size: 9 });
    const checks = open({ outside: [noteOf(7), noteOf(4), noteOf(2), noteOf(4)] });
    const sizes: number[] = [];
    for (let next = await checks.next(); next !== Infinity; next = await checks.next()) {
      sizes.push(next);
      checks.check(next, rootAt(next));
    }
    expect(sizes).toEqual([1, 2, 4, 7, 9]);
    expect(checks.verified).toBe(7);
    expect(checks.last).toEqual({ origin: 'test/log', size: 9, root: rootAt(9), at: AT });
    expect(checks.origin).toBe('test/log');
    await checks.finish(9);
    expect(messages()).toEqual([]);
  });

  it('have nothing to say when there are none', async () => {
    const checks = await checkTo(5, open());
    expect(await checks.next()).toBe(Infinity);
    await checks.finish(5);
    expect([checks.verified, checks.last, checks.origin]).toEqual([0, undefined, undefined]);
    expect(messages()).toEqual([]);
  });

  it('are read on, however many there are', async () => {
    const sizes = Array.from({ length: 502 }, (_, index) => index + 1);
    await insert(...sizes.map((size) => ({ size, note: 'x' })));
    const checks = open();
    const seen: number[] = [];
    for (let next = await checks.next(); next !== Infinity; next = await checks.next()) {
      seen.push(next);
      checks.check(next, undefined);
    }
    expect(seen).toEqual(sizes);
  });

  it('that were written while the log was read are left for the next time', async () => {
    await insert({ size: 4 }, { size: 9 });
    const checks = await checkTo(4, open({ largestStored: 4 }));
    expect(await checks.next()).toBe(Infinity);
    expect(checks.verified).toBe(1);
  });

  it('that are kept outside must be checkpoints', async () => {
    const checks = open({ outside: ['nonsense', noteOf(3)] });
    expect(await checks.next()).toBe(3);
    expect(problems.list).toEqual([
      {
        code: 'checkpoint',
        seq: undefined,
        message: 'A given checkpoint is unreadable.',
      },
    ]);
  });

  it('with another root name the entries since the last one that was right', async () => {
    await insert({ size: 3, root: OTHER, note: noteOf(3, signer, { root: OTHER }) }, { size: 5 });
    await insert({ size: 9, root: OTHER, note: noteOf(9, signer, { root: OTHER }) });
    const checks = await checkTo(9, open());
    expect(problems.list).toEqual([
      {
        code: 'checkpoint',
        seq: 0,
        to: 2,
        message: 'The checkpoint at size 3 has a different root: entries 0 to 2 are not what was signed.',
      },
      {
        code: 'checkpoint',
        seq: 5,
        to: 8,
        message: 'The checkpoint at size 9 has a different root: entries 5 to 8 are not what was signed.',
      },
    ]);
    expect(checks.verified).toBe(1);
    expect(checks.last?.size).toBe(5);
  });

  it('cannot be compared after a missing entry, but their signatures can', async () => {
    await insert({ size: 3 }, { size: 5, note: noteOf(5, newSigner()) });
    const checks = open();
    await checks.next();
    checks.check(3, undefined);
    expect(messages()).toEqual([]);
    checks.check(5, undefined);
    expect(messages()).toEqual([expect.stringContaining('size 5 is not signed by a known key')]);
    expect([checks.verified, checks.last]).toEqual([0, undefined]);
  });

  it.each<[string, () => { note?: string; root?: string; at?: string }]>([
    ['is not a signed note', () => ({ note: 'nonsense' })],
    ['is signed, but has the wrong content', () => ({ note: signNote('hello\n', signer) })],
    ['is signed, but has the wrong content', () => ({ note: noteOf(3) })],
    [
      'is for other/log, but its key is for test/log',
      () => ({ note: noteOf(5, signer, { origin: 'other/log' }) }),
    ],
    ['was signed with different values from those in its row', () => ({ root: OTHER })],
    ['was signed with different values from those in its row', () => ({ at: '2026-01-02T00:00:00.000Z' })],
  ])('are named when one %s', async (fault, row) => {
    await insert({ size: 5, ...row() });
    const checks = await checkTo(5, open());
    expect(problems.list).toEqual([
      { code: 'checkpoint', seq: 4, message: `The checkpoint at size 5 ${fault}.` },
    ]);
    expect(checks.verified).toBe(0);
  });

  it('are named when they belong to different logs', async () => {
    const other = newSigner('other/log');
    await insert({ size: 3 }, { size: 5, note: noteOf(5, other, { origin: 'other/log' }) });
    const checks = await checkTo(5, open({ signers: [signer, other] }));
    expect(messages()).toEqual(['The checkpoint at size 5 belongs to another log (other/log).']);
    expect(checks.origin).toBe('test/log');
  });

  describe('that are larger than the log', () => {
    it('show that it was cut', async () => {
      await insert({ size: 3 }, { size: 9 });
      const checks = await checkTo(4, open({ outside: [noteOf(9), noteOf(7)] }));
      await checks.finish(4);
      const message = (size: number) =>
        `The log has 4 entries, but a signed checkpoint says ${size}: at least the last ${size - 4} were removed.`;
      expect(problems.list).toEqual(
        [7, 9, 9].map((size) => ({ code: 'truncated', seq: 4, message: message(size) })),
      );
      expect(checks.verified).toBe(1);
    });

    it('show nothing when they are not signed by a key of the log', async () => {
      const checks = await checkTo(4, open({ outside: [noteOf(9, newSigner())] }));
      await checks.finish(4);
      expect(problems.list.map(({ code }) => code)).toEqual(['checkpoint']);
    });
  });

  describe('over the announcement of a key', () => {
    it('must be stored', async () => {
      const missing = {
        code: 'checkpoint',
        seq: 4,
        message: 'The checkpoint at size 5 is missing, although the log announced the key that signed it.',
      };
      const checks = open({ outside: [noteOf(5)] });
      checks.require(5);
      await checkTo(9, checks);
      await checks.finish(9);
      expect(checks.verified).toBe(1);
      expect(problems.list).toEqual([missing]);
    });

    it('are not missed when they are', async () => {
      await insert({ size: 5 });
      const checks = open();
      checks.require(5);
      await checkTo(9, checks);
      await checks.finish(9);
      expect(messages()).toEqual([]);
    });
  });

  describe('by a key that only the log names', () => {
    it('are doubted when the caller gave others', async () => {
      await insert({ size: 3 }, { size: 5 });
      const checks = await checkTo(5, open({ given: [newSigner().key.text] }));
      await checks.finish(5);
      expect(problems.list).toEqual(
        [3, 5].map((size) => ({
          code: 'key',
          seq: size - 1,
          message: `The checkpoint at size ${size} is signed by ${signer.key.text}, which is not one of the given keys.`,
        })),
      );
    });

    it('are believed up to a later one by a given key', async () => {
      const trusted = newSigner();
      await insert({ size: 3 }, { size: 5, note: noteOf(5, trusted) }, { size: 9 });
      const checks = await checkTo(9, open({ given: [trusted.key.text] }));
      await checks.finish(9);
      expect(problems.list.map(({ code, seq }) => [code, seq])).toEqual([['key', 8]]);
    });
  });
});
