import { createHash } from 'node:crypto';
import { publicMemo } from '../../project/memo.ts';
import { qualcoderDate } from '../../project/source-text.ts';
import { readInWorker, UnreadableDocument } from '../documents/read-in-worker.ts';
import type { ExchangeReport } from '../report.ts';
import { isWritable } from '../xml.ts';

/** What we write so that our own exports come back whole; other programs see an ordinary note and a link. */
export const ORIGIN = 'Countersign';
/** A coding that refers to the note of this name is marked as important. */
export const IMPORTANT_NOTE = 'Important';
/** A link of this name leads from a recording to the text that is its transcript. */
export const TRANSCRIPT_LINK = 'Transcript';

/** QualCoder's local time as the UTC time that REFI-QDA wants, or undefined for what is no date. */
export function toRefiDate(date: string): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2})(?::(\d{2}))?/.exec(date);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const at = new Date(year ?? 0, (month ?? 1) - 1, day, hour, minute, second ?? 0);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().replace('.000Z', 'Z');
}

/** An XML dateTime as QualCoder's local time, or undefined for what is none. A time without a zone is taken as local. */
export function fromRefiDate(date: string): string | undefined {
  const at = new Date(date.trim());
  const year = at.getFullYear();
  return Number.isNaN(year) || year < 1900 || year > 9999 ? undefined : qualcoderDate(at);
}

/** The same thing of the same project gets the same guid in every export, so that other programs can recognise it. */
export function guidMaker(project: string): (kind: string, id: number | string) => string {
  return (kind, id) => {
    const hash = createHash('sha256').update(`countersign\n${project}\n${kind}\n${id}`).digest();
    hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
    hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
    const hex = hash.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  };
}

/** What of a memo leaves the project; the rest is reported. */
export const memoWriter =
  (report: ExchangeReport, privateToo: boolean) =>
  (whole: string, of: string): string => {
    const shown = privateToo ? whole : publicMemo(whole);
    if (shown !== whole) report.lost('Omitted the private part of a memo', of);
    if (!isWritable(shown)) report.lost('Replaced characters that XML does not allow', of);
    return shown;
  };

/** Heights of the pages of a PDF in points; undefined when it cannot be read. */
export async function pageHeights(
  bytes: Uint8Array,
  name: string,
  signal?: AbortSignal,
): Promise<readonly number[] | undefined> {
  try {
    return await readInWorker('heights', bytes, name, signal);
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined;
    throw error;
  }
}
