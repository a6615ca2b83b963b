import { ToolFault } from '../../../../contract/faults.ts';

/** Rows of a CSV file (RFC 4180), separated by comma, semicolon or tab, whichever the file uses. */
export function parseCsv(text: string, name: string): string[][] {
  const separator = guessSeparator(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  const endRow = () => {
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  while (at < text.length) {
    const { field, next } = text[at] === '"' ? quoted(text, at, name) : plain(text, at, separator);
    row.push(field);
    if (text[next] === separator) {
      at = next + 1;
      // A separator at the very end still opens one more, empty field.
      if (at === text.length || text[at] === '\n') row.push('');
    } else at = next;
    if (at >= text.length || text[at] === '\n') {
      endRow();
      at += 1;
    }
  }
  return rows;
}

function quoted(text: string, from: number, name: string): { field: string; next: number } {
  let field = '';
  let at = from + 1;
  for (;;) {
    const close = text.indexOf('"', at);
    if (close === -1) {
      const line = text.slice(0, from).split('\n').length;
      throw new ToolFault(
        'validation_error',
        `${name} has a quotation mark in line ${line} that is never closed.`,
      );
    }
    field += text.slice(at, close);
    if (text[close + 1] !== '"') return { field, next: skipSpaces(text, close + 1) };
    field += '"';
    at = close + 2;
  }
}

function plain(text: string, from: number, separator: string): { field: string; next: number } {
  let at = from;
  while (at < text.length && text[at] !== separator && text[at] !== '\n') at += 1;
  return { field: text.slice(from, at).trim(), next: at };
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

/** The separator that stands most often in the first line, outside quotation marks. */
function guessSeparator(text: string): string {
  const line = (text.split('\n', 1)[0] ?? '').replace(/"[^"]*"/g, '');
  const count = (mark: string) => line.split(mark).length;
  return [',', ';', '\t'].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}
