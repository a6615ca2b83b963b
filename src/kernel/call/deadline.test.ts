import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from './run.ts';

const fired = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a deadline', () => {
  it('fires with a time-out once its time is over, also for a signal asked for late', async () => {
    const deadline = new Deadline(30);
    const signal = deadline.signal;
    expect(signal.aborted).toBe(false);
    expect(await fired(signal)).toMatchObject({
      name: 'TimeoutError',
      message: 'The deadline of 30 ms passed.',
    });
    expect(deadline.passed).toBe(true);
    expect(() => deadline.throwIfPassed()).toThrow('The deadline of 30 ms passed.');

    const late = new Deadline(1);
    await sleep(10);
    expect(late.signal.aborted).toBe(true);
  });

  it('fires with the caller’s own reason when the caller gives up first', async () => {
    const caller = new AbortController();
    const deadline = new Deadline(60_000, caller.signal);
    const waiting = fired(deadline.signal);
    const reason = new Error('changed my mind');
    caller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(() => deadline.throwIfPassed()).toThrow(reason);
    expect(new Deadline(60_000, caller.signal).signal.aborted).toBe(true);
  });

  it('leaves the signal alone after it was closed', async () => {
    const caller = new AbortController();
    const deadline = new Deadline(20, caller.signal);
    const { signal } = deadline;
    deadline.close();
    caller.abort();
    await sleep(40);
    expect(signal.aborted).toBe(false);
  });

  it('has passed exactly when its time is over, and fires then', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let now = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const pass = (ms: number): void => {
      now += ms;
    };
    const deadline = new Deadline(100);
    pass(40);
    const { signal } = deadline;
    expect(deadline.signal).toBe(signal);
    vi.advanceTimersByTime(59);
    pass(59);
    expect(signal.aborted).toBe(false);
    expect(deadline.passed).toBe(false);
    expect(() => deadline.throwIfPassed()).not.toThrow();
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
    expect(deadline.passed).toBe(true);
    pass(1);
    expect(new Deadline(0).passed).toBe(true);
  });

  it('listens to its caller only while someone looks at its signal', () => {
    const caller = new AbortController();
    const added = vi.spyOn(caller.signal, 'addEventListener');
    const removed = vi.spyOn(caller.signal, 'removeEventListener');
    const unseen = new Deadline(60_000, caller.signal);
    unseen.close();
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([0, 0]);
    const seen = new Deadline(60_000, caller.signal);
    expect(seen.signal.aborted).toBe(false);
    seen.close();
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1]);
    caller.abort();
    expect(seen.signal.aborted).toBe(false);
    expect(seen.passed).toBe(true);
  });
});
