import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Kysely } from 'kysely';
import type { Database } from '../kernel/database.ts';
import { runners } from '../kernel/statements.ts';
import type { Tables } from '../kernel/tables.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { migrate } from './migrate.ts';
import { isPostgresUrl, storeError } from './store-error.ts';

export interface StorageOptions {
  /** A file path, `:memory:`, or a `postgres://` address. */
  readonly url: string;
}

/** Opens the store and brings its schema forward. Throws a `StoreError` when it cannot. */
export async function openStorage({ url }: StorageOptions): Promise<Database> {
  try {
    return await open(url);
  } catch (error) {
    throw storeError(url, error);
  }
}

async function open(url: string): Promise<Database> {
  const database = isPostgresUrl(url) ? await postgres(url) : await sqlite(url);
  try {
    const { migrations } = await import('./migrations/index.ts');
    await migrate(database.db as unknown as Kysely<unknown>, database.engine, migrations);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function sqlite(path: string): Promise<Database> {
  const { openSqlite } = await import('./sqlite.ts');
  if (path !== ':memory:') {
    makeFolder(dirname(path), 0o700);
  }
  const isNew = path !== ':memory:' && !existsSync(path);
  const { db, file, runNow } = openSqlite<Tables>(path);
  if (isNew) chmodSync(path, 0o600);
  return {
    engine: 'sqlite',
    db,
    write: (work) =>
      db.transaction().execute((trx) => {
        runners.set(trx, runNow);
        return work(trx);
      }),
    stream: ({ sql, parameters }) => file.prepare(sql).iterate([...parameters]) as Iterable<never>,
    close: () => db.destroy(),
  };
}

async function postgres(url: string): Promise<Database> {
  const { openPostgres } = await import('./postgres.ts');
  const { db, pool } = openPostgres<Tables>(url);
  return {
    engine: 'postgres',
    db,
    write: (work) => db.transaction().execute(work),
    async *stream({ sql, parameters }) {
      // Keyset paging inside one snapshot: flat memory without a cursor dependency.
      const client = await pool.connect();
      try {
        await client.query('begin isolation level repeatable read read only');
        await client.query(`declare countersign_scan no scroll cursor for ${sql}`, [...parameters]);
        for (;;) {
          const { rows } = await client.query('fetch 2000 from countersign_scan');
          if (rows.length === 0) break;
          yield* rows as never[];
        }
      } finally {
        await client.query('rollback');
        client.release();
      }
    },
    close: () => db.destroy(),
  };
}
