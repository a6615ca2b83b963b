import { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { Recorder, RowChange } from './recorder.ts';
import { type ImageReader, imageHash, keyOf, sameImage } from './rows.ts';
import { numberOf, type ProjectSchema, type SqliteFile } from './schema.ts';

export interface UndoWork {
  readonly db: SqliteFile;
  readonly schema: ProjectSchema;
  readonly recorder: Recorder;
}

/** Which rows hang on a row: [table, column, and what else must hold]. */
const DEPENDENTS: { readonly [table: string]: readonly (readonly [string, string, string?])[] } = {
  code_name: [
    ['code_text', 'cid'],
    ['code_image', 'cid'],
    ['code_av', 'cid'],
    ['code_name', 'supercid'],
  ],
  code_cat: [
    ['code_name', 'catid'],
    ['code_cat', 'supercatid'],
  ],
  source: [
    ['code_text', 'fid'],
    ['code_image', 'id'],
    ['code_av', 'id'],
    ['annotation', 'fid'],
    ['case_text', 'fid'],
    ['attribute', 'id', "attr_type = 'file'"],
  ],
  cases: [
    ['case_text', 'caseid'],
    ['attribute', 'id', "attr_type = 'case'"],
  ],
  journal: [['attribute', 'id', "attr_type = 'journal'"]],
  attribute_type: [['attribute', 'name']],
};

const NEEDS: { readonly [table: string]: readonly (readonly [column: string, table: string])[] } = {
  code_text: [
    ['cid', 'code_name'],
    ['fid', 'source'],
  ],
  code_image: [
    ['cid', 'code_name'],
    ['id', 'source'],
  ],
  code_av: [
    ['cid', 'code_name'],
    ['id', 'source'],
  ],
};

/** True when the project shows all of a change, false when it shows none of it, undefined when someone continued from it. */
export function happened(images: ImageReader, rows: readonly RowChange[]): boolean | undefined {
  // A later change of the same row hides an earlier one, so only the last per row can be seen.
  const last = new Map(
    rows.filter((row) => row.kind !== 'file').map((row) => [`${row.table} ${row.key}`, row]),
  );
  const signs = [...last.values()].map((row) => {
    const image = images.read(row.table, row.key);
    if (row.kind === 'insert') return image ? imageHash(image) === row.hash : false;
    if (row.kind === 'delete') return image === undefined;
    return image !== undefined && sameImage(image, row.after, Object.keys(row.after));
  });
  if (signs.every(Boolean)) return true;
  return signs.some(Boolean) ? undefined : false;
}

/** Puts every row back, last change first. Refuses, changing nothing, when that would undo someone else's work. */
export function revert(work: UndoWork, rows: readonly RowChange[]): void {
  const inverse = [...rows].reverse();
  for (const row of inverse) revertRow(work, row);
  for (const row of inverse) {
    if (row.kind === 'insert') checkDependents(work, row.table, row.key);
    if (row.kind === 'delete') checkNeeds(work, row.table, row.key);
  }
}

function revertRow(work: UndoWork, row: RowChange): void {
  const { recorder } = work;
  // A file added to the folder stays: without its row it does nothing, and it may be the only copy.
  if (row.kind === 'file') return;
  const now = recorder.images.read(row.table, row.key);
  if (row.kind === 'delete') {
    if (now) throw changedSince(row, 'its id is used again');
    try {
      recorder.restore(row.table, row.key, row.row);
    } catch (error) {
      throw changedSince(row, 'its name or position is taken', error);
    }
    return;
  }
  if (!now) throw changedSince(row, 'it was deleted');
  if (row.kind === 'insert') {
    if (imageHash(now) !== row.hash) throw changedSince(row, 'it was edited');
    recorder.remove(row.table, row.key);
    return;
  }
  if (!sameImage(now, row.after, Object.keys(row.after))) throw changedSince(row, 'it was edited');
  try {
    recorder.restoreColumns(row.table, row.key, row.before);
  } catch (error) {
    throw changedSince(row, 'its former name or position is taken', error);
  }
}

function checkDependents({ db, schema, recorder }: UndoWork, table: string, key: string | number): void {
  // Undone and still there: a later step of the same undo put it back.
  if (recorder.images.read(table, key)) return;
  for (const [child, column, more] of lookup(DEPENDENTS, table) ?? []) {
    if (!schema.has(child, column)) continue;
    const where = `${column} = ?${more ? ` AND ${more}` : ''}`;
    if (child === 'attribute') {
      // Empty values are placeholders that QualCoder adds on its own.
      for (const row of db.all(
        `SELECT attrid FROM attribute WHERE ${where} AND coalesce(value, '') = ''`,
        key,
      )) {
        recorder.remove('attribute', numberOf(row.attrid));
      }
    }
    const count = numberOf(db.get(`SELECT count(*) AS n FROM ${child} WHERE ${where}`, key)?.n);
    if (count > 0) {
      throw new ToolError(
        'conflict',
        `This cannot be undone now: ${count} row(s) of ${child} were added since and belong to ${table} ${key}. Undo or remove those first.`,
        { detail: { table, key, dependents: count } },
      );
    }
  }
}

function checkNeeds({ db }: UndoWork, table: string, key: string | number): void {
  for (const [column, parent] of lookup(NEEDS, table) ?? []) {
    const missing = db.get(
      `SELECT 1 FROM ${table} WHERE ${keyOf(table)} = ? AND ${column} NOT IN (SELECT ${keyOf(parent)} FROM ${parent})`,
      key,
    );
    if (missing) {
      throw new ToolError(
        'conflict',
        `This cannot be undone now: what ${table} ${key} belonged to in ${parent} no longer exists.`,
      );
    }
  }
}

const changedSince = (
  row: { readonly table: string; readonly key: string | number },
  why: string,
  cause?: unknown,
) =>
  new ToolError(
    'conflict',
    `This cannot be undone: ${row.table} ${row.key} is no longer as the change left it (${why}). Nothing was changed.`,
    {
      detail: { table: row.table, key: row.key },
      cause,
    },
  );
