import { publicMemo } from '../../lib/memo.ts';
import type { ExchangeReport } from '../report.ts';
import { isWritable } from '../xml-writer.ts';

/** What of a memo leaves the project; whatever does not is reported. */
export const memoWriter =
  (report: ExchangeReport, privateToo: boolean) =>
  (whole: string, of: string): string => {
    const shown = privateToo ? whole : publicMemo(whole);
    if (shown !== whole) report.lost('Left out the private part of a memo', of);
    if (!isWritable(shown)) report.lost('Replaced characters that XML cannot hold', of);
    return shown;
  };
