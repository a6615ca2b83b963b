import { hash } from 'node:crypto';
import { lookup } from '../../../lib/lookup.ts';
import {
  bytesOf,
  type Cell,
  numberOf,
  optionalNumber,
  type ProjectSchema,
  type Row,
  type SqliteFile,
  textOf,
} from './schema.ts';
import type {
  Annotation,
  Attribute,
  AttributeScope,
  AttributeType,
  Case,
  Category,
  Code,
  ImageCoding,
  Journal,
  MediaCoding,
  Source,
  SourceType,
} from './types.ts';

const TEXTUAL: ReadonlySet<SourceType> = new Set(['text', 'pdf']);

const stamp = (row: Row) => ({ owner: textOf(row.owner), date: textOf(row.date) });

/** QualCoder distinguishes the kinds of source by how `mediapath` begins. */
function sourceType(mediaPath: string | null, name: string): SourceType {
  const path = (mediaPath ?? '').toLowerCase();
  if (/^\/?images[:/]/.test(path)) return 'image';
  if (/^\/?audio[:/]/.test(path)) return 'audio';
  if (/^\/?video[:/]/.test(path)) return 'video';
  if (path === '' || /^\/?doc(ument)?s[:/]/.test(path)) return /\.pdf$/i.test(path || name) ? 'pdf' : 'text';
  return 'unknown';
}

export function toSource(row: Row): Source {
  const mediaPath = row.mediapath === null || row.mediapath === '' ? null : textOf(row.mediapath);
  return {
    id: numberOf(row.id),
    name: textOf(row.name),
    type: sourceType(mediaPath, textOf(row.name)),
    mediaPath,
    memo: textOf(row.memo),
    hasText: numberOf(row.has_text) === 1 || TEXTUAL.has(sourceType(mediaPath, textOf(row.name))),
    bytes: numberOf(row.bytes),
    transcriptId: optionalNumber(row.av_text_id),
    risId: optionalNumber(row.risid),
    ...stamp(row),
  };
}

export const toCode = (row: Row): Code => ({
  id: numberOf(row.cid),
  name: textOf(row.name),
  memo: textOf(row.memo),
  categoryId: optionalNumber(row.catid),
  parentId: optionalNumber(row.supercid),
  color: textOf(row.color),
  ...stamp(row),
});

export const toCategory = (row: Row): Category => ({
  id: numberOf(row.catid),
  name: textOf(row.name),
  memo: textOf(row.memo),
  parentId: optionalNumber(row.supercatid),
  ...stamp(row),
});

export const toImageCoding = (row: Row): ImageCoding => ({
  id: numberOf(row.imid),
  sourceId: numberOf(row.id),
  codeId: numberOf(row.cid),
  x: numberOf(row.x1),
  y: numberOf(row.y1),
  width: numberOf(row.width),
  height: numberOf(row.height),
  pdfPage: optionalNumber(row.pdf_page),
  memo: textOf(row.memo),
  important: numberOf(row.important) > 0,
  ...stamp(row),
});

export const toMediaCoding = (row: Row): MediaCoding => ({
  id: numberOf(row.avid),
  sourceId: numberOf(row.id),
  codeId: numberOf(row.cid),
  startMs: numberOf(row.pos0),
  endMs: numberOf(row.pos1),
  memo: textOf(row.memo),
  important: numberOf(row.important) > 0,
  ...stamp(row),
});

export const toAnnotation = (row: Row, range: { start: number; end: number }): Annotation => ({
  id: numberOf(row.anid),
  sourceId: numberOf(row.fid),
  ...range,
  memo: textOf(row.memo),
  ...stamp(row),
});

export const toCase = (row: Row): Case => ({
  id: numberOf(row.caseid),
  name: textOf(row.name),
  memo: textOf(row.memo),
  ...stamp(row),
});

const scopeOf = (text: string): AttributeScope => (text === 'case' || text === 'journal' ? text : 'file');

export const toAttributeType = (row: Row): AttributeType => ({
  name: textOf(row.name),
  scope: scopeOf(textOf(row.caseOrFile)),
  valueType: textOf(row.valuetype) === 'numeric' ? 'numeric' : 'character',
  memo: textOf(row.memo),
  ...stamp(row),
});

export const toAttribute = (row: Row): Attribute => ({
  id: numberOf(row.attrid),
  name: textOf(row.name),
  scope: scopeOf(textOf(row.attr_type)),
  value: textOf(row.value),
  targetId: numberOf(row.id),
  ...stamp(row),
});

export const toJournal = (row: Row): Journal => ({
  id: numberOf(row.jid),
  name: textOf(row.name),
  entry: textOf(row.jentry),
  ...stamp(row),
});

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
  const key = lookup(KEYS, table);
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
  columns.every(
    (column) => JSON.stringify(lookup(a, column) ?? null) === JSON.stringify(lookup(b, column) ?? null),
  );

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
