import { type Kysely, sql } from 'kysely';
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

/** Rate limits and usage, shared by every process on this store. */
export class ExchangeStore {
  readonly #db: Kysely<XClientTables>;
  /** Sandbox and X are counted apart. */
  readonly #realm: string;

  constructor(db: Kysely<XClientTables>, realm: string) {
    this.#db = db;
    this.#realm = realm;
  }

  async record(exchange: Exchange): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await this.#count(trx, exchange);
      if (exchange.rateLimit) await this.#keepLimit(trx, exchange, exchange.rateLimit);
    });
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
