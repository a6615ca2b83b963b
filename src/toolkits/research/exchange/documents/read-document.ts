import { extname } from 'node:path';
import { ToolFault } from '../../../../contract/faults.ts';
import type { ExchangeReport, Working } from '../report.ts';
import type { Imported } from './document.ts';
import { readDocx } from './docx.ts';
import { readPdf } from './pdf.ts';
import { readPlainText } from './plain-text.ts';
import { readSubtitles } from './subtitles.ts';
import { readSurvey, type SurveyOptions } from './survey.ts';

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
      throw new ToolFault(
        'validation_error',
        `${name} cannot be imported; these can: ${DOCUMENT_TYPES.join(' ')} and REFI-QDA .qdpx and .qdc.`,
      );
  }
}

function one(name: string, text: string, file: Uint8Array): Imported {
  if (!text.trim()) throw new ToolFault('validation_error', `${name} has no text in it.`);
  return { documents: [{ name, text, file }] };
}
