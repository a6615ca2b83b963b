import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** int8 (counts) fits a JavaScript number everywhere we use it. */
const INT8 = 20;

/** How long connecting, or any answer to any statement, may take before the server counts as stalled. */
const STALLED_MS = 8_000;
const TICK_MS = 500;

/**
 * Limits of one transaction, sent with its `begin` and gone with it, so they pass through a pooler. The second frees the
 * locks of a process that was suspended in the middle of a transaction.
 */
const LIMITS = "set local lock_timeout = '8s'; set local idle_in_transaction_session_timeout = '30s'";

/** The option would also limit how long a caller waits for a free connection of the pool. */
class Client extends pg.Client {
  constructor(options?: string | pg.ClientConfig) {
    super({ ...(typeof options === 'object' ? options : {}), connectionTimeoutMillis: STALLED_MS });
  }
}

export function openPostgres<T>(url: string, { readOnly = false } = {}): Kysely<T> {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: 10, types, Client });
  // A server that goes away breaks idle and used connections alike. Without a listener of its own each would end the
  // process; the query in flight fails in any case, and the pool makes a new connection for the next one.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<T>({ dialect: new PostgresDialect({ pool: guarded(pool, readOnly) }) });
}

/** Waits between attempts to connect while the server restarts; about two seconds in all. */
const PAUSES_MS = [50, 100, 200, 400, 600, 800];

/** The server is down, starting, stopping, or has no free connection: the next attempt may find it well. */
const PASSING = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300']);

/** The pool with limits on how long it waits for a server that has stopped answering. */
function guarded(pool: pg.Pool, readOnly: boolean): PostgresPool {
  const answers = new Answers();
  const connectOnce = async (): Promise<pg.PoolClient> => {
    const connecting = pool.connect();
    try {
      return await answers.within(connecting, false);
    } catch (error) {
      if (error instanceof StalledServer) void connecting.then((late) => late.release()).catch(() => {});
      throw error;
    }
  };
  const connect = async (): Promise<pg.PoolClient> => {
    for (const pause of PAUSES_MS) {
      try {
        return await connectOnce();
      } catch (error) {
        if (!isPassing(error)) throw error;
        await sleep(pause * (0.5 + Math.random()));
      }
    }
    return connectOnce();
  };
  return {
    async connect() {
      const connection = new Connection(await connect(), answers);
      // Not a setting of the session: behind a pooler the next client of the same connection would inherit it.
      if (readOnly) await connection.beginReadOnly();
      return connection as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

/** One connection while it is lent out. */
class Connection {
  readonly #client: pg.PoolClient;
  readonly #answers: Answers;
  #isReadOnly = false;
  #isBroken = false;

  constructor(client: pg.PoolClient, answers: Answers) {
    this.#client = client;
    this.#answers = answers;
  }

  async beginReadOnly(): Promise<void> {
    this.#isReadOnly = true;
    try {
      await this.#send('begin transaction read only');
    } catch (error) {
      this.release();
      throw error;
    }
  }

  query(text: string, parameters: unknown[]): Promise<pg.QueryResult>;
  query<R>(cursor: R): R;
  query(first: unknown, parameters?: unknown[]): unknown {
    if (typeof first !== 'string') return this.#client.query(first as pg.Submittable);
    return first === 'begin' ? this.#send(`begin; ${LIMITS}`) : this.#send(first, parameters);
  }

  release(): void {
    if (!this.#isReadOnly || this.#isBroken) this.#client.release(this.#isBroken);
    else
      this.#send('rollback').then(
        () => this.#client.release(),
        () => this.#client.release(true),
      );
  }

  async #send(text: string, parameters?: unknown[]): Promise<pg.QueryResult> {
    try {
      return await this.#answers.within(this.#client.query(text, parameters), true);
    } catch (error) {
      // Its answer may still come, and must not be taken for that of the next statement.
      if (error instanceof StalledServer) this.#isBroken = true;
      throw error;
    }
  }
}

class StalledServer extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`PostgreSQL has not answered for ${STALLED_MS / 1000} s.`);
  }
}

/**
 * Tells a stalled server from a busy one: it is stalled when nothing of this process was answered for a while. Counted
 * in ticks of the event loop and not by the clock, so neither a busy process nor a clock that is set looks like one.
 */
class Answers {
  #count = 0;

  async within<T>(work: Promise<T>, isAnswer: boolean): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const stalled = new Promise<never>((_resolve, reject) => {
      let seen = this.#count;
      let ticks = 0;
      timer = setInterval(() => {
        ticks = this.#count === seen ? ticks + 1 : 0;
        seen = this.#count;
        if (ticks * TICK_MS >= STALLED_MS) reject(new StalledServer());
      }, TICK_MS);
    });
    try {
      const result = await Promise.race([work, stalled]);
      if (isAnswer) this.#count += 1;
      return result;
    } catch (error) {
      if (error instanceof pg.DatabaseError) this.#count += 1;
      throw error;
    } finally {
      clearInterval(timer);
    }
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isPassing = (error: unknown): boolean =>
  PASSING.has(codeOf(error)) ||
  (error instanceof Error && error.message === 'Connection terminated unexpectedly');

/** Serialization failure and deadlock: the engine rolled the transaction back, so running it again is safe. */
const CONFLICTS = new Set(['40001', '40P01']);
const CONFLICT_ATTEMPTS = 8;

/** Runs a transaction again when the engine gave it up for another one. Nothing of it has happened then. */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!CONFLICTS.has(codeOf(error)) || attempt === CONFLICT_ATTEMPTS) throw error;
      await sleep(2 ** attempt * (0.5 + Math.random()));
    }
  }
}
