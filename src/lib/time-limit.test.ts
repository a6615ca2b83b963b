import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { timeLimit } from './time-limit.ts';

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

describe('timeLimit', () => {
  it('fires with a TimeoutError when the time is over', async () => {
    const limit = timeLimit(5);
    // The timer alone does not keep a process alive; the work it limits does.
    const alive = setInterval(() => {}, 1000);
    expect(await aborted(limit.signal)).toMatchObject({ name: 'TimeoutError' });
    clearInterval(alive);
    expect(limit.expired).toBe(true);
  });

  it('fires with the reason of the caller who gives up first, also before it begins', async () => {
    const caller = new AbortController();
    const limit = timeLimit(60_000, caller.signal);
    const ended = aborted(limit.signal);
    caller.abort('enough');
    expect(await ended).toBe('enough');
    expect(limit.expired).toBe(false);
    expect(timeLimit(60_000, caller.signal).signal.reason).toBe('enough');
  });

  it('does not fire once it is cleared', async () => {
    const caller = new AbortController();
    const limit = timeLimit(1, caller.signal);
    limit.clear();
    await sleep(20);
    caller.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});
