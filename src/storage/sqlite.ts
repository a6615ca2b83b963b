import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
} from 'kysely';
import SqliteFile from 'libsql';
import type { RunNow } from '../kernel/store/statements.ts';
import { StoreError } from './store-error.ts';
import { decodeText, guardText } from './text-guard.ts';

interface Statement {
  readonly statement: ReturnType<SqliteFile.Database['prepare']>;
  readonly reader: boolean;
  /** Its text may come as bytes. */
  readonly guarded: boolean;
}

export interface OpenFile<T> {
  readonly db: Kysely<T>;
  /** Only for the holder of the transaction: there is one connection. */
  readonly runNow: RunNow;
  /** Of the one connection, so one object serves every transaction: making one costs more than its statements. */
  readonly trx: Transaction<T>;
  /** Takes the write lock, runs the work and commits; what the work throws undoes all of it. */
  write<R>(work: () => Promise<R>): Promise<R>;
}

const TIMEOUT_MS = 15_000;

/** Enough for every distinct query of the product; beyond it the oldest is dropped. */
const MAX_STATEMENTS = 500;

/**
 * Kysely over libsql. Kysely's own SQLite driver starts transactions deferred, which fails with SQLITE_BUSY when two
 * processes upgrade simultaneously; this one begins immediate, and keeps prepared statements.
 */
export function openSqlite<T>(path: string, { ownTable }: { readonly ownTable?: string } = {}): OpenFile<T> {
  const file = new SqliteFile(path, { timeout: TIMEOUT_MS });
  // Before the first pragma, which already writes.
  if (ownTable !== undefined) refuseForeign(file, path, ownTable);
  file.pragma('journal_mode = WAL');
  // FULL: a change's intent must survive a power cut before its effect happens.
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');
  return over<T>(file);
}

function refuseForeign(file: SqliteFile.Database, path: string, ownTable: string): void {
  const rows = file.prepare(`select name from sqlite_schema where type = 'table'`).all([]);
  const tables = rows.map((row) => String((row as { name: unknown }).name));
  if (tables.length === 0 || tables.includes(ownTable)) return;
  file.close();
  throw new StoreError(
    `The database ${path} belongs to another program: it has the table ${tables[0]}. Name another file as storage.url, or restore a backup with \`countersign restore FOLDER --force\`.`,
  );
}

/**
 * The file without any right to write it. libsql ignores its own `readonly` option, so SQLite's address form says it.
 * SQLite may leave an empty `-wal` and a `-shm` next to the file: removing them could pull them from under a process
 * that has just opened it, and the next one that writes does so anyway.
 */
export function openSqliteReadOnly<T>(path: string): OpenFile<T> {
  const address = `${pathToFileURL(resolve(path)).href}?mode=ro`;
  const file = new SqliteFile(address, { timeout: TIMEOUT_MS });
  try {
    file.prepare('select count(*) from sqlite_schema').get([]);
    return over<T>(file);
  } catch (error) {
    file.close();
    // In a directory that is not writable, SQLite cannot create the `-shm` that WAL needs. Without a `-wal`, no process writes.
    if (isUnopenable(error) && !existsSync(`${path}-wal`))
      return over<T>(new SqliteFile(`${address}&immutable=1`, { timeout: TIMEOUT_MS }));
    throw error;
  }
}

const isUnopenable = (error: unknown): boolean =>
  error instanceof Error && /unable to open database file|readonly database/.test(error.message);

function over<T>(file: SqliteFile.Database): OpenFile<T> {
  const driver = new LibsqlDriver(file);
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  const db = new Kysely<T>({ dialect });
  const executor = db.getExecutor().withConnectionProvider(driver);
  const trx = new Transaction<T>({ config: { dialect }, dialect, driver, executor });
  return { db, trx, runNow: driver.runNow, write: (work) => driver.write(work) };
}

class LibsqlDriver implements Driver, ConnectionProvider {
  readonly #connection: LibsqlConnection;
  readonly #file: SqliteFile.Database;
  #isClosed = false;
  #isTaken = false;
  #isWriting = false;
  readonly #waiting: (() => void)[] = [];

  constructor(file: SqliteFile.Database) {
    this.#file = file;
    this.#connection = new LibsqlConnection(file);
  }

  readonly runNow: RunNow = (sql, parameters, single) => this.#connection.query(sql, parameters, single);

  async init(): Promise<void> {}

  // One connection, one user at a time: a statement must not slip into another caller's transaction.
  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  #release(): void {
    const next = this.#waiting.shift();
    // It is handed over directly, so that a newcomer cannot overtake the queue.
    if (next) next();
    else this.#isTaken = false;
  }

  /** For the statements of `write`: all transactions share one object, and one that was kept must not outlive its own. */
  provideConnection<R>(consumer: (connection: DatabaseConnection) => Promise<R>): Promise<R> {
    return this.#isWriting
      ? consumer(this.#connection)
      : Promise.reject(new Error('The transaction has ended.'));
  }

  async write<R>(work: () => Promise<R>): Promise<R> {
    await this.acquireConnection();
    try {
      // libsql does not survive being asked about a closed file.
      if (this.#isClosed) throw new Error('The database is closed.');
      this.#connection.run('begin immediate');
      this.#isWriting = true;
      const result = await work();
      this.#connection.run('commit');
      return result;
    } catch (error) {
      await this.rollbackTransaction();
      throw error;
    } finally {
      this.#isWriting = false;
      this.#release();
    }
  }

  async beginTransaction(): Promise<void> {
    this.#connection.run('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit');
  }

  async rollbackTransaction(): Promise<void> {
    // A full disk or a damaged page already ended the transaction; a second error would hide the first.
    if (!this.#isClosed && this.#file.inTransaction) this.#connection.run('rollback');
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    this.#file.close();
  }
}

class LibsqlConnection implements DatabaseConnection {
  readonly #file: SqliteFile.Database;
  readonly #statements = new Map<string, Statement>();

  constructor(file: SqliteFile.Database) {
    this.#file = file;
  }

  run(sql: string): void {
    this.#prepare(sql).statement.run([]);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.query<R>(sql, parameters, false);
  }

  query<R>(sql: string, parameters: readonly unknown[], single: boolean): QueryResult<R> {
    const { statement, reader, guarded } = this.#prepare(sql);
    if (reader) {
      const row = single ? (statement.get(parameters) as R | undefined) : undefined;
      const rows = single ? (row === undefined ? [] : [row]) : (statement.all(parameters) as R[]);
      if (guarded) for (const one of rows) decodeText(one);
      return { rows };
    }
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.query<R>(sql, parameters, false).rows) yield { rows: [row] };
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const plain = this.#file.prepare(sql);
    // Asking the statement crosses into native code; the answer never changes.
    const reader = plain.reader;
    const safe = reader
      ? guardText(
          sql,
          plain.columns().map(({ name }) => name),
        )
      : undefined;
    const statement = safe === undefined ? plain : this.#file.prepare(safe);
    const made: Statement = { statement, reader, guarded: safe !== undefined };
    if (this.#statements.size >= MAX_STATEMENTS) {
      const oldest = this.#statements.keys().next().value;
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, made);
    return made;
  }
}
