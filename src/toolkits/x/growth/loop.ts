import { z } from 'zod';
import type { Outcome } from '../../../contract/outcome.ts';
import type { XSettings } from '../services.ts';
import { loopStateShape } from '../views.ts';
import type { ActivityStore } from './activity-store.ts';
import { isActive } from './clock.ts';
import type { Engine } from './engine.ts';

/** Ends a round of a loop: nothing is wrong with the loop, but it cannot go on now. */
export class LoopStop extends Error {
  readonly code: string;
  /** When it makes sense to try again, where that is known. */
  readonly until: Date | undefined;

  constructor(code: string, message: string, until?: Date) {
    super(message);
    this.name = 'LoopStop';
    this.code = code;
    this.until = until;
  }

  static from(tool: string, outcome: Outcome): LoopStop {
    if ('fault' in outcome)
      return new LoopStop(outcome.fault.code, `${tool}: ${outcome.fault.message}`, outcome.fault.resetAt);
    return new LoopStop(outcome.status, `${tool} returned ${outcome.status}.`);
  }
}

export interface Loop {
  readonly name: string;
  /** Rests outside the active hours. */
  readonly activeOnly: boolean;
  /** Off in Composer mode, where people act and loops do not. */
  readonly autopilotOnly: boolean;
  readonly everySeconds: number;
  /** Looks only whether something is due: no jitter, no rest after a quiet round. */
  readonly polls?: boolean;
  round(signal: AbortSignal): Promise<void>;
}

export type LoopState = z.output<typeof loopStateShape>;

const LEASE_MS = 600_000;
const IDLE_MS = 30_000;
const JITTER_MIN_S = 45;
const JITTER_SPAN_S = 135;
const BACKOFF_S = 60;
const BACKOFF_MAX_S = 900;

const loopCursor = (name: string): string => `loop:${name}`;

/**
 * Runs a loop until stopped. When the next round is due stands in the store, so that neither a restart nor a
 * second daemon makes it come early or twice.
 */
export async function runLoop(loop: Loop, engine: Engine, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const waitMs = await stepLoop(loop, engine, signal).catch((error: unknown) => {
      engine.services.log.error('A loop could not read its state', { loop: loop.name, error: String(error) });
      return IDLE_MS;
    });
    await engine.sleep(waitMs, signal);
  }
}

/** One look at the loop; answers how long to sleep before the next. */
export async function stepLoop(loop: Loop, engine: Engine, signal: AbortSignal): Promise<number> {
  const { services } = engine;
  const state = await readLoopState(engine, loop.name);
  const due = state ? Date.parse(state.nextAt) : 0;
  if (due > engine.now().getTime()) return Math.min(IDLE_MS, due - engine.now().getTime());
  if (loop.autopilotOnly && services.operatingMode().mode !== 'autopilot') return IDLE_MS;
  if (loop.activeOnly && !isActive(engine.now(), services.settings.schedule)) return IDLE_MS;
  const { phase, until } = await engine.breaker.phase(engine.now());
  if (phase === 'open' && until) return Math.min(IDLE_MS, until.getTime() - engine.now().getTime());
  const lease = `x:${loopCursor(loop.name)}`;
  if (!(await services.kernel.leases.acquire(lease, LEASE_MS))) return IDLE_MS;
  try {
    // Another daemon may have done the round while this one waited for the lease.
    const fresh = await readLoopState(engine, loop.name);
    if (fresh && Date.parse(fresh.nextAt) > engine.now().getTime()) return 0;
    await oneRound(loop, engine, signal, fresh?.failures ?? 0);
    return 0;
  } finally {
    await services.kernel.leases.release(lease);
  }
}

async function oneRound(loop: Loop, engine: Engine, signal: AbortSignal, failures: number): Promise<void> {
  try {
    await loop.round(signal);
    await save(engine, loop.name, { nextAt: inSeconds(engine, restOf(loop, engine)), failures: 0 });
  } catch (error) {
    if (signal.aborted) return;
    const stop = error instanceof LoopStop ? error : undefined;
    const message = stop?.message ?? String(error);
    engine.services.log.warn('A loop stopped early', { loop: loop.name, error: message });
    await engine.services.growth.journal.act(engine.now(), loop.name, 'failure', message, {
      code: stop?.code ?? 'internal',
    });
    const backoff = Math.min(BACKOFF_MAX_S, BACKOFF_S * 2 ** Math.min(failures, 10));
    const nextAt = stop?.until?.toISOString() ?? inSeconds(engine, Math.max(backoff, restOf(loop, engine)));
    await save(engine, loop.name, { nextAt, failures: failures + 1, lastError: message });
  }
}

const restOf = (loop: Loop, engine: Engine): number =>
  loop.everySeconds + (loop.polls ? 0 : JITTER_MIN_S + engine.random() * JITTER_SPAN_S);

const inSeconds = (engine: Engine, seconds: number): string =>
  new Date(engine.now().getTime() + seconds * 1000).toISOString();

export async function readLoopState(
  engine: Pick<Engine, 'services'>,
  name: string,
): Promise<LoopState | undefined> {
  const value = await engine.services.growth.journal.cursor(loopCursor(name));
  return value === undefined ? undefined : loopStateShape.safeParse(JSON.parse(value)).data;
}

async function save(engine: Engine, name: string, state: Omit<LoopState, 'lastAt'>): Promise<void> {
  const now = engine.now();
  const value = JSON.stringify({ ...state, lastAt: now.toISOString() });
  await engine.services.growth.journal.setCursor(loopCursor(name), value, now);
}

/** What X says when it has had enough of an account. Going on would make it worse. */
const TROUBLE = new Set(['x_rate_limited', 'x_forbidden', 'x_account_restricted', 'x_auth_expired']);
const CURSOR = 'breaker';

const breakerShape = z.object({ faults: z.array(z.string()), openedAt: z.string().optional() });
type State = z.output<typeof breakerShape>;

export type BreakerPhase = 'closed' | 'open' | 'half_open';

/** Stops the loops of all processes when X keeps refusing; after the cool-down one success closes it again. */
export class CircuitBreaker {
  readonly #settings: XSettings['circuitBreaker'];
  readonly #journal: Pick<ActivityStore, 'cursor' | 'setCursor' | 'act'>;

  constructor(
    settings: XSettings['circuitBreaker'],
    journal: Pick<ActivityStore, 'cursor' | 'setCursor' | 'act'>,
  ) {
    this.#settings = settings;
    this.#journal = journal;
  }

  async phase(now: Date): Promise<{ readonly phase: BreakerPhase; readonly until: Date | undefined }> {
    const { openedAt } = await this.#load();
    if (openedAt === undefined) return { phase: 'closed', until: undefined };
    const until = new Date(Date.parse(openedAt) + this.#settings.cooldown_seconds * 1000);
    return { phase: now < until ? 'open' : 'half_open', until };
  }

  async observe(outcome: Outcome, now: Date): Promise<void> {
    if (outcome.status === 'ok') {
      const { phase } = await this.phase(now);
      if (phase === 'half_open') await this.#close(now);
      return;
    }
    if (!('fault' in outcome) || !TROUBLE.has(outcome.fault.code)) return;
    const state = await this.#load();
    const windowStart = new Date(now.getTime() - this.#settings.window_seconds * 1000).toISOString();
    const faults = [...state.faults.filter((at) => at >= windowStart), now.toISOString()];
    const open = state.openedAt !== undefined || faults.length >= this.#settings.error_threshold;
    await this.#save({ faults, ...(open ? { openedAt: now.toISOString() } : {}) }, now);
    if (open && state.openedAt === undefined) {
      await this.#journal.act(
        now,
        'circuit_breaker',
        'open',
        `X refused ${faults.length} requests; the loops are paused.`,
        {
          code: outcome.fault.code,
        },
      );
    }
  }

  async #close(now: Date): Promise<void> {
    await this.#save({ faults: [] }, now);
    await this.#journal.act(now, 'circuit_breaker', 'closed', 'X answers again.');
  }

  async #load(): Promise<State> {
    const value = await this.#journal.cursor(CURSOR);
    const parsed = value === undefined ? undefined : breakerShape.safeParse(JSON.parse(value));
    return parsed?.success ? parsed.data : { faults: [] };
  }

  async #save(state: State, now: Date): Promise<void> {
    await this.#journal.setCursor(CURSOR, JSON.stringify(state), now);
  }
}
