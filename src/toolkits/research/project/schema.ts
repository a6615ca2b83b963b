import { ToolFault } from '../../../contract/faults.ts';
import { numberOf, type SqliteFile, textOf } from './sqlite.ts';

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
    throw new ToolFault(
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
  throw new ToolFault(
    'validation_error',
    `The project ${path} has the format ${declared}, newer than v${NEWEST}, the newest this program knows. It was not opened, so that nothing in it can be damaged; update Countersign.`,
  );
}

const notAProject = (path: string) =>
  new ToolFault(
    'validation_error',
    `${path} is not a QualCoder project: its data.qda does not say that QualCoder made it.`,
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
