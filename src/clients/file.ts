import { applyEdits, modify, type ParseError, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml, stringify as writeToml } from 'smol-toml';
import { parseDocument } from 'yaml';
import { lookup } from '../lib/lookup.ts';
import type { ClientFormat, Place } from './formats.ts';
import { withoutTables } from './toml-tables.ts';

/** What Countersign is called in a client's file. */
const OWN_ENTRY = 'countersign';

export interface FoundTable {
  readonly path: readonly string[];
  readonly servers: Readonly<Record<string, unknown>>;
}

/** The tables of servers in a file, without our own entry. Throws where the file cannot be read as what it should be. */
export function findTables(format: ClientFormat, text: string, place: Place): FoundTable[] {
  const root = parseText(format, text);
  const found = format.tables(place).flatMap((path): FoundTable[] => {
    const table = path.reduce<unknown>(
      (value, key) => (isTable(value) ? lookup(value, key) : undefined),
      root,
    );
    if (!isTable(table)) return [];
    const servers = Object.entries(table).filter(([name, entry]) => name !== OWN_ENTRY && isTable(entry));
    return servers.length > 0 ? [{ path, servers: Object.fromEntries(servers) }] : [];
  });
  // OpenCode's older table contains the newer one.
  return found.filter(({ path }) => !contains(path, found));
}

const contains = (path: readonly string[], found: readonly FoundTable[]): boolean =>
  found.some(
    (other) => other.path.length > path.length && path.every((key, index) => other.path[index] === key),
  );

/** Where our own entry is, or would be written. */
export function findOwnEntry(
  format: ClientFormat,
  text: string,
  place: Place,
): { readonly path: readonly string[]; readonly entry: Readonly<Record<string, unknown>> | undefined } {
  const root = parseText(format, text);
  const at = (path: readonly string[]): unknown =>
    path.reduce<unknown>((value, key) => (isTable(value) ? lookup(value, key) : undefined), root);
  const inside = format
    .tables(place)
    .filter((path) => format.table.every((key, index) => path[index] === key));
  const path = inside.find((one) => isTable(at(one))) ?? format.table;
  const entry = at([...path, OWN_ENTRY]);
  return { path, entry: isTable(entry) ? entry : undefined };
}

/** The same file with these servers replaced by one entry of ours; comments and formatting stay. */
export function replaceServers(
  format: ClientFormat,
  text: string,
  path: readonly string[],
  names: readonly string[],
  entry: object,
): string {
  const replace = { json: replaceJson, toml: replaceToml, yaml: replaceYaml }[format.syntax];
  const [mark, unmarked] = text.startsWith(MARK) ? [MARK, text.slice(1)] : ['', text];
  const next = `${mark}${replace(unmarked, path, names, entry, format)}`;
  // Compared as data, because a text may contain what looks like a header or a key.
  if (dataOf(parseText(format, next)) !== dataOf(wantedRoot(parseText(format, text), path, names, entry)))
    throw new Error('it is written in a way that cannot be edited safely');
  return next;
}

function wantedRoot(
  root: unknown,
  path: readonly string[],
  names: readonly string[],
  entry: object,
): Record<string, unknown> {
  const [key, ...rest] = path;
  const table = isTable(root) ? { ...root } : {};
  if (key !== undefined) return { ...table, [key]: wantedRoot(lookup(table, key), rest, names, entry) };
  for (const name of names) delete table[name];
  return { ...table, [OWN_ENTRY]: entry };
}

const dataOf = (value: unknown): string => JSON.stringify(sorted(value));

/** Some editors of Windows begin a file with this mark; it is no part of the text. */
const MARK = '\ufeff';

function parseText({ syntax }: ClientFormat, whole: string): unknown {
  const text = whole.startsWith(MARK) ? whole.slice(1) : whole;
  if (syntax === 'toml') return parseToml(text);
  if (syntax === 'yaml') {
    const document = parseDocument(text);
    if (document.errors[0]) throw new Error(document.errors[0].message);
    return document.toJS() as unknown;
  }
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const value: unknown = parseJson(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new Error('it is not valid JSON');
  return value;
}

function replaceJson(text: string, path: readonly string[], names: readonly string[], entry: object): string {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.includes('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  const edit = (before: string, key: string, value: unknown): string =>
    applyEdits(before, modify(before, [...path, key], value, { formattingOptions }));
  const start = text.trim() === '' ? '{}\n' : text;
  const without = names.reduce((before, name) => edit(before, name, undefined), start);
  return edit(without, OWN_ENTRY, entry);
}

function replaceToml(
  text: string,
  path: readonly string[],
  names: readonly string[],
  entry: object,
  { reasons = {} }: ClientFormat,
): string {
  const [table = ''] = path;
  const kept = withoutTables(text, table, [...names, OWN_ENTRY]);
  const added = Object.entries(reasons).reduce(
    (lines, [key, reason]) => lines.replace(new RegExp(`^${key} = `, 'm'), `# ${reason}\n$&`),
    writeToml({ [table]: { [OWN_ENTRY]: entry } }).trim(),
  );
  return withLineEnds(text, `${kept.replace(/\n*$/, '')}\n\n${added}\n`.replace(/^\n+/, ''));
}

function replaceYaml(text: string, path: readonly string[], names: readonly string[], entry: object): string {
  const document = parseDocument(text);
  for (const name of names) document.deleteIn([...path, name]);
  document.setIn([...path, OWN_ENTRY], document.createNode(entry));
  return withLineEnds(text, document.toString({ lineWidth: 0 }));
}

const withLineEnds = (like: string, text: string): string =>
  like.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(lookup(value, key))]),
  );
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
