import { extname } from 'node:path';
import { ToolError } from '../../../../contract/errors.ts';
import type { Span } from '../../statistics/frequencies.ts';
import { Archive } from '../archive.ts';
import { decodeText, type ExchangeReport, type Working } from '../report.ts';
import { readInWorker, UnreadableDocument } from './read-in-worker.ts';
import { readSubtitles } from './subtitles.ts';
import { readSurvey, type SurveyOptions } from './survey.ts';

/** Text as QualCoder stores it: LF line ends, no byte order mark, no zero characters; every change is reported. */
function readPlainText(bytes: Uint8Array, name: string, report: ExchangeReport): string {
  const { text, encoding, bom } = decodeText(bytes);
  requireText(text, name);
  if (encoding !== 'utf-8') report.repaired(`Read as ${encoding.toUpperCase()} and stored as UTF-8`, name);
  if (bom) report.repaired('Removed a byte order mark', name);
  if (text.includes('\r')) report.repaired('Changed line ends to LF', name);
  if (text.includes('\0')) report.repaired('Removed zero characters', name);
  return tidyText(text);
}

/** What texts contain of it by accident; a random byte is a control character one time in ten. */
const MOST_CONTROLS = 0.02;
const LOOKED_AT = 100_000;
/** Zero characters are removed and reported. */
const HARMLESS = '\t\n\v\f\r\u001b\0';

/** A picture or an archive with the ending of a text would become a source full of signs. */
function requireText(text: string, name: string): void {
  const start = text.slice(0, LOOKED_AT);
  let odd = 0;
  for (const [sign] of start.matchAll(/\p{Cc}|\ufffd/gu)) if (!HARMLESS.includes(sign)) odd += 1;
  if (odd <= Math.max(2, start.length * MOST_CONTROLS)) return;
  throw new ToolError(
    'validation_error',
    `${name} is not a text file: its bytes are no text in UTF-8, UTF-16 or Windows-1252.`,
  );
}

export const tidyText = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\0', '')
    .toWellFormed();

/** A Word document unpacks to far more than it weighs; beyond this it is an attack. */
const LIMITS = { entries: 5000, total: 500_000_000, ratio: 200 };

/** The text of a Word document, a line per paragraph. */
export async function readDocx(
  bytes: Uint8Array,
  name: string,
  report: ExchangeReport,
  working: Working = {},
): Promise<string> {
  // The library unpacks anything it is given, so the archive is looked through first.
  const archive = await Archive.open(
    bytes,
    LIMITS,
    `${name} is not a Word document (.docx), or it is damaged.`,
  );
  const isWord = archive.find('word/document.xml') !== undefined;
  const pictures = archive.names().filter((entry) => entry.startsWith('word/media/')).length;
  archive.close();
  if (!isWord) throw new ToolError('validation_error', `${name} is not a Word document (.docx).`);
  report.lost(
    'Omitted pictures of a Word document from the text; the original is stored in the project',
    name,
    pictures,
  );
  let raw: string;
  try {
    raw = await readInWorker('docx', bytes, name, working.signal);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    throw new ToolError(
      'validation_error',
      `The text of ${name} could not be read; open it in a word processor and save it again.`,
      { cause: error },
    );
  }
  // The library puts an empty line after every paragraph; transcripts are read line by line.
  return tidyText(raw).replaceAll('\n\n', '\n').trimEnd();
}

/** The text of a PDF, page after page. Scanned pages have none, which is said rather than stored. */
async function readPdf(
  bytes: Uint8Array,
  name: string,
  report: ExchangeReport,
  working: Working = {},
): Promise<string> {
  let pages: readonly string[];
  try {
    pages = await readInWorker('pdf', bytes, name, working.signal);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    const why = /password/i.test(String(error))
      ? 'it is protected by a password'
      : 'it is damaged or not a PDF';
    throw new ToolError('validation_error', `${name} could not be read: ${why}.`, { cause: error });
  }
  const texts = pages.map((page) => tidyText(page).trim());
  const empty = texts.filter((text) => !text).length;
  if (empty === texts.length) {
    throw new ToolError(
      'validation_error',
      `${name} has no text in it (scanned pages?); run text recognition on it first.`,
    );
  }
  report.lost('Found no text on a page of a PDF (a scan or a picture)', name, empty);
  return texts.filter(Boolean).join('\n\n');
}

const DOCUMENT_TYPES = ['.txt', '.md', '.docx', '.pdf', '.srt', '.vtt', '.csv'] as const;

/** What a file holds, by its ending. `name` is the bare file name. */
export async function readDocument(
  name: string,
  bytes: Uint8Array,
  report: ExchangeReport,
  options: Working & { readonly survey?: SurveyOptions } = {},
): Promise<Imported> {
  options.signal?.throwIfAborted();
  switch (extname(name).toLowerCase()) {
    case '.txt':
    case '.md':
    case '.markdown':
      return one(name, readPlainText(bytes, name, report), bytes);
    case '.docx':
      return one(name, await readDocx(bytes, name, report, options), bytes);
    case '.pdf':
      return one(name, await readPdf(bytes, name, report, options), bytes);
    case '.srt':
    case '.vtt':
      return one(name, readSubtitles(readPlainText(bytes, name, report), name, report), bytes);
    case '.csv':
    case '.tsv':
      return readSurvey(readPlainText(bytes, name, report), name, report, options.survey);
    default:
      throw new ToolError(
        'validation_error',
        `Cannot import ${name}. Supported: ${DOCUMENT_TYPES.join(' ')} and REFI-QDA .qdpx and .qdc.`,
      );
  }
}

function one(name: string, text: string, file: Uint8Array): Imported {
  if (!text.trim()) throw new ToolError('validation_error', `${name} has no text in it.`);
  return { documents: [{ name, text, file }] };
}

/** A document as it goes into a project: line ends are LF, no byte order mark, positions in code points. */
export interface ImportedDocument {
  readonly name: string;
  readonly text: string;
  /** The original, stored in the project next to the text where QualCoder keeps it. */
  readonly file?: Uint8Array;
  readonly memo?: string;
  /** Which part of the text belongs to whom (the rows of a survey). */
  readonly cases?: readonly (Span & { readonly caseName: string })[];
}

export interface ImportedAttribute {
  readonly name: string;
  readonly valueType: 'character' | 'numeric';
  /** Value by case name. */
  readonly values: ReadonlyMap<string, string>;
}

/** What one file gives. */
export interface Imported {
  readonly documents: readonly ImportedDocument[];
  readonly cases?: readonly string[];
  readonly attributes?: readonly ImportedAttribute[];
}
