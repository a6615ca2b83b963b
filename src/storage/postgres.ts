import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';

/** int8 (counts) fits a JavaScript number everywhere we use it. */
const INT8 = 20;

export function openPostgres<T>(url: string, { readOnly = false } = {}): Kysely<T> {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: 10, types });
  // A server that goes away breaks idle and used connections alike. Without a listener of its own each would end the
  // process; the query in flight fails in any case, and the pool makes a new connection for the next one.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  if (readOnly) {
    // The first statement of every session: from then on the server refuses to write.
    pool.on('connect', (client) => {
      client.query('set default_transaction_read_only = on').catch(() => {});
    });
  }
  return new Kysely<T>({ dialect: new PostgresDialect({ pool: patient(pool) }) });
}

/** Waits between attempts to connect while the server restarts; about two seconds in all. */
const PAUSES_MS = [50, 100, 200, 400, 600, 800];

/** The server is down, starting, stopping, or has no free connection: the next attempt may find it well. */
const PASSING = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300']);

function patient(pool: pg.Pool): PostgresPool {
  return {
    async connect() {
      for (const pause of PAUSES_MS) {
        try {
          return await pool.connect();
        } catch (error) {
          if (!isPassing(error)) throw error;
          await sleep(pause * (0.5 + Math.random()));
        }
      }
      return pool.connect();
    },
    end: () => pool.end(),
  };
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
