import { ToolFault } from '../../../../contract/faults.ts';
import { Archive } from '../archive.ts';
import type { ExchangeReport, Working } from '../report.ts';
import { tidyText } from './plain-text.ts';
import { readInWorker, UnreadableDocument } from './read-in-worker.ts';

/** A Word document unpacks to far more than it weighs; beyond this it is an attack. */
const LIMITS = { entries: 5000, total: 500_000_000, ratio: 200 };

/** The text of a Word document, a line per paragraph. */
export async function readDocx(
  bytes: Uint8Array,
  name: string,
  report: ExchangeReport,
  working: Working = {},
): Promise<string> {
  // The library unpacks whatever it is given, so the archive is looked through first.
  const archive = await Archive.open(
    bytes,
    LIMITS,
    `${name} is not a Word document (.docx), or it is damaged.`,
  );
  const isWord = archive.find('word/document.xml') !== undefined;
  const pictures = archive.names().filter((entry) => entry.startsWith('word/media/')).length;
  archive.close();
  if (!isWord) throw new ToolFault('validation_error', `${name} is not a Word document (.docx).`);
  report.lost(
    'Left pictures of a Word document out of the text; the original is kept in the project',
    name,
    pictures,
  );
  let raw: string;
  try {
    raw = await readInWorker('docx', bytes, name, working.signal);
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    throw new ToolFault(
      'validation_error',
      `The text of ${name} could not be read; open it in a word processor and save it again.`,
      { cause: error },
    );
  }
  // The library puts an empty line after every paragraph; transcripts are read line by line.
  return tidyText(raw).replaceAll('\n\n', '\n').trimEnd();
}
