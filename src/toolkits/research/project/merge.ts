import { lookup } from '../../../lib/lookup.ts';
import { selfMerge } from './checks.ts';
import { joinMemos } from './memo.ts';
import type { Recorder } from './recorder.ts';
import {
  type Cell,
  numberOf,
  optionalNumber,
  type ProjectSchema,
  type Row,
  type SqliteFile,
  textOf,
} from './schema.ts';
import type { Code } from './types.ts';

interface MergeTable {
  readonly table: string;
  readonly key: string;
  /** Two rows with equal values here are the same coding. */
  readonly same: readonly string[];
}

const TABLES: readonly MergeTable[] = [
  { table: 'code_text', key: 'ctid', same: ['fid', 'pos0', 'pos1', 'owner'] },
  { table: 'code_image', key: 'imid', same: ['id', 'x1', 'y1', 'width', 'height', 'owner', 'pdf_page'] },
  { table: 'code_av', key: 'avid', same: ['id', 'pos0', 'pos1', 'owner'] },
];

export interface MergeWork {
  readonly db: SqliteFile;
  readonly schema: ProjectSchema;
  readonly recorder: Recorder;
}

/** Moves everything from one code to another. Nothing is dropped: equal codings become one with both memos. */
export function mergeCodes(work: MergeWork, source: Code, target: Code): { moved: number; joined: number } {
  if (source.id === target.id) {
    throw selfMerge(source.id);
  }
  let moved = 0;
  let joined = 0;
  for (const kind of TABLES) {
    for (const row of work.db.all(
      `SELECT * FROM ${kind.table} WHERE cid = ? ORDER BY ${kind.key}`,
      source.id,
    )) {
      const twin = findTwin(work, kind, row, target.id);
      if (twin) {
        joinInto(work, kind, twin, row);
        joined += 1;
      } else {
        work.recorder.update(kind.table, numberOf(lookup(row, kind.key)), { cid: target.id });
        moved += 1;
      }
    }
  }
  moveSubCodes(work, source, target);
  const memo = joinMemos(target.memo, source.memo, `Merged from "${source.name}":`);
  if (memo !== target.memo) work.recorder.update('code_name', target.id, { memo });
  work.recorder.remove('code_name', source.id);
  return { moved, joined };
}

function findTwin({ db, schema }: MergeWork, kind: MergeTable, row: Row, targetId: number): Row | undefined {
  const columns = kind.same.filter((column) => schema.has(kind.table, column));
  const where = columns.map((column) => `${column} IS ?`).join(' AND ');
  const values: Cell[] = columns.map((column) => lookup(row, column) ?? null);
  return db.get(`SELECT * FROM ${kind.table} WHERE cid = ? AND ${where}`, targetId, ...values);
}

function joinInto({ recorder }: MergeWork, kind: MergeTable, kept: Row, gone: Row): void {
  const memo = joinMemos(textOf(kept.memo), textOf(gone.memo));
  const important = numberOf(kept.important) > 0 || numberOf(gone.important) > 0;
  const values: { [column: string]: Cell } = {};
  if (memo !== textOf(kept.memo)) values.memo = memo;
  if (important && numberOf(kept.important) === 0) values.important = 1;
  if (Object.keys(values).length > 0) recorder.update(kind.table, numberOf(lookup(kept, kind.key)), values);
  recorder.remove(kind.table, numberOf(lookup(gone, kind.key)));
}

/** Sub-codes follow to the target. A target that stood below the source takes the source's place. */
function moveSubCodes({ db, schema, recorder }: MergeWork, source: Code, target: Code): void {
  if (!schema.has('code_name', 'supercid')) return;
  const ancestors = ancestorsOf(db, target.id);
  for (const row of db.all('SELECT cid FROM code_name WHERE supercid = ?', source.id)) {
    const child = numberOf(row.cid);
    const place =
      child === target.id || ancestors.has(child)
        ? { supercid: source.parentId, catid: source.categoryId }
        : { supercid: target.id, catid: null };
    recorder.update('code_name', child, place);
  }
}

export function ancestorsOf(db: SqliteFile, codeId: number): ReadonlySet<number> {
  const found = new Set<number>();
  let next = optionalNumber(db.get('SELECT supercid FROM code_name WHERE cid = ?', codeId)?.supercid);
  while (next !== null && !found.has(next)) {
    found.add(next);
    next = optionalNumber(db.get('SELECT supercid FROM code_name WHERE cid = ?', next)?.supercid);
  }
  return found;
}
