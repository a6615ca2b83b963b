import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { XServices } from '../services.ts';
import { CircuitBreaker, LoopStop } from './loop.ts';

/** What every loop works with. Time and chance come from here, so that tests can hold both. */
export interface Engine {
  readonly services: XServices;
  readonly breaker: CircuitBreaker;
  /** Names this process in claims. */
  readonly holder: string;
  now(): Date;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  random(): number;
}

export function createEngine(services: XServices, holder: string): Engine {
  const { circuitBreaker } = services.settings;
  return {
    services,
    breaker: new CircuitBreaker(circuitBreaker, services.growth.journal),
    holder,
    now: services.now,
    sleep: async (ms, signal) => {
      // A request to stop is not an error of a loop.
      await wait(ms, undefined, { signal }).catch(() => undefined);
    },
    random: Math.random,
  };
}

/** Open pages look again: what a loop keeps after a call is in no log entry that would tell them. */
export async function tellPages({ services: { kernel, log } }: Pick<Engine, 'services'>): Promise<void> {
  await kernel.events
    .publish('x.changed', {})
    .catch((error: unknown) =>
      log.debug('Open pages could not be notified of a change', { error: String(error) }),
    );
}

/** The only thing a loop can do: a call through the pipeline, under its own name. */
export async function perform(
  engine: Engine,
  who: Principal,
  tool: string,
  args: JsonObject,
  options: { readonly signal: AbortSignal; readonly key?: string; readonly reason?: string },
): Promise<Outcome> {
  const outcome = await engine.services.kernel.invoke(tool, args, who, {
    signal: options.signal,
    ...(options.key ? { idempotencyKey: options.key } : {}),
    ...(options.reason ? { reason: options.reason } : {}),
  });
  await engine.breaker.observe(outcome, engine.now());
  return outcome;
}

/** A call the loop cannot go on without: anything but success ends this round. */
export async function need(
  engine: Engine,
  who: Principal,
  tool: string,
  args: JsonObject,
  options: { readonly signal: AbortSignal; readonly key?: string },
): Promise<JsonValue> {
  const outcome = await perform(engine, who, tool, args, options);
  if (outcome.status === 'ok') return outcome.data;
  throw LoopStop.from(tool, outcome);
}

/** The pause between two actions, so that they do not come like a machine's. */
export function actionDelay({ services, random }: Pick<Engine, 'services' | 'random'>): number {
  const { min_action_delay_seconds: min, max_action_delay_seconds: max } = services.settings.limits;
  return 1000 * (min + random() * Math.max(0, max - min));
}
