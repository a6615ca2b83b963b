import { afterEach } from 'vitest';

/**
 * Test files share their worker's globals. A clock that stays replaced would stop time for every file after it, so the test that
 * leaves one is the test that fails.
 */
const CLOCKS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'Date',
] as const;

const globals = globalThis as unknown as Record<string | symbol, unknown>;
const KEPT = Symbol.for('countersign.test.clocks');
globals[KEPT] ??= Object.fromEntries(CLOCKS.map((name) => [name, globals[name]]));
const originals = globals[KEPT] as Record<string, unknown>;

afterEach(() => {
  const replaced = CLOCKS.filter((name) => globals[name] !== originals[name]);
  for (const name of replaced) globals[name] = originals[name];
  if (replaced.length > 0) {
    throw new Error(
      `${replaced.join(', ')} was still replaced after this test, or restored to a fake by a spy of an earlier file. End with vi.useRealTimers(), and do not spy on a fake clock.`,
    );
  }
});
