import { lookup, put } from '../../../lib/lookup.ts';
import {
  type CellImage,
  ImageReader,
  imageHash,
  keyOf,
  quoteName,
  type RowImage,
  restoreCell,
} from './rows.ts';
import type { Cell, ProjectSchema, SqliteFile } from './schema.ts';

/** What undo needs: enough of each changed row to put it back, or to see that someone else changed it since. */
export type RowChange =
  | { readonly kind: 'insert'; readonly table: string; readonly key: string | number; readonly hash: string }
  | {
      readonly kind: 'update';
      readonly table: string;
      readonly key: string | number;
      readonly before: RowImage;
      readonly after: RowImage;
    }
  | { readonly kind: 'delete'; readonly table: string; readonly key: string | number; readonly row: RowImage }
  /** A file added to the project folder, by its path inside it. */
  | { readonly kind: 'file'; readonly path: string; readonly hash: string };

export type Values = { readonly [column: string]: Cell };

/** Makes single-row changes and writes each down. Columns the project does not have are left out. */
export class Recorder {
  readonly changes: RowChange[] = [];
  readonly images: ImageReader;
  readonly #db: SqliteFile;
  readonly #schema: ProjectSchema;
  readonly #inserts = new Map<string, { readonly sql: string; readonly columns: readonly string[] }>();

  constructor(db: SqliteFile, schema: ProjectSchema) {
    this.#db = db;
    this.#schema = schema;
    this.images = new ImageReader(db, schema);
  }

  /** Returns the row's id. */
  insert(table: string, values: Values): number {
    const { sql, columns } = this.#insertInto(table, Object.keys(values));
    const { lastInsertRowid } = this.#db.run(sql, ...columns.map((column) => lookup(values, column) ?? null));
    const natural = lookup(values, keyOf(table));
    const key = typeof natural === 'string' ? natural : lastInsertRowid;
    const known = this.#imageOf(table, values, key);
    if (known) this.changes.push({ kind: 'insert', table, key, hash: imageHash(known) });
    else this.noteInsert(table, key);
    return lastInsertRowid;
  }

  #insertInto(
    table: string,
    given: readonly string[],
  ): { readonly sql: string; readonly columns: readonly string[] } {
    const key = `${table} ${given.join()}`;
    const known = this.#inserts.get(key);
    if (known) return known;
    const columns = given.filter((column) => this.#schema.has(table, column));
    const names = columns.map(quoteName).join(', ');
    const sql = `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
    this.#inserts.set(key, { sql, columns });
    return { sql, columns };
  }

  /** The row as it will be read, when that is certain without reading it: this is what ten thousand codings cost. */
  #imageOf(table: string, values: Values, key: string | number): RowImage | undefined {
    const columns = this.#schema.columns(table);
    const image: { [column: string]: CellImage } = {};
    for (const column of columns) {
      const value = column === keyOf(table) ? key : lookup(values, column);
      if (value === null) put(image, column, null);
      else if (typeof value === 'string' && !/[\ud800-\udfff]/.test(value)) put(image, column, ['t', value]);
      else if (Number.isSafeInteger(value)) put(image, column, ['i', String(value)]);
      else return undefined;
    }
    return image;
  }

  update(table: string, key: string | number, values: Values): void {
    const before = this.images.read(table, key);
    if (!before) return;
    const columns = Object.keys(values).filter((column) => this.#schema.has(table, column));
    if (columns.length === 0) return;
    const sets = columns.map((column) => `${quoteName(column)} = ?`).join(', ');
    this.#db.run(
      `UPDATE ${table} SET ${sets} WHERE ${keyOf(table)} = ?`,
      ...columns.map((column) => lookup(values, column) ?? null),
      key,
    );
    this.#noteUpdate(table, key, before, columns);
  }

  remove(table: string, key: string | number): void {
    const row = this.images.read(table, key);
    if (!row) return;
    this.#db.run(`DELETE FROM ${table} WHERE ${keyOf(table)} = ?`, key);
    this.changes.push({ kind: 'delete', table, key, row });
  }

  /** Puts a removed row back under its old id. */
  restore(table: string, key: string | number, row: RowImage): void {
    const columns = Object.keys(row).filter((column) => this.#schema.has(table, column));
    const cells = columns.map((column) => restoreCell(lookup(row, column) ?? null));
    this.#db.run(
      `INSERT INTO ${table} (${columns.map(quoteName).join(', ')}) VALUES (${cells.map((cell) => cell.sql).join(', ')})`,
      ...cells.map((cell) => cell.value),
    );
    this.noteInsert(table, key);
  }

  /** Puts single columns back as they were. */
  restoreColumns(table: string, key: string | number, cells: RowImage): void {
    const before = this.images.read(table, key);
    if (!before) return;
    const columns = Object.keys(cells);
    const parts = columns.map((column) => restoreCell(lookup(cells, column) ?? null));
    const sets = columns.map((column, at) => `${quoteName(column)} = ${parts[at]?.sql}`).join(', ');
    this.#db.run(
      `UPDATE ${table} SET ${sets} WHERE ${keyOf(table)} = ?`,
      ...parts.map((part) => part.value),
      key,
    );
    this.#noteUpdate(table, key, before, columns);
  }

  noteFile(path: string, hash: string): void {
    this.changes.push({ kind: 'file', path, hash });
  }

  noteInsert(table: string, key: string | number): void {
    const image = this.images.read(table, key);
    if (image) this.changes.push({ kind: 'insert', table, key, hash: imageHash(image) });
  }

  #noteUpdate(table: string, key: string | number, before: RowImage, columns: readonly string[]): void {
    const after = this.images.read(table, key);
    if (!after) return;
    const pick = (image: RowImage) =>
      Object.fromEntries(columns.map((column) => [column, lookup(image, column) ?? null]));
    this.changes.push({ kind: 'update', table, key, before: pick(before), after: pick(after) });
  }
}
