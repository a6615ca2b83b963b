import { ToolFault } from '../../../../contract/faults.ts';
import type { ExchangeReport, Working } from '../report.ts';
import { tidyText } from './plain-text.ts';
import { readInWorker, UnreadableDocument } from './read-in-worker.ts';

/** The text of a PDF, page after page. Scanned pages have none, which is said rather than stored. */
export async function readPdf(
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
    throw new ToolFault('validation_error', `${name} could not be read: ${why}.`, { cause: error });
  }
  const texts = pages.map((page) => tidyText(page).trim());
  const empty = texts.filter((text) => !text).length;
  if (empty === texts.length) {
    throw new ToolFault(
      'validation_error',
      `${name} has no text in it (scanned pages?); run text recognition on it first.`,
    );
  }
  report.lost('Found no text on a page of a PDF (a scan or a picture)', name, empty);
  return texts.filter(Boolean).join('\n\n');
}
