import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { canonicalJson } from '../lib/canonical.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup, put } from '../lib/lookup.ts';
import { findOwnEntry, OWN_ENTRY, parseText, replaceServers, splitMark, UNSAFE, valueAt } from './file.ts';
import { CLIENTS, type ClientFormat, type ClientName, type OwnCommand, type Place } from './formats.ts';
import { editJson } from './json-edit.ts';
import type { FileChange } from './records.ts';

/** A file of an installed client, and what it takes to connect it. */
export interface Detected {
  readonly client: ClientFormat;
  readonly path: string;
  /** Why a person has to edit the file. */
  readonly problem?: string;
  /** Our entry among the client's servers, or its permission to call our tools, which some keep in another file. */
  readonly kind: 'entry' | 'permission';
  /** True for an entry that is to start as an agent of its own. */
  readonly needsToken: boolean;
  /** True while the client asks about each call itself, and this file can end that. */
  readonly asks: boolean;
  /** Undefined where nothing needs to change. */
  readonly plan: (choice: Choice) => FileChange | undefined;
}

export interface Choice {
  readonly token: string;
  /** The client calls our tools without asking itself. */
  readonly allowTools: boolean;
}

/** Clients of this machine and the others. A client that is named counts as installed. */
export function detectClients(
  place: Place,
  own: OwnCommand,
  only: readonly ClientName[] = [],
): { detected: Detected[]; missing: ClientFormat[] } {
  const chosen = CLIENTS.filter(({ name }) => only.length === 0 || only.includes(name));
  const files = chosen.map((client) => ({ client, paths: installedFiles(client, place) }));
  const detected = files.flatMap(({ client, paths }) => {
    const [first = ''] = client.user(place);
    const wanted = paths.length === 0 && only.includes(client.name) ? [first] : paths;
    const entries = wanted.map((path) =>
      detect(client, path, 'entry', (text) => entryIn(client, path, text, place, own)),
    );
    const { allow } = client;
    if (entries.length === 0 || !allow || !('file' in allow)) return entries;
    const path = allow.file(place);
    return [...entries, detect(client, path, 'permission', (text) => permissionIn(path, text, allow))];
  });
  return {
    detected,
    missing: chosen.filter(({ name }) => !detected.some(({ client }) => client.name === name)),
  };
}

/** One file per directory in which the client keeps its configuration. */
function installedFiles(client: ClientFormat, place: Place): string[] {
  const files = client.user(place);
  const mark = client.mark?.(place);
  const folders = [...new Set(files.map((path) => dirname(path)))];
  return folders.flatMap((folder) => {
    const inside = files.filter((path) => dirname(path) === folder);
    const present = inside.find((path) => existsSync(path));
    if (present !== undefined) return [present];
    return existsSync(mark ?? folder) ? inside.slice(0, 1) : [];
  });
}

type Plan = Pick<Detected, 'needsToken' | 'asks' | 'plan'>;
const NOTHING: Plan = { needsToken: false, asks: false, plan: () => undefined };

function detect(
  client: ClientFormat,
  path: string,
  kind: Detected['kind'],
  plan: (before: Buffer | undefined) => Plan,
): Detected {
  try {
    const planned = plan(existsSync(path) ? readFileSync(path) : undefined);
    // Planned once here, so that a file which cannot be edited is known before anything is asked.
    planned.plan({ token: '…', allowTools: true });
    return { client, path, kind, ...planned };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { client, path, kind, problem, ...NOTHING };
  }
}

const ENV_KEYS = ['env', 'envs', 'environment'];

function entryIn(
  client: ClientFormat,
  path: string,
  before: Buffer | undefined,
  place: Place,
  own: OwnCommand,
): Plan {
  const text = before?.toString('utf8') ?? '';
  const { path: table, entry } = findOwnEntry(client, text, place);
  if (entry && isRemote(entry)) return NOTHING;
  const needsToken = !ENV_KEYS.some((key) => valueAt(entry, [key, 'COUNTERSIGN_TOKEN']) !== undefined);
  const allowed = client.allow && 'entry' in client.allow ? client.allow.entry : {};
  const isOpen = Object.keys(allowed).some((key) => !entry || !Object.hasOwn(entry, key));
  return {
    needsToken,
    asks: isOpen,
    plan({ token, allowTools }) {
      const env = needsToken ? { ...own.env, COUNTERSIGN_TOKEN: token } : own.env;
      const ours = { ...client.entry({ ...own, env }), ...(allowTools && isOpen ? allowed : {}) };
      const wanted = mergeEntry(entry, ours);
      if (entry && canonicalJson(entry) === canonicalJson(wanted)) return undefined;
      const after = replaceServers(client, text, table, [], wanted);
      return { path, before, after, client: client.name, keys: [{ path: [...table, OWN_ENTRY] }] };
    },
  };
}

type Permission = Extract<NonNullable<ClientFormat['allow']>, { file: unknown }>;

function permissionIn(path: string, before: Buffer | undefined, { list, item }: Permission): Plan {
  const [mark, text] = splitMark(before?.toString('utf8') ?? '');
  const present = valueAt(parseText({ syntax: 'json' }, text), list);
  if (Array.isArray(present) && present.includes(item)) return NOTHING;
  return {
    needsToken: false,
    asks: true,
    plan({ allowTools }) {
      if (!allowTools) return undefined;
      const after = editJson(text, [...list, -1], item);
      const items = valueAt(parseText({ syntax: 'json' }, after), list);
      if (!Array.isArray(items) || !items.includes(item)) throw new Error(UNSAFE);
      return { path, before, after: `${mark}${after}`, keys: [{ path: list, item }] };
    },
  };
}

/** Connected over HTTP, by a decision of the person. */
const isRemote = (entry: object): boolean =>
  ['url', 'httpUrl', 'serverUrl', 'uri'].some((key) => Object.hasOwn(entry, key));

/** What the person added to our entry stays, above all an agent's token. */
function mergeEntry(
  entry: Readonly<Record<string, unknown>> | undefined,
  ours: object,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...entry, ...ours };
  for (const key of ENV_KEYS) {
    const [theirs, own] = [lookup(entry, key), lookup(ours as Record<string, unknown>, key)];
    if (isObject(theirs)) put(merged, key, { ...theirs, ...(isObject(own) ? own : {}) });
  }
  return merged;
}

/** Our entry in a table, with the token and settings that it has there. */
export function ownEntryIn(
  client: ClientFormat,
  text: string,
  table: readonly string[],
  own: OwnCommand,
): object {
  const entry = valueAt(parseText(client, text), [...table, OWN_ENTRY]);
  if (!isObject(entry)) return client.entry(own);
  return isRemote(entry) ? entry : mergeEntry(entry, client.entry(own));
}
