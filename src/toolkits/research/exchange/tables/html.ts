import type { Cell, Table } from './table.ts';

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1b1b1b;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0 3rem}th,td{border:1px solid #c8c8c8;padding:.4rem .6rem;text-align:left;vertical-align:top}
th{background:#f2f2f2;position:sticky;top:0}td{white-space:pre-wrap;overflow-wrap:anywhere}td.n{text-align:right;font-variant-numeric:tabular-nums}
.c{display:inline-block;width:.8em;height:.8em;border:1px solid #777;margin-right:.4em}@media print{th{position:static}}`;

/** A page that needs nothing else: it can be mailed, printed or put into an archive. */
export function toHtml(tables: readonly Table[], title: string): string {
  const body = tables.map(section).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1>
${body}
</body></html>
`;
}

function section({ title, columns, rows }: Table): string {
  const head = columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map(toCell).join('')}</tr>`).join('\n');
  return `<h2>${escaped(title)} (${rows.length})</h2>\n<table><thead><tr>${head}</tr></thead>\n<tbody>\n${lines}\n</tbody></table>`;
}

function toCell(cell: Cell): string {
  if (typeof cell === 'number') return `<td class="n">${cell}</td>`;
  const color = /^#[0-9a-f]{6}$/i.test(cell) ? `<span class="c" style="background:${cell}"></span>` : '';
  return `<td>${color}${escaped(cell)}</td>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
