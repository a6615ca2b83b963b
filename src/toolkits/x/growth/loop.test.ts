import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import { XError } from '../errors.ts';
import { openXKit, type XKit } from '../test/support/kit.ts';
import { createEngine, type Engine } from './engine.ts';
import { type Loop, LoopStop, readLoopState, runLoop, stepLoop } from './loop.ts';

const NEVER = new AbortController().signal;

describe('a loop', () => {
  let kit: XKit;
  let rounds: number;
  beforeEach(async () => {
    rounds = 0;
    kit = await openXKit({ config: { schedule: { active_hours_start: 8, active_hours_end: 22 } } });
  });
  afterEach(() => kit[Symbol.asyncDispose]());

  const engineOf = (process = kit as Pick<XKit, 'services'>): Engine => ({
    ...createEngine(process.services, 'test'),
    sleep: async (ms) => kit.clock.advance(ms),
    random: () => 0,
  });

  const loopOf = (more: Partial<Loop> = {}): Loop => ({
    name: 'test',
    activeOnly: false,
    autopilotOnly: false,
    everySeconds: 300,
    round: async () => {
      rounds += 1;
    },
    ...more,
  });

  it('runs a round, then rests its interval and some jitter', async () => {
    const engine = engineOf();
    await stepLoop(loopOf(), engine, NEVER);
    await stepLoop(loopOf(), engine, NEVER);
    expect(rounds).toBe(1);
    expect(await readLoopState(engine, 'test')).toMatchObject({
      nextAt: '2026-02-25T12:05:45.000Z',
      failures: 0,
    });
    kit.clock.advance(345_000);
    await stepLoop(loopOf(), engine, NEVER);
    expect(rounds).toBe(2);
  });

  it('runs each round in one of two daemons', async () => {
    const other = engineOf(await kit.second());
    await Promise.all([stepLoop(loopOf(), engineOf(), NEVER), stepLoop(loopOf(), other, NEVER)]);
    await stepLoop(loopOf(), other, NEVER);
    expect(rounds).toBe(1);
  });

  it('rests outside the active hours when it should', async () => {
    kit.clock.advance(11 * 3_600_000);
    await stepLoop(loopOf({ activeOnly: true }), engineOf(), NEVER);
    expect(rounds).toBe(0);
    await stepLoop(loopOf(), engineOf(), NEVER);
    expect(rounds).toBe(1);
  });

  it('rests in Composer mode when it belongs to Autopilot', async () => {
    const composer = engineOf(await kit.second({ mode: 'composer' }));
    await stepLoop(loopOf({ autopilotOnly: true }), composer, NEVER);
    expect(rounds).toBe(0);
    await stepLoop(loopOf(), composer, NEVER);
    expect(rounds).toBe(1);
  });

  it('waits longer after each failure, and until the time a limit names', async () => {
    const engine = engineOf();
    const failing = loopOf({ everySeconds: 1, polls: true, round: () => Promise.reject(new Error('no')) });
    await stepLoop(failing, engine, NEVER);
    expect(await readLoopState(engine, 'test')).toMatchObject({
      nextAt: '2026-02-25T12:01:00.000Z',
      failures: 1,
    });
    kit.clock.advance(60_000);
    await stepLoop(failing, engine, NEVER);
    expect(await readLoopState(engine, 'test')).toMatchObject({
      nextAt: '2026-02-25T12:03:00.000Z',
      failures: 2,
    });
    kit.clock.advance(120_000);
    const until = new Date('2026-02-25T18:00:00Z');
    const limited = loopOf({ round: () => Promise.reject(new LoopStop('x_rate_limited', 'full', until)) });
    await stepLoop(limited, engine, NEVER);
    expect(await readLoopState(engine, 'test')).toMatchObject({ nextAt: until.toISOString() });
  });

  it('stops on request', async () => {
    const stop = new AbortController();
    const loop = loopOf({
      round: async () => {
        rounds += 1;
        if (rounds === 3) stop.abort();
      },
    });
    await runLoop(loop, engineOf(), stop.signal);
    expect(rounds).toBe(3);
  });

  describe('with the circuit breaker', () => {
    const refused = { status: 'failed', fault: new XError('x_forbidden', 'no') } as const;

    it('rests in every process once X refused too often, tries again after the cool-down, and closes on success', async () => {
      const engine = engineOf();
      const other = engineOf(await kit.second());
      for (let n = 0; n < 5; n += 1) await engine.breaker.observe(refused, kit.clock.now());
      expect(await other.breaker.phase(kit.clock.now())).toMatchObject({ phase: 'open' });
      await stepLoop(loopOf(), other, NEVER);
      expect(rounds).toBe(0);
      kit.clock.advance(600_000);
      expect(await other.breaker.phase(kit.clock.now())).toMatchObject({ phase: 'half_open' });
      await stepLoop(loopOf(), other, NEVER);
      expect(rounds).toBe(1);
      await engine.breaker.observe({ status: 'ok', data: null, notes: {}, replayed: false }, kit.clock.now());
      expect(await engine.breaker.phase(kit.clock.now())).toMatchObject({ phase: 'closed' });
    });

    it('opens again immediately when the first try after the cool-down is refused', async () => {
      const { breaker } = engineOf();
      for (let n = 0; n < 5; n += 1) await breaker.observe(refused, kit.clock.now());
      kit.clock.advance(700_000);
      await breaker.observe(refused, kit.clock.now());
      expect(await breaker.phase(kit.clock.now())).toMatchObject({ phase: 'open' });
    });

    it('forgets refusals that lie far apart, and faults that say nothing about the account', async () => {
      const { breaker } = engineOf();
      for (let n = 0; n < 6; n += 1) {
        await breaker.observe(refused, kit.clock.now());
        await breaker.observe({ status: 'failed', fault: new ToolError('llm_error', 'no') }, kit.clock.now());
        kit.clock.advance(120_000);
      }
      expect(await breaker.phase(kit.clock.now())).toMatchObject({ phase: 'closed' });
    });
  });
});
