import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Deadline } from './run.ts';

const fired = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
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
});
