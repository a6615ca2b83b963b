import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { prepareEntry } from './entry.ts';
import { appendEntries } from './log.ts';
import { type StreamOptions, streamEntries } from './stream.ts';

/** What the stream waited for; each wait ends immediately, and its turn may change the world. */
const waits: number[] = [];
let next: (count: number) => void | Promise<void>;
/** What ends a wait early. */
let waitsFor: AbortSignal | undefined;
/** Rejects when the stream waits much more often than any test here lets it. */
let overrun: Promise<never>;

describe('the stream of entries', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    waits.length = 0;
    next = () => {};
    let fail: (error: Error) => void;
    overrun = new Promise((_, reject) => {
      fail = reject;
    });
    overrun.catch(() => {});
    vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms = 0, value, options) => {
      waits.push(ms);
      waitsFor = options?.signal;
      if (waits.length > 20) {
        fail(new Error('The stream does not stop.'));
        await new Promise(() => {});
      }
      await next(waits.length);
      return value;
    });
    syncBuiltinESMExports();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await store.close();
  });

  const append = (count: number) =>
    store.database.write((trx) =>
      appendEntries(
        trx,
        'sqlite',
        Array.from({ length: count }, () => prepareEntry({ kind: 'read', at: '2026-01-01T00:00:00.000Z' })),
      ),
    );
  const away = {
    get db(): never {
      throw new Error('away');
    },
  };
  const readAll = async (source: Pick<TestStore['database'], 'db'>, options?: StreamOptions) => {
    const found: number[] = [];
    for await (const { seq } of streamEntries(source, options)) found.push(seq);
    return found;
  };
  const seqs = (...given: Parameters<typeof readAll>) => Promise.race([readAll(...given), overrun]);

  it('reads a log of more than one batch to its end without waiting', async () => {
    await append(2_001);
    expect(await seqs(store.database)).toEqual(Array.from({ length: 2_001 }, (_, seq) => seq));
    expect(waits).toEqual([]);
  });

  it('ends at the end of the log unless it is to follow', async () => {
    await append(2);
    expect(await seqs(store.database, {})).toEqual([0, 1]);
    await expect(seqs(away)).rejects.toThrow('away');
    expect(waits).toEqual([]);
  });

  it('looks for more every second while it follows', async () => {
    await append(1);
    const stop = new AbortController();
    next = async (count) => {
      if (count === 2) await append(1);
      if (count === 4) stop.abort();
    };
    expect(await seqs(store.database, { follow: true, signal: stop.signal })).toEqual([0, 1]);
    expect(waits).toEqual([1000, 1000, 1000, 1000]);
  });

  it('waits twice as long after each failure, at most 30 s, and no longer once it can read', async () => {
    const stop = new AbortController();
    const errors: unknown[] = [];
    let source: Pick<TestStore['database'], 'db'> = away;
    next = (count) => {
      if (count === 6) source = store.database;
      if (count === 7) stop.abort();
    };
    const reader = {
      get db() {
        return source.db;
      },
    };
    await seqs(reader, { follow: true, signal: stop.signal, onError: (error) => errors.push(error) });
    expect(waits).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000, 1000]);
    expect(errors).toHaveLength(6);
  });

  it('never polls more often than asked for, also after a failure no one listens for', async () => {
    const stop = new AbortController();
    next = () => stop.abort();
    await seqs(away, { follow: true, signal: stop.signal, pollMs: 60_000 });
    expect(waits).toEqual([60_000]);
  });

  it('ends quietly when it is stopped while it waits', async () => {
    const stop = new AbortController();
    next = () => {
      stop.abort();
      throw new DOMException('stopped', 'AbortError');
    };
    expect(await seqs(store.database, { follow: true, signal: stop.signal })).toEqual([]);
    expect(waitsFor).toBe(stop.signal);
  });

  it('gives nothing more once it is stopped, also in the middle of a batch', async () => {
    await append(3);
    const stop = new AbortController();
    const seen: number[] = [];
    for await (const { seq } of streamEntries(store.database, { signal: stop.signal })) {
      seen.push(seq);
      stop.abort();
    }
    expect(seen).toEqual([0]);
    expect(await seqs(away, { signal: AbortSignal.abort() })).toEqual([]);
  });
});
