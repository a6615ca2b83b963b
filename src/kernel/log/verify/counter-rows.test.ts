import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { CounterCheck } from './counter-rows.ts';

const HOUR = 3_600;
/** Begins an hour. */
const START = Date.UTC(2026, 0, 1, 12) / 1000;
const NEXT = START + HOUR;

describe('the counters of limits against the log', () => {
  let store: TestStore;
  let check: CounterCheck;
  let seq = 0;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    check = new CounterCheck();
    seq = 0;
    // Long after every window, unless a test says otherwise.
    vi.spyOn(Date, 'now').mockReturnValue((START + 100 * HOUR) * 1000);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.database.db.deleteFrom('counters').execute();
  });

  const take = (
    kind: 'intent' | 'outcome' | 'settled' | 'read',
    call: string | undefined,
    second: number,
    extra?: JsonObject,
  ) => {
    check.take(seq, { v: 1, kind, call, at: new Date(second * 1000).toISOString(), extra });
    seq += 1;
  };
  const begin = (call: string, second: number, limits: JsonObject = { hourly: HOUR }) =>
    take('intent', call, second, { limits });
  const end = (call: string, second: number) => take('outcome', call, second);
  const refund = (call: string, second: number) => take('outcome', call, second, { refunded: true });
  const change = (call: string, second: number, limits?: JsonObject) => {
    begin(call, second, limits);
    end(call, second + 1);
  };
  const store1 = (window_start: number, used: number, key = 'hourly') =>
    store.database.db.insertInto('counters').values({ key, window_start, used }).execute();
  const faults = () => check.compare(store.database);
  /** What verify says when the counter of a window has this value. */
  const withUsed = async (used: number, window = START) => {
    await store.database.db.deleteFrom('counters').execute();
    await store1(window, used);
    return (await faults()).map(({ message }) => message);
  };

  it('must be what the log adds up to', async () => {
    change('a', START);
    change('b', START + HOUR - 2);
    const wrong = (used: number) =>
      `The counter hourly from 2026-01-01T12:00:00.000Z says ${used}, but the log has 2 changes.`;
    expect(await withUsed(2)).toEqual([]);
    expect(await withUsed(1)).toEqual([wrong(1)]);
    expect(await withUsed(3)).toEqual([wrong(3)]);
    expect(await faults()).toEqual([{ seq: 0, message: wrong(3) }]);
  });

  it('count a call in each of its limits', async () => {
    change('a', START, { hourly: HOUR, daily: 86_400 });
    await store1(START, 1);
    await store1(Date.UTC(2026, 0, 1) / 1000, 1, 'daily');
    expect(await faults()).toEqual([]);
  });

  it('do not count a call in a limit without a period', async () => {
    change('a', START + 1, { text: '3600', negative: -HOUR, none: 0 });
    await store1(START, 1, 'text');
    await store1(NEXT, 1, 'negative');
    await store1(START, 1, 'none');
    expect(await faults()).toHaveLength(3);
  });

  it('may not say anything that the log does not', async () => {
    await store1(START, 1);
    expect(await faults()).toEqual([
      {
        seq: undefined,
        message: 'The counter hourly from 2026-01-01T12:00:00.000Z says 1, but the log has 0 changes.',
      },
    ]);
    expect(await withUsed(0)).toEqual([]);
  });

  it('do not count a call that changed nothing', async () => {
    begin('a', START);
    refund('a', START + 5);
    expect(await withUsed(0)).toEqual([]);
    expect(await withUsed(1)).toHaveLength(1);
  });

  it('are named with one change in the singular', async () => {
    change('a', START);
    expect(await withUsed(2)).toEqual([
      'The counter hourly from 2026-01-01T12:00:00.000Z says 2, but the log has 1 change.',
    ]);
  });

  it('may count a call in any window from its beginning to its end', async () => {
    begin('a', NEXT - 1);
    end('a', NEXT + HOUR);
    for (const window of [START, NEXT, NEXT + HOUR]) {
      expect(await withUsed(0, window)).toEqual([]);
      expect(await withUsed(1, window)).toEqual([]);
    }
    expect(await withUsed(2, NEXT)).toEqual([
      'The counter hourly from 2026-01-01T13:00:00.000Z says 2, but the log has 0 to 1 changes.',
    ]);
    expect((await faults())[0]?.seq).toBe(0);
    expect(await withUsed(1, START - HOUR)).toHaveLength(1);
    expect(await withUsed(1, NEXT + 2 * HOUR)).toHaveLength(1);
    expect(await withUsed(1, NEXT + 60)).toHaveLength(1);
  });

  it('add such a call to those that lie in one window', async () => {
    change('a', START);
    begin('b', NEXT - 1);
    end('b', NEXT + 1);
    expect(await withUsed(0)).toHaveLength(1);
    expect(await withUsed(1)).toEqual([]);
    expect(await withUsed(2)).toEqual([]);
    expect(await withUsed(3)).toHaveLength(1);
    begin('c', NEXT - 1);
    end('c', NEXT + 1);
    expect(await withUsed(3)).toEqual([]);
    expect(await withUsed(4)).toHaveLength(1);
  });

  it('may count it in an earlier window when the clock was set back', async () => {
    begin('a', NEXT);
    end('a', NEXT - 1);
    expect(await withUsed(1, START)).toEqual([]);
    expect(await withUsed(1, NEXT)).toEqual([]);
    expect(await withUsed(1, START - HOUR)).toHaveLength(1);
  });

  it('may have lost another call to a refund across windows', async () => {
    change('a', START);
    begin('b', NEXT - 1);
    refund('b', NEXT + 1);
    for (const used of [0, 1, 2]) expect(await withUsed(used)).toEqual([]);
    expect(await withUsed(3)).toHaveLength(1);
    change('c', NEXT);
    expect(await withUsed(0, NEXT)).toHaveLength(1);
    expect(await withUsed(1, NEXT)).toEqual([]);
    change('d', NEXT);
    begin('e', NEXT - 1);
    refund('e', NEXT + 1);
    expect(await withUsed(0, NEXT)).toHaveLength(1);
    expect(await withUsed(1, NEXT)).toEqual([]);
  });

  it('may count a call that has not ended in any window until now', async () => {
    begin('a', START);
    for (const window of [START, NEXT, START + 100 * HOUR])
      for (const used of [0, 1]) expect(await withUsed(used, window)).toEqual([]);
    expect(await withUsed(1, START + 101 * HOUR)).toHaveLength(1);
    expect(await withUsed(2)).toHaveLength(1);
    vi.spyOn(Date, 'now').mockReturnValue((NEXT - 1) * 1000);
    expect(await withUsed(0)).toHaveLength(1);
    expect(await withUsed(1)).toEqual([]);
  });

  it('end a call with its outcome alone', async () => {
    begin('a', START);
    take('settled', 'a', START + 1);
    take('read', 'a', START + 1);
    end('a', NEXT);
    end('unknown', NEXT);
    expect(await withUsed(1, NEXT)).toEqual([]);
  });

  it('are compared in the same way again', async () => {
    begin('a', START);
    change('b', START);
    await store1(START, 3);
    const once = await faults();
    expect(once).toHaveLength(1);
    expect(await faults()).toEqual(once);
  });

  it('may be swept when their window is over, not before', async () => {
    change('a', START);
    expect(await faults()).toEqual([]);
    const at = (second: number) => vi.spyOn(Date, 'now').mockReturnValue(second * 1000);
    at(NEXT);
    expect(await faults()).toEqual([]);
    at(NEXT - 1);
    const message = 'The counter hourly is missing, but the log has 1 change.';
    expect(await faults()).toEqual([{ seq: 0, message }]);
    await store1(START, 1);
    expect(await faults()).toEqual([]);
  });

  it('are not missing while no call is certain to be counted', async () => {
    vi.spyOn(Date, 'now').mockReturnValue((NEXT - 1) * 1000);
    begin('a', START);
    refund('a', START + 1);
    expect(await faults()).toEqual([]);
  });

  it('cannot be checked up to the last entry that names no limits', async () => {
    take('intent', 'old', NEXT);
    take('intent', 'older', START, { limits: ['hourly'] });
    take('intent', 'oldest', START, { limits: null });
    for (const window of [START, NEXT]) expect(await withUsed(7, window)).toEqual([]);
    expect(await withUsed(7, NEXT + HOUR)).toHaveLength(1);
  });
});
