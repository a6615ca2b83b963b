import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolError } from '../../../contract/errors.ts';
import { lookup } from '../../../lib/lookup.ts';
import { numberOf, type Row, SqliteFile, textOf } from '../project/schema.ts';
import { indexText } from '../project/source-text.ts';
import type { ChangeBy, ProjectStore, ProjectWriter } from '../project/types.ts';
import { type ExchangeNote, ExchangeReport, freeName, type Working } from './report.ts';
import { textOfHtml } from './taguette/text-of-html.ts';

export interface TaguetteImported {
  readonly sources: number;
  readonly codes: number;
  readonly codings: number;
  readonly notes: readonly ExchangeNote[];
}

interface Highlight {
  readonly documentId: number;
  readonly start: number;
  readonly end: number;
  readonly tagIds: readonly number[];
}

interface TaguetteProject {
  readonly documents: readonly { id: number; name: string; memo: string; html: string }[];
  readonly tags: readonly { id: number; name: string; memo: string }[];
  readonly highlights: readonly Highlight[];
}

const TABLES = ['documents', 'tags', 'highlights', 'highlight_tags'];

/** Adds the documents, tags and highlights of a Taguette file (.sqlite3) to an open project, in a single transaction. */
export async function importTaguette(
  store: ProjectStore,
  by: ChangeBy,
  path: string,
  options: Working = {},
): Promise<TaguetteImported> {
  const report = new ExchangeReport();
  options.progress?.('Reading the Taguette file', 0, 1);
  const read = readFile(path);
  return store.write(by, async (project) => {
    const codes = addCodes(project, read.tags, report);
    let codings = 0;
    for (const [done, document] of read.documents.entries()) {
      options.signal?.throwIfAborted();
      options.progress?.(`Adding ${document.name}`, done, read.documents.length);
      await nextTurn();
      const highlights = read.highlights.filter(({ documentId }) => documentId === document.id);
      codings += addDocument(project, document, highlights, codes, report);
    }
    return { sources: read.documents.length, codes: codes.size, codings, notes: report.notes() };
  });
}

function readFile(path: string): TaguetteProject {
  let db: SqliteFile | undefined;
  try {
    db = new SqliteFile(path, { queryOnly: true });
    const tables = new Set(
      db.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name),
    );
    const missing = TABLES.filter((table) => !tables.has(table));
    if (missing.length > 0) throw notTaguette(path, `it has no table ${missing.join(', ')}`);
    return readTables(db);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw notTaguette(path, error instanceof Error ? error.message : String(error));
  } finally {
    db?.close();
  }
}

const notTaguette = (path: string, why: string): ToolError =>
  new ToolError(
    'validation_error',
    `${path} is not a Taguette project (${why}). In Taguette, export the project as SQLite3 and import that file.`,
  );

function readTables(db: SqliteFile): TaguetteProject {
  const tagIds = new Map<number, number[]>();
  for (const row of db.all('SELECT highlight_id, tag_id FROM highlight_tags ORDER BY tag_id')) {
    const id = numberOf(row.highlight_id);
    tagIds.set(id, [...(tagIds.get(id) ?? []), numberOf(row.tag_id)]);
  }
  const named = (row: Row, name: string) => ({
    id: numberOf(row.id),
    name: textOf(lookup(row, name)).trim(),
    memo: textOf(row.description).trim(),
  });
  return {
    documents: db
      .all('SELECT id, name, description, CAST(contents AS BLOB) AS contents FROM documents ORDER BY id')
      .map((row) => ({ ...named(row, 'name'), html: textOf(row.contents) })),
    tags: db.all('SELECT id, path, description FROM tags ORDER BY id').map((row) => named(row, 'path')),
    highlights: db
      .all(
        'SELECT id, document_id, start_offset, end_offset FROM highlights ORDER BY document_id, start_offset, id',
      )
      .map((row) => ({
        documentId: numberOf(row.document_id),
        start: numberOf(row.start_offset),
        end: numberOf(row.end_offset),
        tagIds: tagIds.get(numberOf(row.id)) ?? [],
      })),
  };
}

/** Tags have no colours; codes that all look alike cannot be told apart in a text. Neighbouring numbers get distant hues. */
function colourOf(at: number): string {
  const hue = (at * 137.5) % 360;
  const channel = (shift: number): string => {
    const k = (shift + hue / 30) % 12;
    const value = 0.55 - 0.3 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

function addCodes(
  project: ProjectWriter,
  tags: TaguetteProject['tags'],
  report: ExchangeReport,
): Map<number, number> {
  const known = new Map(project.codes().map(({ name, id }) => [name, id]));
  const added = new Map<number, number>();
  for (const { id, name, memo } of tags) {
    const other = known.get(name);
    if (other !== undefined) report.repaired('Joined a tag with the code of the same name', name);
    const code = other ?? project.addCode({ name: name || `Tag ${id}`, memo, color: colourOf(added.size) });
    known.set(name, code);
    added.set(id, code);
  }
  return added;
}

function addDocument(
  project: ProjectWriter,
  { name: wanted, memo, html }: TaguetteProject['documents'][number],
  highlights: readonly Highlight[],
  codes: ReadonlyMap<number, number>,
  report: ExchangeReport,
): number {
  const taken = new Set(project.sources().map((source) => source.name));
  const name = freeName(wanted || 'document', (other) => taken.has(other));
  if (name !== wanted)
    report.repaired('Gave a source another name, as the project has one of this name', wanted);
  const { text, fromBytes } = textOfHtml(html);
  const sourceId = project.addSource({ name, text, memo });
  const positions = indexText(text);
  let added = 0;
  for (const { start, end, tagIds } of highlights) {
    const range = {
      start: positions.fromUnits(fromBytes(start)),
      end: positions.fromUnits(fromBytes(end, 'end')),
    };
    if (range.end <= range.start) {
      report.lost('Left out a highlight that marks no text', name);
      continue;
    }
    if (tagIds.length === 0) report.lost('Left out a highlight without a tag', name);
    for (const tagId of tagIds) {
      const codeId = codes.get(tagId);
      if (codeId === undefined) report.lost('Left out a tag that does not exist', name);
      else if (project.addCoding({ codeId, sourceId, ...range }).created) added += 1;
    }
  }
  return added;
}
