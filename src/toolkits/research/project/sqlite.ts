import { existsSync } from 'node:fs';
import Database from 'libsql';
import { ToolFault } from '../../../contract/faults.ts';

export type Cell = string | number | null | Uint8Array;
export type Row = { readonly [column: string]: Cell };

/** Values always go in as one array: the driver takes a single Buffer for named parameters and aborts the process. */
interface Statement {
  run(values: readonly Cell[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  get(values: readonly Cell[]): unknown;
  all(values: readonly Cell[]): unknown[];
}

/** One connection to a SQLite file, with its statements kept prepared. */
export class SqliteFile {
  readonly #db: InstanceType<typeof Database>;
  readonly #statements = new Map<string, Statement>();

  constructor(
    path: string,
    options: { readonly create?: boolean; readonly queryOnly?: boolean; readonly busyMs?: number } = {},
  ) {
    // The driver creates what is missing and knows no read-only mode, so both are settled here.
    if (!options.create && path !== ':memory:' && !existsSync(path)) {
      throw new ToolFault('no_project', `There is no file ${path}.`);
    }
    this.#db = new Database(path);
    this.#db.exec(`PRAGMA busy_timeout = ${options.busyMs ?? 2000}`);
    if (options.queryOnly) this.#db.exec('PRAGMA query_only = ON');
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  run(
    sql: string,
    ...values: readonly Cell[]
  ): { readonly changes: number; readonly lastInsertRowid: number } {
    const { changes, lastInsertRowid } = this.#prepare(sql).run(values);
    return { changes, lastInsertRowid: Number(lastInsertRowid) };
  }

  get(sql: string, ...values: readonly Cell[]): Row | undefined {
    return this.#prepare(sql).get(values) as Row | undefined;
  }

  all(sql: string, ...values: readonly Cell[]): readonly Row[] {
    return this.#prepare(sql).all(values) as readonly Row[];
  }

  pragma(name: string): string | number {
    const row = this.get(`PRAGMA ${name}`);
    const value = row?.[name];
    return typeof value === 'number' || typeof value === 'string' ? value : 0;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const made = this.#db.prepare(sql) as unknown as Statement;
    this.#statements.set(sql, made);
    return made;
  }
}

/** True for the errors that mean another process holds the file just now. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  /SQLITE_(BUSY|LOCKED)/.test(String((error as { code?: unknown }).code ?? error.message));

/** True when a row like this is there already. */
export const isUnique = (error: unknown): boolean =>
  error instanceof Error &&
  /SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)/.test(String((error as { code?: unknown }).code));

export const textOf = (cell: Cell | undefined): string => {
  if (typeof cell === 'string') return cell;
  if (cell === null || cell === undefined) return '';
  // The driver cuts text at a NUL, so texts that must be exact are read as bytes.
  return typeof cell === 'object' ? bytesOf(cell).toString('utf8') : String(cell);
};

/** `get` gives a Buffer, `all` a bare ArrayBuffer. */
export const bytesOf = (cell: Uint8Array | ArrayBuffer): Buffer =>
  cell instanceof ArrayBuffer
    ? Buffer.from(cell)
    : Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);

export const numberOf = (cell: Cell | undefined): number =>
  typeof cell === 'number' ? cell : Number(textOf(cell)) || 0;

export const optionalNumber = (cell: Cell | undefined): number | null =>
  cell === null || cell === undefined || cell === '' ? null : numberOf(cell);
