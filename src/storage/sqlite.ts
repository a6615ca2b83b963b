import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import SqliteFile from 'libsql';
import type { RunNow } from '../kernel/statements.ts';

interface Statement {
  readonly statement: ReturnType<SqliteFile.Database['prepare']>;
  readonly reader: boolean;
}

/** Enough for every distinct query of the product; beyond it the oldest is dropped. */
const MAX_STATEMENTS = 500;

/**
 * Kysely over libsql. Kysely's own SQLite driver starts transactions deferred, which fails with SQLITE_BUSY when two
 * processes upgrade at once; this one begins immediate, and keeps prepared statements.
 */
export function openSqlite<T>(path: string): {
  db: Kysely<T>;
  file: SqliteFile.Database;
  /** Only for whoever holds the transaction: there is one connection. */
  runNow: RunNow;
} {
  const file = new SqliteFile(path, { timeout: 15_000 });
  file.pragma('journal_mode = WAL');
  // FULL: a change's intent must survive a power cut before its effect happens.
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');
  const driver = new LibsqlDriver(file);
  const db = new Kysely<T>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return { db, file, runNow: driver.runNow };
}

class LibsqlDriver implements Driver {
  readonly #connection: LibsqlConnection;
  readonly #file: SqliteFile.Database;
  #turn: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(file: SqliteFile.Database) {
    this.#file = file;
    this.#connection = new LibsqlConnection(file);
  }

  readonly runNow: RunNow = (sql, parameters, single) => this.#connection.query(sql, parameters, single);

  async init(): Promise<void> {}

  // One connection, one user at a time: a statement must not slip into another caller's transaction.
  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#turn;
    let release: () => void = () => {};
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    this.#release = release;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release?.();
  }

  async beginTransaction(): Promise<void> {
    this.#connection.run('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit');
  }

  async rollbackTransaction(): Promise<void> {
    this.#connection.run('rollback');
  }

  async destroy(): Promise<void> {
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
    const { statement, reader } = this.#prepare(sql);
    if (reader && single) {
      const row = statement.get(parameters) as R | undefined;
      return { rows: row === undefined ? [] : [row] };
    }
    if (reader) return { rows: statement.all(parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.#file.prepare(sql).iterate([...parameters])) yield { rows: [row as R] };
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#file.prepare(sql);
    // Asking the statement crosses into native code; the answer never changes.
    const made: Statement = { statement, reader: statement.reader };
    if (this.#statements.size >= MAX_STATEMENTS) {
      const oldest = this.#statements.keys().next().value;
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, made);
    return made;
  }
}
