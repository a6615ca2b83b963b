import { type Kysely, sql } from 'kysely';
import type { Log } from '../../../contract/ports.ts';
import type { RateLimit, RateLimitRow, UsageRow } from './api.ts';
import type { XClientTables } from './tables.ts';

export interface Exchange {
  readonly endpoint: string;
  readonly method: string;
  readonly auth: string;
  readonly ok: boolean;
  readonly items: number;
  readonly costMicros: number;
  readonly rateLimit: RateLimit | undefined;
  readonly at: Date;
}

/** Reads are written down in groups, as their evidence is: a read must not wait for the disk. */
const GROUP_MS = 200;

/** Rate limits and usage, shared by every process on this store. */
export class ExchangeStore {
  readonly #db: Kysely<XClientTables>;
  /** Sandbox and X are counted apart. */
  readonly #realm: string;
  readonly #onLost: (error: unknown) => void;
  #waiting: Exchange[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Kysely<XClientTables>, realm: string, onLost: (error: unknown) => void) {
    this.#db = db;
    this.#realm = realm;
    this.#onLost = onLost;
  }

  /** Never throws: what X did is done, and a counter that cannot be written must not turn it into a failure. */
  async record(exchange: Exchange): Promise<void> {
    this.#waiting.push(exchange);
    if (exchange.method === 'GET') this.#timer ??= setTimeout(() => void this.flush(), GROUP_MS).unref();
    else await this.flush();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    try {
      await this.#db.transaction().execute(async (trx) => {
        for (const exchange of group) {
          await this.#count(trx, exchange);
          if (exchange.rateLimit) await this.#keepLimit(trx, exchange, exchange.rateLimit);
        }
      });
    } catch (error) {
      this.#onLost(error);
    }
  }

  async #count(db: Kysely<XClientTables>, exchange: Exchange): Promise<void> {
    const { endpoint, method, ok, items, costMicros, at } = exchange;
    await db
      .insertInto('x_usage')
      .values({
        day: at.toISOString().slice(0, 10),
        realm: this.#realm,
        endpoint,
        method,
        calls: 1,
        failures: ok ? 0 : 1,
        items,
        cost_micros: costMicros,
      })
      .onConflict((conflict) =>
        conflict.columns(['day', 'realm', 'endpoint', 'method']).doUpdateSet({
          calls: sql`x_usage.calls + 1`,
          failures: sql`x_usage.failures + excluded.failures`,
          items: sql`x_usage.items + excluded.items`,
          cost_micros: sql`x_usage.cost_micros + excluded.cost_micros`,
        }),
      )
      .execute();
  }

  async #keepLimit(
    db: Kysely<XClientTables>,
    { endpoint, auth, at }: Exchange,
    limit: RateLimit,
  ): Promise<void> {
    const row = {
      limit_max: limit.limit,
      remaining: limit.remaining,
      reset_at: limit.resetAt.toISOString(),
      seen_at: at.toISOString(),
    };
    await db
      .insertInto('x_rate_limits')
      .values({ endpoint, auth, realm: this.#realm, ...row })
      .onConflict((conflict) => conflict.columns(['realm', 'endpoint', 'auth']).doUpdateSet(row))
      .execute();
  }

  async rateLimits(): Promise<readonly RateLimitRow[]> {
    await this.flush();
    const rows = await this.#db
      .selectFrom('x_rate_limits')
      .selectAll()
      .where('realm', '=', this.#realm)
      .orderBy('endpoint')
      .orderBy('auth')
      .execute();
    return rows.map((row) => ({
      endpoint: row.endpoint,
      auth: row.auth,
      limit: row.limit_max,
      remaining: row.remaining,
      resetAt: new Date(row.reset_at),
      seenAt: new Date(row.seen_at),
    }));
  }

  async usage(since: Date): Promise<readonly UsageRow[]> {
    await this.flush();
    const rows = await this.#db
      .selectFrom('x_usage')
      .selectAll()
      .where('realm', '=', this.#realm)
      .where('day', '>=', since.toISOString().slice(0, 10))
      .orderBy('day')
      .orderBy('endpoint')
      .execute();
    return rows.map((row) => ({
      day: row.day,
      endpoint: row.endpoint,
      method: row.method,
      calls: row.calls,
      failures: row.failures,
      items: row.items,
      costUsd: row.cost_micros / 1_000_000,
    }));
  }
}

export const warnLost =
  (log: Log) =>
  (error: unknown): void =>
    log.warn('x usage could not be written down', { error: String(error) });
