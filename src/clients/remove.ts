import { stripComments } from 'jsonc-parser';
import { isMap, isScalar, parseDocument } from 'yaml';
import { dataOf, isTable, parseText, splitMark, UNSAFE, valueAt, withLineEnds } from './file.ts';
import type { ClientFormat } from './formats.ts';
import { removeJson, type WrittenKey } from './json-edit.ts';
import { withoutKeys } from './toml-tables.ts';

/**
 * The same file without this key or item; comments, formatting and everything else stay. Tables that are left empty go
 * with it unless `before` had them.
 */
export function removeKey(
  { syntax }: Pick<ClientFormat, 'syntax'>,
  text: string,
  { path, item }: WrittenKey,
  before: unknown,
): string {
  const root = parseText({ syntax }, text);
  const list = item === undefined ? undefined : valueAt(root, path);
  const isLastItem = Array.isArray(list) && list.length === 1 && valueAt(before, path) === undefined;
  const exact: WrittenKey = item === undefined ? { path } : { path, item };
  const cut = item === undefined || isLastItem ? { path: prunable(root, before, path) } : exact;
  const [mark, unmarked] = splitMark(text);
  const remove = { json: removeJson, toml: removeToml, yaml: removeYaml }[syntax];
  const [pruned, plain] = [remove(unmarked, cut), remove(unmarked, exact)];
  const isCommented = commentsIn(syntax, pruned) < commentsIn(syntax, plain);
  const next = `${mark}${isCommented ? plain : pruned}`;
  // Compared as data, because a text may contain what looks like a header or a key.
  const shown = (value: unknown): string => dataOf(withoutEmpty(value, path));
  if (shown(parseText({ syntax }, next)) !== shown(without(root, exact))) throw new Error(UNSAFE);
  return next;
}

/** How much of a text is comments, to see that a table which is left empty has none of a person. */
const commentsIn = (syntax: ClientFormat['syntax'], text: string): number =>
  syntax === 'json' ? text.length - stripComments(text).length : (text.match(/^\s*#/gm) ?? []).length;

/** The path itself, or the first table above it that holds nothing else and was not there before. */
function prunable(root: unknown, before: unknown, path: readonly string[]): readonly string[] {
  const parent = path.slice(0, -1);
  const table = valueAt(root, parent);
  const isAlone = isTable(table) && Object.keys(table).length === 1;
  return parent.length > 0 && isAlone && valueAt(before, parent) === undefined
    ? prunable(root, before, parent)
    : path;
}

function without(root: unknown, { path, item }: WrittenKey): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return Array.isArray(root) ? root.filter((one) => one !== item) : root;
  if (!isTable(root) || !Object.hasOwn(root, key)) return root;
  const { [key]: value, ...others } = root;
  if (rest.length === 0 && item === undefined) return others;
  return { ...others, [key]: without(value, { path: rest, ...(item === undefined ? {} : { item }) }) };
}

/** Tables that are left empty may stay or go: TOML need not write them at all, and an empty YAML file is null. */
function withoutEmpty(root: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined || !isTable(root)) return root ?? {};
  const { [key]: value, ...others } = root;
  const inner = withoutEmpty(value, rest);
  const isEmpty = isTable(inner)
    ? Object.keys(inner).length === 0
    : Array.isArray(inner) && inner.length === 0;
  return isEmpty ? others : { ...others, [key]: inner };
}

const removeToml = (text: string, { path }: WrittenKey): string => withoutKeys(text, [path]);

function removeYaml(text: string, { path }: WrittenKey): string {
  const document = parseDocument(text);
  const map = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(map)
    ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    : undefined;
  const [start] = isScalar(pair?.key) ? (pair.key.range ?? []) : [];
  const stop = (pair?.value as { range?: [number, number, number] } | undefined)?.range?.[1] ?? undefined;
  const isWritten = isMap(map) && !map.flow && (map.items.length > 1 || path.length === 1);
  if (isWritten && start !== undefined && stop !== undefined) {
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    const next = text[stop - 1] === '\n' ? stop : text.indexOf('\n', stop) + 1 || text.length;
    if (text.slice(lineStart, start).trim() === '') return text.slice(0, lineStart) + text.slice(next);
  }
  document.deleteIn([...path]);
  return withLineEnds(text, document.toString({ lineWidth: 0 }));
}
