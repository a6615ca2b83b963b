import { ToolError } from '../../../../contract/errors.ts';
import type { ExchangeReport } from '../report.ts';
import type { Imported, ImportedAttribute, ImportedDocument } from './read-document.ts';

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
      throw new ToolError(
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

export interface SurveyOptions {
  /** The column that names the respondent; left out: the first one whose values are all different. */
  readonly caseColumn?: string;
  /** Columns with open answers, which become texts; left out: those with long and mostly different answers. */
  readonly textColumns?: readonly string[];
}

/**
 * A survey: each row a case, each closed question an attribute of the cases, each open question one text with everybody's answers, in which
 * every answer belongs to its case.
 */
export function readSurvey(
  text: string,
  name: string,
  report: ExchangeReport,
  options: SurveyOptions = {},
): Imported {
  const [header = [], ...rows] = parseCsv(text, name);
  if (header.length < 1 || rows.length === 0)
    throw new ToolError(
      'validation_error',
      `${name} needs one line with the questions and one line per respondent.`,
    );
  const columns = uniqueNames(header, (from) => report.repaired('Renamed a column of a survey', from));
  const cells = rows.map((row) => {
    if (row.length > columns.length)
      report.lost('Omitted values beyond the last column', name, row.length - columns.length);
    return columns.map((_, at) => row[at]?.trim() ?? '');
  });
  const caseAt = caseColumn(columns, cells, options.caseColumn, name);
  const cases = caseNames(cells, caseAt, report, name);
  const open = openColumns(columns, cells, caseAt, options.textColumns, name);
  const base = name.replace(/\.[^.]+$/, '');
  const attributes: ImportedAttribute[] = [];
  const documents: ImportedDocument[] = [];
  for (const [at, column] of columns.entries()) {
    if (at === caseAt) continue;
    const answers = cells.map((row) => row[at] ?? '');
    if (open.has(at)) documents.push(answersDocument(`${base} – ${shorten(column)}`, column, answers, cases));
    else
      attributes.push({
        name: shorten(column),
        valueType: isNumeric(answers) ? 'numeric' : 'character',
        values: new Map(cases.map((item, i) => [item, answers[i] ?? ''])),
      });
  }
  return { documents, cases, attributes };
}

function answersDocument(
  name: string,
  question: string,
  answers: readonly string[],
  cases: readonly string[],
): ImportedDocument {
  let text = `${question}\n\n`;
  let length = [...text].length;
  const parts: { caseName: string; start: number; end: number }[] = [];
  for (const [at, answer] of answers.entries()) {
    const caseName = cases[at] ?? '';
    if (!answer) continue;
    const block = `${caseName}: ${answer}\n\n`;
    const label = [...caseName].length + 2;
    parts.push({ caseName, start: length + label, end: length + label + [...answer].length });
    text += block;
    length += [...block].length;
  }
  return { name: `${name}.txt`, text: text.trimEnd(), cases: parts };
}

function caseColumn(
  columns: readonly string[],
  cells: readonly string[][],
  wanted: string | undefined,
  name: string,
): number {
  if (wanted !== undefined) return columnAt(columns, wanted, name);
  const named = columns.findIndex((column) =>
    /^(id|case|case ?id|respondent|participant|name|response ?id|nr|no)\.?$/i.test(column),
  );
  const isKey = (at: number) =>
    new Set(cells.map((row) => row[at])).size === cells.length && cells.every((row) => row[at]);
  return named !== -1 && isKey(named)
    ? named
    : columns.findIndex((_, at) => isKey(at) && cells.every((row) => (row[at]?.length ?? 0) <= 40));
}

/** Without a usable column the rows are numbered. */
function caseNames(cells: readonly string[][], at: number, report: ExchangeReport, name: string): string[] {
  const used = new Set<string>();
  if (at === -1) report.repaired('Numbered the respondents, as no column names them', name);
  return cells.map((row, i) => {
    const given = row[at] || `Respondent ${i + 1}`;
    let unique = given;
    for (let n = 2; used.has(unique); n += 1) unique = `${given} (${n})`;
    if (unique !== given) report.repaired('Renamed a respondent, as the name occurs twice', given);
    used.add(unique);
    return unique;
  });
}

function openColumns(
  columns: readonly string[],
  cells: readonly string[][],
  caseAt: number,
  wanted: readonly string[] | undefined,
  name: string,
): Set<number> {
  if (wanted) return new Set(wanted.map((column) => columnAt(columns, column, name)));
  const open = columns.flatMap((column, at) => {
    const answers = cells.map((row) => row[at] ?? '').filter(Boolean);
    const words =
      answers.reduce((sum, answer) => sum + answer.split(/\s+/).length, 0) / Math.max(1, answers.length);
    const different = new Set(answers).size / Math.max(1, answers.length);
    // What is asked as a question may be answered in few words; a heading such as "Job title" names a value.
    const enough = column.trimEnd().endsWith('?') ? 2 : 4;
    return at !== caseAt && words >= enough && different > 0.5 ? [at] : [];
  });
  return new Set(open);
}

function columnAt(columns: readonly string[], wanted: string, name: string): number {
  const at = columns.findIndex((column) => column.toLowerCase() === wanted.trim().toLowerCase());
  if (at === -1)
    throw new ToolError(
      'validation_error',
      `${name} has no column "${wanted}"; it has: ${columns.join(', ')}.`,
    );
  return at;
}

function uniqueNames(header: readonly string[], changed: (name: string) => void): string[] {
  const used = new Set<string>();
  return header.map((given, at) => {
    const base = given.trim() || `Column ${at + 1}`;
    let unique = base;
    for (let n = 2; used.has(unique.toLowerCase()); n += 1) unique = `${base} (${n})`;
    if (unique !== given.trim()) changed(given || `column ${at + 1}`);
    used.add(unique.toLowerCase());
    return unique;
  });
}

const isNumeric = (answers: readonly string[]): boolean => {
  const given = answers.filter(Boolean);
  return given.length > 0 && given.every((answer) => /^-?\d+(\.\d+)?$/.test(answer));
};

/** Questions can be a paragraph; a name has to fit a list. */
const shorten = (question: string): string => {
  const line = question.replace(/[\s/\\:*?"<>|]+/g, ' ').trim();
  return [...line].length > 80 ? `${[...line].slice(0, 79).join('')}…` : line;
};
