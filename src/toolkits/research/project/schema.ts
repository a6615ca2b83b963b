import { existsSync } from 'node:fs';
import Database from 'libsql';
import { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';
import { ResearchError } from '../errors.ts';

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
      throw new ResearchError('no_project', `File ${path} not found.`);
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
    const value = lookup(row, name);
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

/** True when such a row already exists. */
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

/** What a project's tables look like; QualCoder itself goes by the columns, not by the version it wrote down. */
export interface ProjectSchema {
  readonly version: number;
  has(table: string, column?: string): boolean;
  columns(table: string): readonly string[];
}

const OLDEST = 8;
const NEWEST = 17;

/** Each version adds what is named here; a project has the highest version whose steps are all there. */
const STEPS: readonly (readonly [version: number, table: string, column?: string])[] = [
  [9, 'project', 'recently_used_codes'],
  [10, 'code_image', 'pdf_page'],
  [11, 'gr_pix_item', 'pdf_page'],
  [12, 'manage_files_display'],
  [13, 'files_filter'],
  [14, 'coder_names'],
  [15, 'project', 'avbookmarkfile'],
  [16, 'code_name', 'supercid'],
  [17, 'gr_memo_item'],
];

const NEEDED: readonly (readonly [table: string, column?: string])[] = [
  ['source', 'risid'],
  ['source', 'av_text_id'],
  ['code_text', 'ctid'],
  ['code_text', 'important'],
  ['code_text', 'avid'],
  ['code_name', 'cid'],
  ['code_cat', 'supercatid'],
  ['code_image', 'imid'],
  ['code_av', 'avid'],
  ['annotation', 'anid'],
  ['attribute_type', 'caseOrFile'],
  ['attribute', 'attrid'],
  ['cases', 'caseid'],
  ['case_text', 'caseid'],
  ['journal', 'jid'],
  ['project', 'codername'],
];

export function probeSchema(db: SqliteFile, path: string): ProjectSchema {
  const tables = readTables(db);
  const has = (table: string, column?: string) => {
    const columns = tables.get(table);
    return columns !== undefined && (column === undefined || columns.includes(column));
  };
  if (!has('project', 'about') || !has('project', 'databaseversion')) throw notAProject(path);
  const row = db.get('SELECT databaseversion, about FROM project');
  if (!row || !textOf(row.about).includes('QualCoder')) throw notAProject(path);
  refuseNewer(textOf(row.databaseversion), path);
  const missing = NEEDED.find(([table, column]) => !has(table, column));
  if (missing) {
    throw new ToolError(
      'validation_error',
      `The project ${path} was made by a QualCoder older than 3.2 (${missing.join('.')} is missing). Open it once in a current QualCoder, which brings it up to date, then open it here.`,
    );
  }
  let version = OLDEST;
  for (const [step, table, column] of STEPS) {
    if (!has(table, column)) break;
    version = step;
  }
  return { version, has, columns: (table) => tables.get(table) ?? [] };
}

function refuseNewer(declared: string, path: string): void {
  const number = Number(/^v(\d+)/.exec(declared)?.[1] ?? 0);
  if (number <= NEWEST) return;
  throw new ToolError(
    'validation_error',
    `The project ${path} has the format ${declared}, newer than v${NEWEST}, the newest this program knows. It was not opened, to avoid damaging it. Update Countersign.`,
  );
}

const notAProject = (path: string) =>
  new ToolError(
    'validation_error',
    `${path} is not a QualCoder project: its data.qda was not created by QualCoder.`,
  );

function readTables(db: SqliteFile): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>();
  const rows = db.all(
    `SELECT m.name AS tbl, p.name AS col, p.cid AS pos FROM sqlite_master m, pragma_table_info(m.name) p
     WHERE m.type = 'table' ORDER BY m.name, p.cid`,
  );
  for (const row of rows) {
    const columns = tables.get(textOf(row.tbl)) ?? [];
    columns[numberOf(row.pos)] = textOf(row.col);
    tables.set(textOf(row.tbl), columns);
  }
  return tables;
}
