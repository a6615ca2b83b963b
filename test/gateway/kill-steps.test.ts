import { afterEach, beforeEach, expect, it } from 'vitest';
import { startChild } from '../support/child.ts';
import { isAlive, openScripted, type ScriptedPlace, tool } from './scripted.ts';

/** Each step of a change at which a process can end: two durable writes, and the server's work between them. */
const STEPS = ['before-write-1', 'after-write-1', 'received', 'answered', 'before-write-2', 'after-write-2'];
const WHOM = ['server', 'gateway', 'both'] as const;
/** `KILL_ROUNDS=6` makes 108 kills. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 1);
const AT_ONCE = 3;

let place: ScriptedPlace;
beforeEach(async () => {
  const answers = {
    received_server: { exit: 1 },
    received_gateway: { killParent: true, hang: true },
    received_both: { killParent: true, exit: 1 },
    answered_server: { afterwards: 'exit' },
    answered_gateway: { afterwards: 'killParent' },
    answered_both: { afterwards: 'both' },
  };
  const tools = ['plain', ...Object.keys(answers)].map((name) => tool(name));
  place = await openScripted(
    { tools, answers, grandchild: true },
    '[mcp_policy]\nmax_mutations_per_hour = 100000\n',
  );
  await place.trust('s');
});
afterEach(() => place.close());

async function kill(step: string, whom: string, text: string): Promise<string | undefined> {
  const byServer = step === 'received' || step === 'answered';
  const name = byServer ? `s__${step}_${whom}` : 's__plain';
  const child = await startChild('gateway-caller', [place.dir, name, text, byServer ? '' : step, whom]);
  const end = await child.ended;
  // After the answer the outcome may be stored before the signal arrives.
  if (whom !== 'server' && step !== 'answered') expect(end, text).toBe('SIGKILL');
  return child.output().split(' ')[0] || undefined;
}

it('sends nothing twice and leaves every half-done change indeterminate, whatever is killed at each step', async () => {
  const wanted = Array.from({ length: ROUNDS }, (_, round) =>
    STEPS.flatMap((step) => WHOM.map((whom) => ({ step, whom, text: `${step} ${whom} ${round}` }))),
  ).flat();
  const reported = new Map<string, string | undefined>();
  const queue = [...wanted];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift())
      reported.set(next.text, await kill(next.step, next.whom, next.text));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  await place.app.kernel.recover();
  const calls = await place.app.kernel.telemetry.calls({ toolkit: 's', limit: 1000 });
  const stored = new Map<string, string>();
  for (const { client, status } of calls) stored.set(client ?? '', status);
  expect([...stored.values()]).not.toContain('running');
  const received = place.calls().map((one) => String(one.arguments.text));
  for (const { step, whom, text } of wanted) {
    const times = received.filter((one) => one === text).length;
    expect(times, text).toBeLessThanOrEqual(1);
    // What reached the server is never called failed; what it may not have finished is never called done.
    if (times === 1) expect(['ok', 'indeterminate'], text).toContain(stored.get(text));
    if (step === 'received') expect(stored.get(text), text).toBe('indeterminate');
    if (step === 'before-write-1' && whom !== 'server') expect(times, text).toBe(0);
    // A gateway that lives says the same as the store.
    const said = reported.get(text);
    if (said !== undefined && whom === 'server') expect(stored.get(text) ?? said, text).toBe(said);
  }
  expect(received.length).toBeGreaterThanOrEqual(ROUNDS * 9);
  await expect
    .poll(() => place.pids().filter((pid) => isAlive(pid) && !mine.has(pid)), { timeout: 60_000 })
    .toEqual([]);
}, 600_000);

/** The server that this process itself started to list it, and what that one started. */
const mine = new Set<number>();
beforeEach(() => {
  mine.clear();
  for (const pid of place.pids()) mine.add(pid);
});
