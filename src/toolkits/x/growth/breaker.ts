import { z } from 'zod';
import type { Outcome } from '../../../contract/outcome.ts';
import type { XSettings } from '../services.ts';
import type { Journal } from './journal.ts';

/** What X says when it has had enough of an account. Going on would make it worse. */
const TROUBLE = new Set(['x_rate_limited', 'x_forbidden', 'x_account_restricted', 'x_auth_expired']);
const CURSOR = 'breaker';

const stateShape = z.object({ faults: z.array(z.string()), openedAt: z.string().optional() });
type State = z.output<typeof stateShape>;

export type BreakerPhase = 'closed' | 'open' | 'half_open';

/** Stops the loops of all processes when X keeps refusing; after the cool-down one success closes it again. */
export class CircuitBreaker {
  readonly #settings: XSettings['circuitBreaker'];
  readonly #journal: Pick<Journal, 'cursor' | 'setCursor' | 'act'>;

  constructor(settings: XSettings['circuitBreaker'], journal: Pick<Journal, 'cursor' | 'setCursor' | 'act'>) {
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
        `X refused ${faults.length} times; the loops rest.`,
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
    const parsed = value === undefined ? undefined : stateShape.safeParse(JSON.parse(value));
    return parsed?.success ? parsed.data : { faults: [] };
  }

  async #save(state: State, now: Date): Promise<void> {
    await this.#journal.setCursor(CURSOR, JSON.stringify(state), now);
  }
}
