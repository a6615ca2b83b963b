import type { Cell, Table } from './table.ts';

/** CSV as spreadsheets read it: comma, CRLF, a byte order mark so that accents survive in Excel. */
export function toCsv({ columns, rows }: Table): string {
  return `\ufeff${[columns, ...rows].map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
}

function field(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  // A text that begins like a formula would be run as one by a spreadsheet; the apostrophe marks it as text.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
