import { numberOf, optionalNumber, type Row, textOf } from './sqlite.ts';
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

/** QualCoder tells the kinds of source apart by how `mediapath` begins. */
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
