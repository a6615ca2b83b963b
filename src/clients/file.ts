import { type ParseError, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml, stringify as writeToml } from 'smol-toml';
import { parseDocument } from 'yaml';
import { lookup } from '../lib/lookup.ts';
import type { ClientFormat, Place } from './formats.ts';
import { editJson, removeJson } from './json-edit.ts';
import { withoutTables } from './toml-tables.ts';

/** What Countersign is called in a client's file. */
export const OWN_ENTRY = 'countersign';

/** Why a file is left to a person. */
export const UNSAFE = 'it is written in a way that cannot be edited safely';

export interface FoundTable {
  readonly path: readonly string[];
  readonly servers: Readonly<Record<string, unknown>>;
}

/** The tables of servers in a file, without our own entry. Throws where the file cannot be read as what it should be. */
export function findTables(format: ClientFormat, text: string, place: Place): FoundTable[] {
  const root = parseText(format, text);
  const found = format.tables(place).flatMap((path): FoundTable[] => {
    const table = valueAt(root, path);
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

/** Where our own entry is, or would be written: the table, and the entry if there is one. */
export function findOwnEntry(
  format: ClientFormat,
  text: string,
  place: Place,
): { readonly path: readonly string[]; readonly entry: Readonly<Record<string, unknown>> | undefined } {
  const root = parseText(format, text);
  const inside = format
    .tables(place)
    .filter((path) => format.table.every((key, index) => path[index] === key));
  const path =
    inside.find((one) => isTable(valueAt(root, [...one, OWN_ENTRY]))) ??
    inside.find((one) => isTable(valueAt(root, one))) ??
    format.table;
  const entry = valueAt(root, [...path, OWN_ENTRY]);
  return { path, entry: isTable(entry) ? entry : undefined };
}

/** The same file with these servers replaced by one entry, by default ours; comments and formatting stay. */
export function replaceServers(
  format: ClientFormat,
  text: string,
  path: readonly string[],
  names: readonly string[],
  entry: object,
  as: string = OWN_ENTRY,
): string {
  const replace = { json: replaceJson, toml: replaceToml, yaml: replaceYaml }[format.syntax];
  const [mark, unmarked] = splitMark(text);
  const next = `${mark}${replace(unmarked, path, names, { as, entry }, format)}`;
  // Compared as data, because a text may contain what looks like a header or a key.
  const wanted = wantedRoot(parseText(format, text), path, names, { as, entry });
  if (dataOf(parseText(format, next)) !== dataOf(wanted)) throw new Error(UNSAFE);
  return next;
}

interface Added {
  readonly as: string;
  readonly entry: object;
}

function wantedRoot(
  root: unknown,
  path: readonly string[],
  names: readonly string[],
  added: Added,
): Record<string, unknown> {
  const [key, ...rest] = path;
  const table = isTable(root) ? { ...root } : {};
  if (key !== undefined) return { ...table, [key]: wantedRoot(lookup(table, key), rest, names, added) };
  for (const name of names) delete table[name];
  return { ...table, [added.as]: added.entry };
}

/** What is at a path of keys, or undefined. */
export const valueAt = (root: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (isTable(value) ? lookup(value, key) : undefined), root);

export const dataOf = (value: unknown): string => JSON.stringify(sorted(value));

/** Some editors of Windows begin a file with this mark; it is no part of the text. */
const MARK = '\ufeff';

export const splitMark = (text: string): [mark: string, unmarked: string] =>
  text.startsWith(MARK) ? [MARK, text.slice(1)] : ['', text];

export function parseText({ syntax }: Pick<ClientFormat, 'syntax'>, whole: string): unknown {
  const [, text] = splitMark(whole);
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

function replaceJson(
  text: string,
  path: readonly string[],
  names: readonly string[],
  { as, entry }: Added,
): string {
  const without = names.reduce((before, name) => removeJson(before, { path: [...path, name] }), text);
  return editJson(without, [...path, as], entry);
}

function replaceToml(
  text: string,
  path: readonly string[],
  names: readonly string[],
  { as, entry }: Added,
  { reasons = {} }: ClientFormat,
): string {
  const [table = ''] = path;
  const kept = withoutTables(text, table, [...names, as]);
  const added = Object.entries(as === OWN_ENTRY ? reasons : {}).reduce(
    (lines, [key, reason]) => lines.replace(new RegExp(`^${key} = `, 'm'), `# ${reason}\n$&`),
    writeToml({ [table]: { [as]: entry } }).trim(),
  );
  return withLineEnds(text, `${kept.replace(/\n*$/, '')}\n\n${added}\n`.replace(/^\n+/, ''));
}

function replaceYaml(
  text: string,
  path: readonly string[],
  names: readonly string[],
  { as, entry }: Added,
): string {
  const document = parseDocument(text);
  for (const name of names) document.deleteIn([...path, name]);
  document.setIn([...path, as], document.createNode(entry));
  return withLineEnds(text, document.toString({ lineWidth: 0 }));
}

export const withLineEnds = (like: string, text: string): string =>
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

export const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
