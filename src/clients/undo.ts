import { existsSync, readFileSync } from 'node:fs';
import { canonicalJson } from '../lib/canonical.ts';
import {
  findOwnEntry,
  findTables,
  isTable,
  OWN_ENTRY,
  parseText,
  replaceServers,
  splitMark,
  valueAt,
} from './file.ts';
import { CLIENTS, type ClientFormat, type Place } from './formats.ts';
import type { WrittenKey } from './json-edit.ts';
import { hashOf, type RecordedFile } from './records.ts';
import { removeKey } from './remove.ts';

export interface PlannedUndo {
  readonly path: string;
  /** What the file will be; null deletes it, undefined leaves it. */
  readonly next?: string | Uint8Array | null;
  /** Why it is left to a person. */
  readonly problem?: string;
}

/**
 * How the changes to one file are undone. A file that is as it was left becomes what it was, to the byte. From one that
 * was written since, only our own keys are removed. It is deleted only if it was created for them and holds nothing else.
 */
export function planUndo(file: RecordedFile, place: Place, force: boolean): PlannedUndo {
  const { path } = file;
  if (!existsSync(path)) return { path };
  const before = file.before === null ? undefined : Buffer.from(file.before, 'base64');
  const current = readFileSync(path);
  if (hashOf(current) === file.after) return { path, next: before ?? null };
  try {
    const text = current.toString('utf8');
    const next = withoutOwn(file, text, before?.toString('utf8') ?? '', place, force);
    if (before === undefined && /^\s*(\{\s*\})?\s*$/.test(splitMark(next)[1])) return { path, next: null };
    return next === text ? { path } : { path, next };
  } catch (error) {
    return { path, problem: error instanceof Error ? error.message : String(error) };
  }
}

function withoutOwn(file: RecordedFile, text: string, before: string, place: Place, force: boolean): string {
  const items = (file.keys ?? []).filter(({ item }) => item !== undefined);
  if (items.length > 0) return items.reduce((rest, key) => withoutItem(rest, key, before), text);
  return withoutEntry(clientOf(file, place), text, before, place, force);
}

const JSON_FILE = { syntax: 'json' } as const;

function withoutItem(text: string, key: WrittenKey, before: string): string {
  const list = valueAt(parseText(JSON_FILE, text), key.path);
  if (!Array.isArray(list) || !list.includes(key.item)) return text;
  return removeKey(JSON_FILE, text, key, parseText(JSON_FILE, before));
}

function withoutEntry(
  client: ClientFormat,
  text: string,
  before: string,
  place: Place,
  force: boolean,
): string {
  const { path, entry } = findOwnEntry(client, text, place);
  const { entry: earlier } = findOwnEntry(client, before, place);
  if (!entry || (earlier && canonicalJson(entry) === canonicalJson(earlier))) return text;
  if (!startsCountersign(entry) && !force)
    throw new Error(`its entry \`${OWN_ENTRY}\` was changed since and no longer starts this program`);
  if (earlier) return replaceServers(client, text, path, [], earlier);
  return removeKey(client, text, { path: [...path, OWN_ENTRY] }, parseText(client, before));
}

/**
 * How one file of an import gets its servers back: to the byte where nothing happened since, otherwise each server that
 * was moved and is not there. Our own entry becomes what it was. Throws where the file cannot be edited.
 */
export function planReturn(file: RecordedFile, place: Place): string | Uint8Array {
  const before = Buffer.from(file.before ?? '', 'base64');
  if (!existsSync(file.path)) return before;
  const current = readFileSync(file.path);
  if (hashOf(current) === file.after) return before;
  const client = clientOf(file, place);
  const text = before.toString('utf8');
  return findTables(client, text, place).reduce(
    (rest, { path, servers }) =>
      Object.entries(servers).reduce(
        (next, [name, entry]) => returned(client, next, file, [...path, name], entry as object),
        withoutEntryAt(client, rest, parseText(client, text), path),
      ),
    current.toString('utf8'),
  );
}

function returned(
  client: ClientFormat,
  text: string,
  file: RecordedFile,
  path: string[],
  entry: object,
): string {
  const wasMoved = file.keys?.some((key) => key.path.join('\0') === path.join('\0')) ?? true;
  if (!wasMoved || valueAt(parseText(client, text), path) !== undefined) return text;
  return replaceServers(client, text, path.slice(0, -1), [], entry, path.at(-1));
}

function withoutEntryAt(
  client: ClientFormat,
  text: string,
  before: unknown,
  table: readonly string[],
): string {
  const path = [...table, OWN_ENTRY];
  const entry = valueAt(parseText(client, text), path);
  const earlier = valueAt(before, path);
  if (!isTable(entry) || !startsCountersign(entry)) return text;
  return isTable(earlier)
    ? replaceServers(client, text, table, [], earlier)
    : removeKey(client, text, { path }, before);
}

function clientOf({ client, path }: RecordedFile, place: Place): ClientFormat {
  const found = CLIENTS.find((one) => (client ? one.name === client : one.user(place).includes(path)));
  if (!found) throw new Error('it is not the file of a known client');
  return found;
}

/** True however a client has written the command again, and whatever was added to it. */
function startsCountersign(entry: Readonly<Record<string, unknown>>): boolean {
  const words = [entry.command, entry.cmd, entry.args].flat(2);
  return (
    words.some((word, index) => word === 'mcp' && words[index + 1] === 'serve') &&
    words.some((word) => /(^|[\\/])(countersign(\.cmd|@.*)?|main\.js)$/.test(String(word)))
  );
}
