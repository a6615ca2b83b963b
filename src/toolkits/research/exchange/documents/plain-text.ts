import { decodeText } from '../decode-text.ts';
import type { ExchangeReport } from '../report.ts';

/** Text as QualCoder stores it: LF line ends, no byte order mark, no zero characters; every change is reported. */
export function readPlainText(bytes: Uint8Array, name: string, report: ExchangeReport): string {
  const { text, encoding, bom } = decodeText(bytes);
  if (encoding !== 'utf-8') report.repaired(`Read as ${encoding.toUpperCase()} and stored as UTF-8`, name);
  if (bom) report.repaired('Removed a byte order mark', name);
  if (text.includes('\r')) report.repaired('Changed line ends to LF', name);
  if (text.includes('\0')) report.repaired('Removed zero characters', name);
  return tidyText(text);
}

export const tidyText = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\0', '')
    .toWellFormed();
