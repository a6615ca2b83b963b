import { replaceUnwritable } from '../xml.ts';

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

/** Tables in GitHub's Markdown; line breaks inside a cell become <br>. */
export function toMarkdown(tables: readonly Table[], title: string): string {
  return `# ${inline(title)}\n\n${tables.map(markdownSection).join('\n')}`;
}

function markdownSection({ title, columns, rows }: Table): string {
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

/** Rows for people: a title, what each column is called, and cells that are text or numbers. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** More than a cell of Excel holds. */
const LONGEST_CELL = 32_767;
const CUT = ' […]';

/** A workbook with a sheet per table: header in bold and frozen, long texts wrapped. */
export async function toXlsx(tables: readonly Table[], now = new Date()): Promise<Uint8Array> {
  const { default: yazl } = await import('yazl');
  const archive = new yazl.ZipFile();
  const add = (name: string, xml: string) => archive.addBuffer(Buffer.from(HEAD + xml), name, { mtime: now });
  const names = sheetNames(tables);
  add('[Content_Types].xml', contentTypes(tables.length));
  add('_rels/.rels', relations([['officeDocument', 'xl/workbook.xml']]));
  add(
    'xl/workbook.xml',
    `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${names.map((name, i) => `<sheet name="${escapedXml(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`).join('')}</sheets></workbook>`,
  );
  add(
    'xl/_rels/workbook.xml.rels',
    relations([
      ...tables.map((_, i) => ['worksheet', `worksheets/sheet${i + 1}.xml`] as const),
      ['styles', 'styles.xml'],
    ]),
  );
  add('xl/styles.xml', STYLES);
  for (const [i, table] of tables.entries()) add(`xl/worksheets/sheet${i + 1}.xml`, sheet(table));
  archive.end();
  const parts: Buffer[] = [];
  for await (const part of archive.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const STYLES = `<styleSheet xmlns="${MAIN}"><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" applyFont="1"/><xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs></styleSheet>`;

function sheet({ columns, rows }: Table): string {
  const widths = columns.map((column, at) =>
    Math.min(
      60,
      Math.max(column.length, ...rows.slice(0, 200).map((row) => String(row[at] ?? '').length)) + 2,
    ),
  );
  const cols = widths
    .map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
    .join('');
  const body = [columns, ...rows]
    .map(
      (row, i) =>
        `<row r="${i + 1}">${row.map((cell, column) => toSheetCell(cell, `${letters(column)}${i + 1}`, i === 0 ? 1 : 2)).join('')}</row>`,
    )
    .join('');
  const frozen =
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
  return `<worksheet xmlns="${MAIN}">${frozen}<cols>${cols}</cols><sheetData>${body}</sheetData></worksheet>`;
}

function toSheetCell(cell: Cell, place: string, style: number): string {
  if (typeof cell === 'number') return `<c r="${place}" s="${style}"><v>${cell}</v></c>`;
  const text = cell.length > LONGEST_CELL ? `${cell.slice(0, LONGEST_CELL - CUT.length)}${CUT}` : cell;
  return `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapedXml(text)}</t></is></c>`;
}

/** Characters that XML has no place for are written as the format says: `_x000B_`. */
const escapedXml = (text: string): string =>
  replaceUnwritable(text.replace(/_x(?=[0-9A-Fa-f]{4}_)/g, '_x005F_x'), hex)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');

const hex = (character: string): string =>
  `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;

/** 0 is A, 26 is AA. */
function letters(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : letters(Math.floor(column / 26) - 1) + letter;
}

/** At most 31 characters, none of []:*?/\, all different. */
function sheetNames(tables: readonly Table[]): string[] {
  const used = new Set<string>();
  return tables.map(({ title }) => {
    const base =
      title
        .replace(/[[\]:*?/\\]/g, ' ')
        .trim()
        .slice(0, 28) || 'Sheet';
    let name = base;
    for (let n = 2; used.has(name.toLowerCase()); n += 1) name = `${base} ${n}`;
    used.add(name.toLowerCase());
    return name;
  });
}

const relations = (targets: readonly (readonly [string, string])[]): string =>
  `<Relationships xmlns="${PACKAGE}/relationships">${targets.map(([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`).join('')}</Relationships>`;

function contentTypes(sheets: number): string {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const parts = Array.from(
    { length: sheets },
    (_, i) => `<Override PartName="/xl/worksheets/sheet${i + 1}.xml" ContentType="${type}.worksheet+xml"/>`,
  ).join('');
  return `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/>${parts}</Types>`;
}
