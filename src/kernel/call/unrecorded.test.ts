import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../contract/ports.ts';
import { UnrecordedOutcomes } from './unrecorded.ts';

let said: [string, object | undefined][];
let outcomes: UnrecordedOutcomes;
let works: boolean;
let tried: string[];

const write = (name: string) => async (): Promise<void> => {
  tried.push(name);
  if (!works) throw new Error('no database');
};

beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  tried = [];
  works = false;
  const say = (message: string, fields?: object): void => void said.push([message, fields]);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  outcomes = new UnrecordedOutcomes(log);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('outcomes that could not be recorded', () => {
  it('are tried again after 1 s, then less and less often, but every 15 s at least', async () => {
    outcomes.add('a', write('a'));
    for (const [waitMs, tries] of [
      [999, 0],
      [1, 1],
      [1_999, 1],
      [1, 2],
      [4_000, 3],
      [8_000, 4],
      [14_999, 4],
      [1, 5],
      [15_000, 6],
    ] as const) {
      await vi.advanceTimersByTimeAsync(waitMs);
      expect(tried).toHaveLength(tries);
    }
  });

  it('are tried soon after another one joins them', async () => {
    outcomes.add('a', write('a'));
    await vi.advanceTimersByTimeAsync(1_000 + 2_000 + 4_000);
    outcomes.add('b', write('b'));
    tried = [];
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(tried).toEqual(['a']);
  });

  it('are written in order and forgotten, with a line for each, and nothing is tried after the last', async () => {
    outcomes.add('a', write('a'));
    outcomes.add('b', write('b'));
    works = true;
    await outcomes.retry();
    expect(tried).toEqual(['a', 'b']);
    expect(said).toEqual([
      ['The outcome of a call was recorded late', { call: 'a' }],
      ['The outcome of a call was recorded late', { call: 'b' }],
    ]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tried).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('wait for the first that still cannot be written', async () => {
    outcomes.add('a', write('a'));
    outcomes.add('b', write('b'));
    await outcomes.retry();
    expect(tried).toEqual(['a']);
    expect(said).toEqual([
      ['The outcome of a call can still not be recorded', { call: 'a', error: expect.any(Error) }],
    ]);
  });

  it('are written once when two ask for it at the same time, and later again', async () => {
    outcomes.add('a', write('a'));
    await Promise.all([outcomes.retry(), outcomes.retry()]);
    expect(tried).toEqual(['a']);
    await outcomes.retry();
    expect(tried).toEqual(['a', 'a']);
  });
});
