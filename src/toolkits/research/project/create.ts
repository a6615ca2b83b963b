import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { cp, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import { homePath } from '../../../lib/file-error.ts';
import { lookup } from '../../../lib/lookup.ts';
import { SqliteFile } from './schema.ts';
import { backupDay, backupStamp, qualcoderDate } from './source-text.ts';

/** Where QualCoder keeps what `mediapath` names. */
const FOLDERS: { readonly [prefix: string]: string } = {
  docs: 'documents',
  images: 'images',
  audio: 'audio',
  video: 'video',
};

const PROJECT_FOLDERS: readonly string[] = Object.values(FOLDERS);

/** `/docs/interview.txt` → `documents/interview.txt`; refuses anything that could leave the folder. */
export function placeInProject(mediaPath: string): string {
  const match = /^\/(docs|images|audio|video)\/([^/\\]+)$/.exec(mediaPath);
  const [, prefix = '', name = ''] = match ?? [];
  if (!match || name === '.' || name === '..' || name.includes('\0')) {
    throw new ToolError(
      'validation_error',
      `"${mediaPath}" is not a path inside a project, such as /docs/interview.txt.`,
    );
  }
  return join(lookup(FOLDERS, prefix) ?? '', name);
}

/** Writes a file durably. One with the same bytes may be there already, left by a change that was undone. */
export function addFile(
  project: string,
  place: string,
  body: Uint8Array,
): { readonly hash: string; readonly added: boolean } {
  const path = join(project, place);
  const hash = hashBytes(body);
  if (existsSync(path)) {
    if (hashBytes(readFileSync(path)) === hash) return { hash, added: false };
    throw new ToolError('conflict', `The project already has another file ${place}; use another name.`);
  }
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'wx');
  try {
    writeSync(file, body);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { hash, added: true };
}

/** Takes a file away again if it is still what was added. */
export function removeFile(project: string, place: string, hash: string): boolean {
  const path = join(project, place);
  if (!existsSync(path) || hashBytes(readFileSync(path)) !== hash) return false;
  rmSync(path);
  return true;
}

const hashBytes = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');

/** Version 14, what the current stable QualCoder (3.8) creates: table, its columns, its constraint. */
const TABLES: readonly (readonly [name: string, columns: string, unique?: string])[] = [
  [
    'project',
    'databaseversion text, date text, memo text, about text, bookmarkfile integer, bookmarkpos integer, codername text, recently_used_codes text',
  ],
  [
    'source',
    'id integer primary key, name text, fulltext text, mediapath text, memo text, owner text, date text, av_text_id integer, risid integer',
    'name',
  ],
  [
    'code_image',
    'imid integer primary key, id integer, x1 integer, y1 integer, width integer, height integer, cid integer, memo text, date text, owner text, important integer, pdf_page integer',
  ],
  [
    'code_av',
    'avid integer primary key, id integer, pos0 integer, pos1 integer, cid integer, memo text, date text, owner text, important integer',
  ],
  [
    'annotation',
    'anid integer primary key, fid integer, pos0 integer, pos1 integer, memo text, owner text, date text',
    'fid, pos0, pos1, owner',
  ],
  [
    'attribute_type',
    'name text primary key, date text, owner text, memo text, caseOrFile text, valuetype text',
  ],
  [
    'attribute',
    'attrid integer primary key, name text, attr_type text, value text, id integer, date text, owner text',
    'name, attr_type, id',
  ],
  [
    'case_text',
    'id integer primary key, caseid integer, fid integer, pos0 integer, pos1 integer, owner text, date text, memo text',
  ],
  ['cases', 'caseid integer primary key, name text, memo text, owner text, date text', 'name'],
  [
    'code_cat',
    'catid integer primary key, name text, owner text, date text, memo text, supercatid integer',
    'name',
  ],
  [
    'code_text',
    'ctid integer primary key, cid integer, fid integer, seltext text, pos0 integer, pos1 integer, owner text, date text, memo text, avid integer, important integer',
    'cid, fid, pos0, pos1, owner',
  ],
  [
    'code_name',
    'cid integer primary key, name text, memo text, catid integer, owner text, date text, color text',
    'name',
  ],
  ['journal', 'jid integer primary key, name text, jentry text, date text, owner text', 'name'],
  ['stored_sql', 'title text, description text, grouper text, ssql text', 'title'],
  [
    'graph',
    'grid integer primary key, name text, description text, date text, scene_width integer, scene_height integer',
    'name',
  ],
  [
    'gr_cdct_text_item',
    'gtextid integer primary key, grid integer, x integer, y integer, supercatid integer, catid integer, cid integer, font_size integer, bold integer, isvisible integer, displaytext text',
  ],
  [
    'gr_case_text_item',
    'gcaseid integer primary key, grid integer, x integer, y integer, caseid integer, font_size integer, bold integer, color text, displaytext text',
  ],
  [
    'gr_file_text_item',
    'gfileid integer primary key, grid integer, x integer, y integer, fid integer, font_size integer, bold integer, color text, displaytext text',
  ],
  [
    'gr_free_text_item',
    'gfreeid integer primary key, grid integer, freetextid integer, x integer, y integer, free_text text, font_size integer, bold integer, color text, tooltip text, ctid integer, memo_ctid integer, memo_imid integer, memo_avid integer',
  ],
  [
    'gr_cdct_line_item',
    'glineid integer primary key, grid integer, fromcatid integer, fromcid integer, tocatid integer, tocid integer, color text, linewidth real, linetype text, isvisible integer',
  ],
  [
    'gr_free_line_item',
    'gflineid integer primary key, grid integer, fromfreetextid integer, fromcatid integer, fromcid integer, fromcaseid integer, fromfileid integer, fromimid integer, fromavid integer, tofreetextid integer, tocatid integer, tocid integer, tocaseid integer, tofileid integer, toimid integer, toavid integer, color text, linewidth real, linetype text',
  ],
  [
    'gr_pix_item',
    'grpixid integer primary key, grid integer, imid integer, x integer, y integer, px integer, py integer, w integer, h integer, filepath text, tooltip text, pdf_page integer',
  ],
  [
    'gr_av_item',
    'gr_avid integer primary key, grid integer, avid integer, x integer, y integer, pos0 integer, pos1 integer, filepath text, tooltip text, color text',
  ],
  ['ris', 'risid integer, tag text, longtag text, value text'],
  ['manage_files_display', 'mfid integer primary key, name text, tblrows text, tblcolumns text, owner text'],
  ['files_filter', 'filterid integer primary key, name text, filter text, owner text'],
  [
    'coder_names',
    'name text unique not null, visibility integer not null default 1 check (visibility in (0, 1))',
  ],
];

const HIDEABLE = ['code_text', 'code_image', 'code_av', 'annotation'];

/** Makes an empty project that QualCoder opens; returns the path of its folder. */
export function createProject(
  path: string,
  options: { readonly now: Date; readonly coder: string; readonly memo?: string },
): string {
  const folder = homePath(path.endsWith('.qda') ? path : `${path}.qda`);
  if (existsSync(folder))
    throw new ToolError('conflict', `${folder} already exists. Choose another name or open it.`);
  // Built under another name and renamed last, so that a project never exists half-made.
  const draft = join(dirname(folder), `.${basename(folder)}.${process.pid}.partial`);
  try {
    for (const name of PROJECT_FOLDERS) mkdirSync(join(draft, name), { recursive: true });
    fill(join(draft, 'data.qda'), options);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw new ToolError('not_allowed', `The project ${folder} could not be created.`, { cause: error });
  }
  return folder;
}

function fill(
  file: string,
  options: { readonly now: Date; readonly coder: string; readonly memo?: string },
): void {
  const db = new SqliteFile(file, { create: true });
  try {
    db.exec('BEGIN');
    for (const [name, columns, unique] of TABLES) {
      db.exec(`CREATE TABLE ${name} (${columns}${unique ? `, unique(${unique})` : ''})`);
    }
    for (const table of HIDEABLE) {
      db.exec(
        `CREATE VIEW ${table}_visible AS SELECT item.* FROM ${table} item WHERE NOT EXISTS
         (SELECT 1 FROM coder_names coder WHERE coder.name = item.owner AND coder.visibility = 0)`,
      );
    }
    db.run(
      'INSERT INTO project VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      'v14',
      qualcoderDate(options.now),
      options.memo ?? '',
      'QualCoder 3.8 (created by Countersign)',
      0,
      0,
      options.coder,
      '',
    );
    if (options.coder) db.run('INSERT INTO coder_names (name) VALUES (?)', options.coder);
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}

const MARK = 'made-by-countersign.json';
/** Large and never changed by us: linked instead of copied where the disk can. */
const LINKED = ['images', 'audio', 'video'];

/**
 * A copy next to the project, named as QualCoder names its backups, once a day. The database is copied by SQLite
 * itself: a plain copy could catch it in mid-change, and closing its file would drop this process's locks.
 */
export async function backupIfDue(project: string, now: Date, keep: number): Promise<string | undefined> {
  const folder = dirname(project);
  const stem = basename(project).replace(/\.qda$/i, '');
  const target = join(folder, `${stem}_BKUP_${backupStamp(now)}.qda`);
  const partial = `${target}.partial`;
  try {
    const today = `${stem}_BKUP_${backupDay(now)}_`;
    const others = await readdir(folder);
    if (others.some((name) => name.startsWith(today) && name.endsWith('.qda'))) return undefined;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await copyInto(project, partial);
    await writeFile(join(partial, MARK), JSON.stringify({ project, at: now.toISOString() }));
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw new ToolError(
      'not_allowed',
      `Could not create today's backup of the project in ${folder}, so nothing was changed. Free some space there, or grant this user write access.`,
      { cause: error },
    );
  }
  await prune(folder, stem, keep);
  return target;
}

async function copyInto(project: string, target: string): Promise<void> {
  const db = new SqliteFile(join(project, 'data.qda'));
  try {
    db.run('VACUUM INTO ?', join(target, 'data.qda'));
  } finally {
    db.close();
  }
  for (const entry of await readdir(project, { withFileTypes: true })) {
    const from = join(project, entry.name);
    const to = join(target, entry.name);
    if (!entry.isDirectory() || entry.name === 'ai_data') continue;
    if (LINKED.includes(entry.name)) await linkFolder(from, to);
    else await cp(from, to, { recursive: true });
  }
}

async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A disk without hard links keeps its recordings only once; they are not ours to change.
    await link(join(from, entry.name), join(to, entry.name)).catch(() => undefined);
  }
}

/** Removes the oldest of our own backups, never one that QualCoder or a person made. */
async function prune(folder: string, stem: string, keep: number): Promise<void> {
  const ours: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!name.startsWith(`${stem}_BKUP_`) || !name.endsWith('.qda')) continue;
    const marked = await stat(join(folder, name, MARK)).catch(() => undefined);
    if (marked) ours.push(name);
  }
  for (const name of ours.slice(0, Math.max(ours.length - keep, 0))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
