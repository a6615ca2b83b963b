import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Generated, type Kysely, sql } from 'kysely';
import type { Log } from '../../../contract/ports.ts';
import type { RateLimit, RateLimitRow, UsageRow } from './api.ts';

export interface Exchange {
  readonly endpoint: string;
  /** Where the limit is kept, if not under the endpoint. */
  readonly limitKey?: string;
  readonly method: string;
  readonly auth: string;
  readonly ok: boolean;
  readonly items: number;
  readonly costMicros: number;
  readonly rateLimit: RateLimit | undefined;
  /** X answered 429: every process must know before its next request. */
  readonly limited?: boolean;
  readonly at: Date;
}

/** Reads are written down in groups, as their evidence is: a read must not wait for the disk. */
const GROUP_MS = 200;

/**
 * How old the list of limits may be for a read of an endpoint that has plenty left; a change always reads it. The call
 * that learns of a 429 returns only after this time: whatever follows it, in any process, has a newer list.
 */
const LIST_AGE_MS = 250;

/** An endpoint with no more than this left is looked up before every request. */
const CLOSE = 5;

interface LimitList {
  /** When an endpoint is open again. */
  readonly closed: ReadonlyMap<string, Date>;
  /** Endpoints that another process may use up at any moment. */
  readonly close: ReadonlySet<string>;
}

const NO_LIMITS: LimitList = { closed: new Map(), close: new Set() };

/** Rate limits and usage, shared by every process on this store. */
export class ExchangeStore {
  readonly #db: Kysely<XClientTables>;
  /** Sandbox and X are counted apart. */
  readonly #realm: string;
  readonly #onLost: (error: unknown) => void;
  #waiting: Exchange[] = [];
  #timer: NodeJS.Timeout | undefined;
  #list: { readonly at: number; readonly limits: Promise<LimitList> } | undefined;
  /** What this process saw last; others may not have written down theirs yet. */
  readonly #seen = new Map<string, RateLimit>();

  constructor(db: Kysely<XClientTables>, realm: string, onLost: (error: unknown) => void) {
    this.#db = db;
    this.#realm = realm;
    this.#onLost = onLost;
  }

  /** Never throws: what X did is done, and a counter that cannot be written must not turn it into a failure. */
  async record(exchange: Exchange): Promise<void> {
    this.#waiting.push(exchange);
    if (exchange.rateLimit) this.#seen.set(keyOf(limitPlace(exchange)), exchange.rateLimit);
    if (exchange.method === 'GET' && !exchange.limited)
      this.#timer ??= setTimeout(() => void this.flush(), GROUP_MS).unref();
    else await this.flush();
    if (!exchange.limited) return;
    // What this process just learned must not be hidden by its own list.
    this.#list = undefined;
    await delay(LIST_AGE_MS);
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

  async #keepLimit(db: Kysely<XClientTables>, exchange: Exchange, limit: RateLimit): Promise<void> {
    const { endpoint, auth } = limitPlace(exchange);
    const row = {
      limit_max: limit.limit,
      remaining: limit.remaining,
      reset_at: limit.resetAt.toISOString(),
      seen_at: exchange.at.toISOString(),
    };
    await db
      .insertInto('x_rate_limits')
      .values({ endpoint, auth, realm: this.#realm, ...row })
      .onConflict((conflict) =>
        conflict
          .columns(['realm', 'endpoint', 'auth'])
          .doUpdateSet(row)
          // An answer that was under way while another process used the limit up must not open it again.
          .where((eb) =>
            eb.or([
              eb('excluded.remaining', '=', 0),
              eb('x_rate_limits.remaining', '>', 0),
              eb('excluded.seen_at', '>=', eb.ref('x_rate_limits.reset_at')),
            ]),
          ),
      )
      .execute();
  }

  /** Until when an endpoint is used up, as any process on this store learned it; undefined when it is open. */
  async closedUntil(endpoint: string, auth: string, at: Date, change: boolean): Promise<Date | undefined> {
    const key = keyOf({ endpoint, auth });
    const known = change || this.#isClose(key, at) ? undefined : this.#freshList();
    let limits = await (known ?? this.#readList(at));
    // Another process saw how little is left: only the newest list will do.
    if (known && limits.close.has(key)) limits = await this.#readList(at);
    const until = limits.closed.get(key);
    return until && until > at ? until : undefined;
  }

  #freshList(): Promise<LimitList> | undefined {
    return this.#list && performance.now() - this.#list.at < LIST_AGE_MS ? this.#list.limits : undefined;
  }

  #isClose(key: string, at: Date): boolean {
    const seen = this.#seen.get(key);
    return seen !== undefined && seen.remaining <= CLOSE && seen.resetAt > at;
  }

  #readList(at: Date): Promise<LimitList> {
    const limits = this.#readLimits(at);
    this.#list = { at: performance.now(), limits };
    return limits;
  }

  /** Mostly empty, so that one short statement answers for every endpoint. Never throws: X itself still refuses. */
  async #readLimits(at: Date): Promise<LimitList> {
    try {
      const rows = await this.#db
        .selectFrom('x_rate_limits')
        .select(['endpoint', 'auth', 'remaining', 'reset_at'])
        .where('realm', '=', this.#realm)
        .where('remaining', '<=', CLOSE)
        .where('reset_at', '>', at.toISOString())
        .execute();
      const closed = rows.filter(({ remaining }) => remaining === 0);
      return {
        closed: new Map(closed.map((row) => [keyOf(row), new Date(row.reset_at)])),
        close: new Set(rows.map(keyOf)),
      };
    } catch (error) {
      this.#onLost(error);
      return NO_LIMITS;
    }
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

const limitPlace = ({ limitKey, endpoint, auth }: Exchange) => ({ endpoint: limitKey ?? endpoint, auth });

const keyOf = ({ endpoint, auth }: { readonly endpoint: string; readonly auth: string }): string =>
  `${auth} ${endpoint}`;

export const warnLost =
  (log: Log) =>
  (error: unknown): void =>
    log.warn('X usage and limits could not be read or recorded', { error: String(error) });

/** What the client keeps in the store; made by migration 010-x-client. */
export interface XClientTables {
  x_rate_limits: {
    endpoint: string;
    /** `user`, `app` or `ads`: X counts them apart. */
    auth: string;
    /** The backend and account they belong to, so that the sandbox never mixes with X. */
    realm: string;
    limit_max: number;
    remaining: number;
    reset_at: string;
    seen_at: string;
  };
  x_usage: {
    day: string;
    realm: string;
    endpoint: string;
    method: string;
    calls: Generated<number>;
    failures: Generated<number>;
    items: Generated<number>;
    /** Millionths of a US dollar: sums stay exact. */
    cost_micros: Generated<number>;
  };
}
