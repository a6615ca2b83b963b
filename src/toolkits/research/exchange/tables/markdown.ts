import type { Cell, Table } from './table.ts';

/** Tables in GitHub's Markdown; line breaks inside a cell become <br>. */
export function toMarkdown(tables: readonly Table[], title: string): string {
  return `# ${inline(title)}\n\n${tables.map(section).join('\n')}`;
}

function section({ title, columns, rows }: Table): string {
  const marks = columns.map((_, at) =>
    rows.length > 0 && rows.every((row) => typeof row[at] === 'number') ? '---:' : '---',
  );
  const lines = [columns.map(inline), marks, ...rows.map((row) => row.map(inline))].map(
    (row) => `| ${row.join(' | ')} |`,
  );
  return `## ${inline(title)}\n\n${lines.join('\n')}\n`;
}

/** What would start markup or HTML is escaped, so that quoted speech stays as it was said. */
const inline = (cell: Cell): string =>
  String(cell)
    .replace(/[\\`*_[\]<>|~#]/g, '\\$&')
    .replace(/\s*\r?\n\s*/g, '<br>');
