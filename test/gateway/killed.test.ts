import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlive, openScripted, type ScriptedPlace, tool } from './scripted.ts';

let place: ScriptedPlace;
afterEach(() => place.close());

describe('a server that is killed at any moment of a change', () => {
  it('gets each change at most once, and one that it got without an answer is indeterminate', async () => {
    place = await openScripted({ tools: [tool('act')], answers: { act: { delay: 30 } } });
    await place.trust('s');
    const counts: Record<string, number> = {};
    for (let round = 0; round < 15; round += 1) {
      const text = `change ${round}`;
      const running = place.call('s__act', { text });
      await sleep((round * 7) % 60);
      for (const pid of place.pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
      const { outcome } = await running;
      const received = place.calls().filter((one) => one.arguments.text === text).length;
      expect(received).toBeLessThanOrEqual(1);
      // Failed means certainly not done: such a call must never have arrived.
      if (received === 1) expect(['ok', 'indeterminate']).toContain(outcome.status);
      counts[outcome.status] = (counts[outcome.status] ?? 0) + 1;
      await waitUntilStartable();
    }
    expect(counts.indeterminate).toBeGreaterThan(0);
    const open = await place.app.kernel.telemetry.calls({ tool: 's__act', statuses: ['running'] });
    expect(open).toEqual([]);
  });
});

/** Failures that follow each other are answered with a pause; a person's restart is not waited for here. */
async function waitUntilStartable(): Promise<void> {
  const upstream = await place.app.gateway?.upstream('s');
  await expect
    .poll(
      () =>
        upstream?.ready().then(
          () => true,
          () => false,
        ),
      { timeout: 100_000, interval: 200 },
    )
    .toBe(true);
  // An answered call ends the count of failures.
  await place.call('s__act', { text: 'in between' });
}
