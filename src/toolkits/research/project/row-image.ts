import { hash } from 'node:crypto';
import type { ProjectSchema } from './schema.ts';
import { bytesOf, type Cell, type Row, type SqliteFile, textOf } from './sqlite.ts';

/** One stored value, exactly: integers as text, text that is not sound UTF-8 as bytes. */
export type CellImage = null | readonly ['i' | 't' | 'x' | 'b', string] | readonly ['r', number];

export type RowImage = { readonly [column: string]: CellImage };

/** The column rows are found by. Without an integer key QualCoder's VACUUM may renumber rows. */
const KEYS: { readonly [table: string]: string } = {
  source: 'id',
  code_name: 'cid',
  code_cat: 'catid',
  code_text: 'ctid',
  code_image: 'imid',
  code_av: 'avid',
  annotation: 'anid',
  cases: 'caseid',
  case_text: 'id',
  attribute: 'attrid',
  attribute_type: 'name',
  journal: 'jid',
  // Exactly one row, which has no key of its own.
  project: '1',
};

export function keyOf(table: string): string {
  const key = KEYS[table];
  if (!key) throw new Error(`no key is known for table ${table}`);
  return key;
}

/** Reads whole rows of one table, with the statement made once. */
export class ImageReader {
  readonly #db: SqliteFile;
  readonly #schema: ProjectSchema;
  readonly #statements = new Map<string, string>();

  constructor(db: SqliteFile, schema: ProjectSchema) {
    this.#db = db;
    this.#schema = schema;
  }

  read(table: string, key: Cell): RowImage | undefined {
    const columns = this.#schema.columns(table);
    const row = this.#db.get(this.#statement(table, columns), key);
    return row && toImage(row, columns);
  }

  #statement(table: string, columns: readonly string[]): string {
    const known = this.#statements.get(table);
    if (known) return known;
    const parts = columns.map((column, at) => {
      const name = quoteName(column);
      return `typeof(${name}) AS t${at}, CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) WHEN 'integer' THEN CAST(${name} AS TEXT) ELSE ${name} END AS v${at}`;
    });
    const made = `SELECT ${parts.join(', ')} FROM ${table} WHERE ${keyOf(table)} = ?`;
    this.#statements.set(table, made);
    return made;
  }
}

/** A short fingerprint: enough to see that a row is no longer what it was. */
export function imageHash(image: RowImage): string {
  return hash('sha256', JSON.stringify(Object.entries(image))).slice(0, 16);
}

/** SQL and value that put a cell back exactly as it was. */
export function restoreCell(image: CellImage): { readonly sql: string; readonly value: Cell } {
  if (image === null) return { sql: '?', value: null };
  const [kind, value] = image;
  if (kind === 'i') return { sql: 'CAST(? AS INTEGER)', value };
  if (kind === 'r') return { sql: '?', value };
  if (kind === 'b') return { sql: '?', value: Buffer.from(value, 'base64') };
  const bytes = kind === 't' ? Buffer.from(value, 'utf8') : Buffer.from(value, 'base64');
  return { sql: 'CAST(? AS TEXT)', value: bytes };
}

export const sameImage = (a: RowImage, b: RowImage, columns: readonly string[]): boolean =>
  columns.every((column) => JSON.stringify(a[column] ?? null) === JSON.stringify(b[column] ?? null));

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

function toImage(row: Row, columns: readonly string[]): RowImage {
  return Object.fromEntries(
    columns.map((column, at) => [column, toCell(textOf(row[`t${at}`]), row[`v${at}`] ?? null)]),
  );
}

function toCell(type: string, value: Cell): CellImage {
  if (value === null || type === 'null') return null;
  if (type === 'integer') return ['i', textOf(value)];
  if (type === 'real') return ['r', Number(value)];
  const bytes = typeof value === 'object' ? bytesOf(value) : Buffer.from(String(value));
  if (type === 'blob') return ['b', bytes.toString('base64')];
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? ['t', text] : ['x', bytes.toString('base64')];
}
