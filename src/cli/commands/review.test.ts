import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import { listenForKeys, reviewAll } from './review.ts';

describe('countersign review', () => {
  let store: TestStore;
  let test: TestKernel;
  const printed: string[] = [];
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
    printed.length = 0;
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed.push(String(text));
      return true;
    });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
  });

  const play = (keys: string[], lines: string[] = []) =>
    reviewAll(test.kernel.approvals, PERSON, {
      urlOf: async (id) => `http://localhost:7331/inbox/${id}`,
      key: async () => keys.shift() ?? 'q',
      line: async () => lines.shift() ?? '',
    });

  it('decides each approval with one key, destructive ones first and only after a typed word', async () => {
    for (const text of ['one', 'two', 'three']) await test.call('ledger_write', { text });
    await test.call('ledger_erase', { text: 'one' });
    // The erasure comes first: one key is not enough, a second attempt with the word is.
    const done = await play(['a', 'a', 'a', 'r', 's'], ['no', 'yes', 'not now']);
    expect(done).toEqual({ approved: 2, rejected: 1, skipped: 1 });
    const all = await test.kernel.approvals.list({ order: 'oldest' });
    expect(all.map(({ state, decisionReason }) => [state, decisionReason])).toEqual([
      ['pending', undefined],
      ['rejected', 'not now'],
      ['done', undefined],
      ['done', undefined],
    ]);
    const text = printed.join('');
    expect(text.indexOf('Delete')).toBeLessThan(text.indexOf('Write “three” to the ledger (local)'));
    expect(text).toContain('Effect      Changes data (On this machine)');
    expect(text).not.toContain('"text"');
  });

  it('ends at q and shows the exact arguments only when asked', async () => {
    await test.call('ledger_write', { text: 'one' });
    expect(await play(['j', 'x', 'q'])).toEqual({ approved: 0, rejected: 0, skipped: 0 });
    expect(printed.join('')).toContain('"text": "one"');
  });

  it('names the page where a call that needs a passkey is signed, and never approves it here', async () => {
    test = await openTestKernel(store.database, store.dataDir, { passkey: 'destructive' });
    await test.call('ledger_write', { text: 'one' });
    await test.call('ledger_erase', { text: 'one' });
    expect(await play(['a'], ['yes'])).toEqual({ approved: 0, rejected: 0, skipped: 1 });
    const [erasure] = await test.kernel.approvals.list({ states: ['pending'] });
    expect(printed.join('')).toContain(`Sign in the inbox: http://localhost:7331/inbox/${erasure?.id}`);
    expect(printed.join('')).not.toContain('a approve');
    // Rejecting needs no signature.
    expect(await play(['r'], ['not now'])).toEqual({ approved: 0, rejected: 1, skipped: 0 });
  });

  it('names an approval that is not what was requested, and goes on with the others', async () => {
    for (const text of ['one', 'two']) await test.call('ledger_write', { text });
    const { db } = store.database;
    await db.updateTable('approvals').set({ summary: 'Read a line' }).where('id', '=', 2).execute();
    expect(await play(['a'])).toEqual({ approved: 1, rejected: 0, skipped: 1 });
    const text = printed.join('');
    expect(text).toContain(
      'Approval 2 does not match the audit log: its title or content is not what was requested.',
    );
    expect(text).toContain('To reject it: countersign approvals reject 2');
    expect(text).not.toContain('Read a line');
    expect(await test.lines()).toEqual(['one']);
  });
});

describe('keys in a terminal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('decide only when they come alone, not as part of what is typed or pasted', async () => {
    const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin as never });
    const keys = listenForKeys(stdin as never, new PassThrough());
    const got: string[] = [];
    const ask = (): void => void keys.key().then((key) => got.push(key));
    const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
    /** A terminal gives what is pasted in one piece, and what is typed one by one. */
    const paste = async (text: string): Promise<void> => {
      stdin.write(text);
      await wait(1);
    };
    ask();
    await wait(1000);
    await paste('a\n');
    await wait(1000);
    await paste('approve and run');
    await wait(1000);
    for (const delay of [40, 100, 250]) {
      for (const letter of 'area') {
        await paste(letter);
        await wait(delay - 1);
      }
      await wait(1000);
    }
    expect(got).toEqual([]);
    await paste('a');
    await wait(1000);
    expect(got).toEqual(['a']);
    // The next one is shown: a second press at the same moment is not for it.
    ask();
    await paste('a');
    await wait(1000);
    expect(got).toEqual(['a']);
    await paste('j');
    expect(got).toEqual(['a', 'j']);
    ask();
    await wait(1000);
    await paste('r');
    await wait(1000);
    expect(got).toEqual(['a', 'j', 'r']);
    ask();
    await paste('\u0003');
    expect(got).toEqual(['a', 'j', 'r', 'q']);
    keys.close();
  });
});
