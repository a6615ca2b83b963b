import { describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { dated, type EntryDraft } from './history.fixture.ts';
import {
  AT,
  asked,
  change,
  decide,
  destroy,
  EXPIRES,
  enrol,
  itemFor,
  leafOf,
  openPasskeyLog,
  ROOT,
  read,
  receiptOf,
  reset,
  setMode,
} from './passkeys.fixture.ts';
import { PasskeyCheck } from './passkeys.ts';
import { Problems } from './report.ts';

const log = openPasskeyLog();
const key = new Authenticator();
const other = new Authenticator();

const signedBy = (by: Authenticator, person = 'person:ada', items = [itemFor()]): EntryDraft => ({
  kind: 'signature',
  at: AT,
  principal: person,
  extra: receiptOf(by, items, { person }),
});
const messages = async (...entries: EntryDraft[]) => (await log.verify(entries)).messages;

describe('the keys that verify finds in the log', () => {
  const trust = async (entries: EntryDraft[], given: string[] = []) =>
    (await log.verify(entries, { given })).check.summary.map((one) => one.trust);

  it('are listed with their person and name, removed ones too', async () => {
    const { check } = await log.verify([enrol(key), enrol(other, key, 'person:eve', 'Spare'), reset]);
    expect(check.summary).toEqual([
      { fingerprint: key.fingerprint, person: 'person:ada', name: 'Key', trust: 'recorded' },
      { fingerprint: other.fingerprint, person: 'person:eve', name: 'Spare', trust: 'recorded' },
    ]);
    expect(check.resets).toBe(1);
  });

  it('are trusted when they are given, or endorsed by a key that is', async () => {
    const third = new Authenticator();
    const entries = [enrol(key), enrol(other, key), enrol(third, other)];
    expect(await trust(entries)).toEqual(['recorded', 'recorded', 'recorded']);
    expect(await trust(entries, [key.fingerprint])).toEqual(['given', 'endorsed', 'endorsed']);
    expect(await trust(entries, [other.fingerprint])).toEqual(['recorded', 'given', 'endorsed']);
  });

  it('are found however a given fingerprint is written', async () => {
    const written = key.fingerprint.toUpperCase().replaceAll(/(..)(?=.)/g, '$1:');
    expect(await trust([enrol(key)], [written])).toEqual(['given']);
  });

  it('are told apart where two have the same credential', async () => {
    const twin = Object.assign(new Authenticator(), { credential: key.credential });
    const entries = [enrol(key), enrol(other, key), enrol(twin, key), signedBy(twin)];
    const given = [other.fingerprint];
    const { check, messages } = await log.verify(entries, {
      given,
      receipts: [receiptOf(twin, [itemFor()])],
    });
    expect(check.summary.map((one) => one.fingerprint)).toEqual(
      [key, other, twin].map((one) => one.fingerprint),
    );
    expect(messages).toEqual([
      `Entry 4 is signed by key ${twin.fingerprint}, for which none of the given signers vouches.`,
    ]);
  });

  it('are missed when they are given and the log does not have them', async () => {
    const { problems } = await log.verify([enrol(key)], { given: [key.fingerprint, 'F0'.repeat(16)] });
    expect(problems).toEqual([
      {
        code: 'signature',
        seq: undefined,
        message: `The log has no key ${'f0'.repeat(16)}, which was given as a signer.`,
      },
    ]);
  });

  it('set the mode', async () => {
    expect((await log.verify([enrol(key)])).check.mode).toBe('off');
    expect((await log.verify([enrol(key), setMode(key, 'always')])).check.mode).toBe('always');
  });
});

describe('a signature in the log', () => {
  it('counts, and is valid for the person who owns the key', async () => {
    const { check, messages } = await log.verify([enrol(key), signedBy(key), signedBy(key)]);
    expect(messages).toEqual([]);
    expect(check.signatures).toBe(2);
  });

  it('is named when its entry names another person', async () => {
    expect(await messages(enrol(key), { ...signedBy(key), principal: 'person:eve' })).toEqual([
      'Entry 2 names person:eve, but person:ada signed.',
    ]);
  });

  it('is named when its key is neither given nor endorsed by one that is', async () => {
    const signed = [enrol(key), enrol(other, key), signedBy(key)];
    expect((await log.verify(signed, { given: [key.fingerprint] })).messages).toEqual([]);
    expect((await log.verify(signed, { given: [other.fingerprint] })).messages).toEqual([
      `Entry 3 is signed by key ${key.fingerprint}, for which none of the given signers vouches.`,
    ]);
  });

  it('is named when the history before it is not the one that was signed', async () => {
    const { check, problems } = await log.open();
    const take = (seq: number, entry: EntryDraft) => check.take(seq, leafOf(seq), dated(entry));
    check.root(1, 'c'.repeat(64));
    take(1, enrol(key));
    take(2, signedBy(key));
    expect(problems.list.map(({ message }) => message)).toEqual([
      'Entry 1 was signed for a different history: the first 1 entries are not those signed.',
      'Entry 2 was signed for a different history: the first 1 entries are not those signed.',
    ]);
  });

  it('is named when it claims to follow entries that come after it', async () => {
    const { check, problems } = await log.open();
    check.root(1, ROOT);
    check.take(0, leafOf(0), dated(enrol(key)));
    expect(problems.list.map(({ message }) => message)).toEqual(['Entry 0 claims to follow 1 entries.']);
  });

  it('is named when its key was never enrolled, and a change of keys when it cannot be read', async () => {
    expect(await messages(enrol(key), signedBy(other), { ...reset, extra: { action: 'forget' } })).toEqual([
      `Entry 2 is signed by key ${other.fingerprint}, which was never enrolled.`,
      'Entry 3 changes passkeys in a way that cannot be read.',
    ]);
  });

  it('does not hide an error that is not about the entry', async () => {
    const { check } = await log.open();
    const entry = dated({ kind: 'passkey' });
    Object.defineProperty(entry, 'extra', {
      get() {
        throw new Error('out of memory');
      },
    });
    expect(() => check.take(1, leafOf(1), entry)).toThrow('out of memory');
  });
});

describe('a call that had to be signed', () => {
  const always = [enrol(key), setMode(key, 'always')];
  const destructive = [enrol(key), setMode(key, 'destructive')];
  const requires = (seq: number, what = 'a signature', have: number | string = 'none') =>
    `Entry ${seq} begins call c under approval u, which requires ${what}; it has ${have}.`;

  it('is accepted when it was', async () => {
    for (const run of [change, read])
      expect(await messages(...always, signedBy(key), decide([leafOf(3)]), run)).toEqual([]);
  });

  it('is accepted again when its approval came back or its read was lost', async () => {
    const signed = [...always, signedBy(key), decide([leafOf(3)])];
    const moved = (status: string): EntryDraft => ({ ...asked, status });
    expect(await messages(...signed, change, moved('returned'), change)).toEqual([]);
    expect(await messages(...signed, moved('failed'), read)).toEqual([]);
  });

  it('is named when no one signed', async () => {
    expect(await messages(...always, decide(), change)).toEqual([requires(4)]);
    expect(await messages(...always, decide(), { ...change, decision: 'allow' })).toEqual([requires(4)]);
    expect(await messages(...always, change)).toEqual([requires(3)]);
    expect(await messages(...always, { ...read, kind: 'call' })).toEqual([requires(3)]);
  });

  it('is named when all keys were given up after it was signed', async () => {
    const entries = [...always, { ...asked, extra: { sign: 1 } }, signedBy(key), decide([leafOf(4)])];
    expect(await messages(...entries, change)).toEqual([]);
    expect(await messages(...entries, reset, enrol(other), setMode(other, 'always'), change)).toEqual([
      requires(9),
    ]);
  });

  it('is only one that destroys where the mode says so', async () => {
    expect(await messages(...destructive, decide(), change)).toEqual([]);
    expect(await messages(...destructive, decide(), destroy)).toEqual([requires(4)]);
    expect(await messages(...destructive, decide(), { ...change, effect: undefined })).toEqual([]);
  });

  it('is also a part that required approval, under the approval of the whole', async () => {
    const part: EntryDraft = { ...destroy, parent: 'whole' };
    expect(await messages(...destructive, decide(), part)).toEqual([requires(4)]);
    expect(await messages(...destructive, decide(), { ...part, decision: 'allow' })).toEqual([]);
    expect(await messages(...always, decide(), { ...read, parent: 'whole' })).toEqual([]);
  });

  it('is signed by as many people as were asked for', async () => {
    const two: EntryDraft = { ...asked, extra: { sign: 2 } };
    const keys = [enrol(key), enrol(other, key, 'person:eve')];
    const both = [signedBy(key), signedBy(other, 'person:eve')];
    const people = 'the signatures of 2 people';
    expect(await messages(...keys, two, ...both, decide([leafOf(4), leafOf(5)]), change)).toEqual([]);
    expect(await messages(...keys, two, ...both, decide([leafOf(4)]), change)).toEqual([
      requires(7, people, 1),
    ]);
    const twice = [signedBy(key), signedBy(key)];
    expect(await messages(...keys, two, ...twice, decide([leafOf(4), leafOf(5)]), change)).toEqual([
      requires(7, people, 1),
    ]);
    expect(await messages(...keys, two, decide(), change)).toEqual([requires(5, people)]);
  });

  it('needs no fewer people because it is asked for again', async () => {
    const request = (sign: number | string): EntryDraft => ({ ...asked, extra: { sign } });
    expect(await messages(request(1), request(0), request('none'), decide(), change)).toEqual([requires(5)]);
  });

  it('is not one because an entry that does not ask for it says so', async () => {
    const rejected: EntryDraft = { ...asked, status: 'rejected', extra: { sign: 1 } };
    expect(await messages(rejected, asked, decide(), change)).toEqual([]);
  });

  it('is named when it begins after the time that was signed', async () => {
    const signed = [...always, signedBy(key), decide([leafOf(3)])];
    const later = '2026-03-01T13:00:00.001Z';
    expect(await messages(...signed, { ...change, at: EXPIRES })).toEqual([]);
    expect(await messages(...signed, { ...change, at: later })).toEqual([
      `Entry 5 begins call c under approval u, which was signed until ${EXPIRES}.`,
    ]);
    // The entry of a read is dated by its end.
    expect(await messages(...signed, { ...read, at: later })).toEqual([]);
    const unlimited = [...always, signedBy(key, 'person:ada', [itemFor(null)]), decide([leafOf(3)], null)];
    expect(await messages(...unlimited, { ...change, at: later })).toEqual([]);
  });

  it('may not run under a standing approval', async () => {
    const standing: EntryDraft = { ...change, approval: undefined, extra: { standing: 's' } };
    expect(await messages(...always, standing)).toEqual([
      'Entry 3 begins call c under standing approval s, although the call had to be signed.',
    ]);
    expect(await messages(...destructive, standing)).toEqual([]);
    expect(await messages(...always, { ...standing, kind: 'read' })).toEqual([]);
    expect(await messages(...always, { ...standing, extra: { standing: 1 } })).toEqual([]);
  });
});

describe('a decision', () => {
  const signed = [enrol(key), signedBy(key)];

  it('needs no signature while none is asked for', async () => {
    expect(await messages(decide(), change)).toEqual([]);
    expect(await messages(change)).toEqual([]);
    expect(await messages({ ...decide(), approval: undefined })).toEqual([]);
  });

  it('is named when its signatures cannot be read', async () => {
    expect(await messages(...signed, { ...decide(), extra: { signed: {} } })).toEqual([
      'Entry 3 approves u with signatures that cannot be read.',
    ]);
  });

  it('is named when its signature is not in the log', async () => {
    expect(await messages(...signed, decide([leafOf(9)]))).toEqual([
      'Entry 3 approves u by a signature that is not in the log.',
    ]);
  });

  it('is named when its signature covers something else, and counts for nothing', async () => {
    const elsewhere = signedBy(key, 'person:ada', ['f'.repeat(64)]);
    const entries = [enrol(key), setMode(key, 'always'), elsewhere, decide([leafOf(3)]), change];
    expect(await messages(...entries)).toEqual([
      'Entry 4 approves u, which its signature does not cover.',
      'Entry 5 begins call c under approval u, which requires a signature; it has none.',
    ]);
  });

  it('is named when its signature was used before', async () => {
    expect(await messages(...signed, decide([leafOf(2)]), decide([leafOf(2)]))).toEqual([
      'Entry 4 uses a signature a second time.',
    ]);
  });
});

describe('a receipt that a person kept', () => {
  const receipt = () => receiptOf(key, [itemFor()]);
  const problems = async (receipts: Parameters<typeof log.verify>[1], entries = [enrol(key)]) =>
    (await log.verify(entries, receipts)).problems;

  it('is accepted by the log that was signed, up to its last entry', async () => {
    expect(await problems({ receipts: [receipt()] })).toEqual([]);
    expect(await problems({ receipts: [receipt()], size: 1 })).toEqual([]);
    expect(await problems({ receipts: [receipt()] }, [enrol(key), reset])).toEqual([]);
  });

  it('is named when it cannot be read', async () => {
    expect(await problems({ receipts: [{}] })).toEqual([
      { code: 'signature', seq: undefined, message: 'A receipt cannot be read.' },
    ]);
  });

  it('is named when the log does not have its key', async () => {
    expect(await problems({ receipts: [receiptOf(other, [itemFor()])] })).toEqual([
      {
        code: 'signature',
        seq: undefined,
        message: `The receipt of ${AT} was signed by key ${other.fingerprint}, which this log does not have.`,
      },
    ]);
  });

  it('is named when its signature is not valid', async () => {
    const { statement, by } = receipt();
    expect(await problems({ receipts: [{ statement: { ...statement, person: 'person:eve' }, by }] })).toEqual(
      [
        {
          code: 'signature',
          seq: undefined,
          message: `The receipt of ${AT} does not carry a valid signature.`,
        },
      ],
    );
  });

  it('shows that the log was rewritten or its end was cut', async () => {
    const differs = (size: number) =>
      `The log is not the one that was signed on ${AT}: its first ${size} entries differ or are missing.`;
    const rewritten = receiptOf(key, [itemFor()], { head: { size: 1, root: 'c'.repeat(64) } });
    expect(await problems({ receipts: [rewritten], size: 1 })).toEqual([
      { code: 'signature', seq: undefined, message: differs(1) },
    ]);
    const cut = receiptOf(key, [itemFor()], { head: { size: 5, root: ROOT } });
    expect(await problems({ receipts: [cut] })).toEqual([{ code: 'signature', seq: 2, message: differs(5) }]);
  });
});

describe('the sizes at which roots are compared', () => {
  const awaited = async (receipts: readonly JsonObject[]) => {
    const { check } = await log.open({ receipts });
    const sizes = [];
    for (; check.awaited !== Number.POSITIVE_INFINITY; check.root(check.awaited, ROOT))
      sizes.push(check.awaited);
    return sizes;
  };

  it('are those of the log and of the receipts, once each and in order', async () => {
    const sized = (size: number) => receiptOf(key, [itemFor()], { head: { size, root: ROOT } });
    const sizes = [1, 20, 3, 3];
    for (const [index, size] of sizes.entries()) {
      const body = `{"extra":{"statement":{"head":{"size":${size}}}},"kind":"signature"}`;
      const row = { call_id: null, run_id: null, kind: 'signature', at: AT, body };
      await log.store.database.db
        .insertInto('audit_log')
        .values({ seq: index + 1, hash: leafOf(index + 1), ...row })
        .execute();
    }
    expect(await awaited([sized(4), {}, sized(20)])).toEqual([1, 3, 4, 20]);
  });

  it('are none where nothing was signed or a receipt cannot be read, and before the log is opened', async () => {
    expect(new PasskeyCheck(new Problems(), [], []).awaited).toBe(Number.POSITIVE_INFINITY);
    expect(await awaited([{}])).toEqual([]);
  });
});
