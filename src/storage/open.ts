import { chmodSync, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Migration } from '../contract/migration.ts';
import type { Database } from '../kernel/store/database.ts';
import { runners } from '../kernel/store/statements.ts';
import type { Tables } from '../kernel/store/tables.ts';
import { DAMAGED, describeDatabaseError } from '../lib/database-error.ts';
import { makeFolder } from '../lib/file-error.ts';
import { coreMigrations, migrate } from './migrate.ts';
import { isPostgresUrl, StoreError, storeError } from './store-error.ts';

export interface StorageOptions {
  /** A file path, `:memory:`, or a `postgres://` address. */
  readonly url: string;
  /** What the toolkits add to the schema; loaded only when the database lacks one. */
  readonly migrations: { readonly names: readonly string[]; load(): Promise<readonly Migration[]> };
  /** A signing key belongs to the database, so it cannot be new. */
  hasKey?(): boolean;
  /** Looks at the database as it was found, before its schema is brought forward; throws to refuse it. */
  inspect?(database: Database): Promise<void>;
}

/** Opens the store and brings its schema forward. Throws a `StoreError` when it cannot. */
export async function openStorage({ url, migrations, hasKey, inspect }: StorageOptions): Promise<Database> {
  try {
    if (!isPostgresUrl(url)) refuseLost(url, hasKey);
    return await open(url, migrations, inspect);
  } catch (error) {
    throw storeError(url, error);
  }
}

async function open(
  url: string,
  ofToolkits: StorageOptions['migrations'],
  inspect: StorageOptions['inspect'],
): Promise<Database> {
  const database = isPostgresUrl(url) ? await postgres(url) : await sqlite(url);
  try {
    await inspect?.(database);
    await migrate(database.db as unknown as Kysely<unknown>, database.engine, {
      names: [...coreMigrations.map(({ name }) => name), ...ofToolkits.names],
      load: async () =>
        [...coreMigrations, ...(await ofToolkits.load())].sort((a, b) => (a.name < b.name ? -1 : 1)),
    });
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** A deleted or emptied file must not quietly become the start of a new log. */
function refuseLost(path: string, hasKey: StorageOptions['hasKey']): void {
  if (path === ':memory:') return;
  const state = existsSync(path) ? (statSync(path).size === 0 ? 'is empty' : undefined) : 'is missing';
  if (state === undefined || !hasKey?.()) return;
  throw new StoreError(
    `The database ${path} ${state}, but the data directory has the signing key of an audit log. Restore a backup with \`countersign restore FOLDER --force\`, correct storage.url, or move audit-key.pem away to start a new log.`,
  );
}

/** Opens the store to read it: nothing is created, migrated or written. Throws a `StoreError` when it cannot. */
export async function openStorageReadOnly({ url }: Pick<StorageOptions, 'url'>): Promise<Database> {
  try {
    if (isPostgresUrl(url)) return await postgres(url, { readOnly: true });
    if (!existsSync(url))
      throw new StoreError(
        `The database ${url} does not exist. Correct storage.url or COUNTERSIGN_HOME, or name the configuration with -c.`,
      );
    const { openSqliteReadOnly } = await import('./sqlite.ts');
    const { db } = openSqliteReadOnly<Tables>(url);
    return { engine: 'sqlite', db, write: refuseWrite, close: () => db.destroy() };
  } catch (error) {
    throw storeError(url, error);
  }
}

const refuseWrite = (): Promise<never> =>
  Promise.reject(new StoreError('The database was opened to be read only.'));

async function sqlite(path: string): Promise<Database> {
  const { openSqlite } = await import('./sqlite.ts');
  if (path !== ':memory:') {
    makeFolder(dirname(path), 0o700);
  }
  const isNew = path !== ':memory:' && !existsSync(path);
  const { db, trx, runNow, write } = openSqlite<Tables>(path, { ownTable: 'schema_migrations' });
  runners.set(trx, runNow);
  if (isNew) chmodSync(path, 0o600);
  return {
    engine: 'sqlite',
    db,
    write: (work) => write(() => work(trx)),
    close: () => db.destroy(),
  };
}

async function postgres(url: string, options?: { readonly readOnly: boolean }): Promise<Database> {
  const { openPostgres, retryConflicts } = await import('./postgres.ts');
  const db = openPostgres<Tables>(url, options);
  return {
    engine: 'postgres',
    db,
    write: options?.readOnly ? refuseWrite : (work) => retryConflicts(() => db.transaction().execute(work)),
    close: () => db.destroy(),
  };
}

/**
 * Whether another process has this SQLite store open. Leaving WAL needs the file alone, so SQLite itself knows; the next
 * opening goes back to WAL. To be asked before this process opens the store, as its own connection would count.
 */
export async function storeInUse(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { default: SqliteFile } = await import('libsql');
  try {
    const file = new SqliteFile(path, { timeout: 0 });
    try {
      file.pragma('journal_mode = DELETE');
    } finally {
      file.close();
    }
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
  }
}

/** What is wrong with the file, read as a whole; undefined when it is in order. PostgreSQL checks its pages itself. */
export async function findFileDamage({ db, engine }: Database): Promise<string | undefined> {
  if (engine === 'postgres') return undefined;
  try {
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
    if (rows.every(({ quick_check }) => quick_check === 'ok')) return undefined;
    return DAMAGED;
  } catch (error) {
    return describeDatabaseError(error) ?? String(error);
  }
}

/** Writes a consistent copy of a SQLite store that may be in use. The file must not exist, or be empty. */
export async function copyStore({ db }: Database, path: string): Promise<void> {
  await sql`vacuum into ${path}`.execute(db);
}
