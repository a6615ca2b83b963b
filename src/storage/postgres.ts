import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

/** int8 (counts) fits a JavaScript number everywhere we use it. */
const INT8 = 20;

export function openPostgres<T>(url: string): { db: Kysely<T>; pool: pg.Pool } {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: 10, types });
  // A dropped idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return { db: new Kysely<T>({ dialect: new PostgresDialect({ pool }) }), pool };
}
