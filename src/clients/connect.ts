import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { canonicalJson } from '../lib/canonical.ts';
import { isObject } from '../lib/is-object.ts';
import { lookup, put } from '../lib/lookup.ts';
import { findOwnEntry, replaceServers } from './file.ts';
import { CLIENTS, type ClientFormat, type ClientName, type OwnCommand, type Place } from './formats.ts';
import type { FileChange } from './records.ts';

/** An installed client, and what it takes to connect it. */
export interface Detected {
  readonly client: ClientFormat;
  readonly path: string;
  /** Undefined where nothing needs to change, or only a person can change it. */
  readonly change?: FileChange;
  /** Why a person has to edit the file. */
  readonly problem?: string;
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
    return wanted.map((path) => planConnection(client, path, place, own));
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

function planConnection(client: ClientFormat, path: string, place: Place, own: OwnCommand): Detected {
  try {
    const before = existsSync(path) ? readFileSync(path) : undefined;
    const text = before?.toString('utf8') ?? '';
    const { path: table, entry } = findOwnEntry(client, text, place);
    // Connected over HTTP, by a decision of the person.
    if (entry && ['url', 'httpUrl', 'serverUrl', 'uri'].some((key) => Object.hasOwn(entry, key)))
      return { client, path };
    const wanted = merge(entry, client.entry(own));
    if (entry && canonicalJson(entry) === canonicalJson(wanted)) return { client, path };
    return { client, path, change: { path, before, after: replaceServers(client, text, table, [], wanted) } };
  } catch (error) {
    return { client, path, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** What the person added to our entry stays, above all an agent's token. */
function merge(entry: Readonly<Record<string, unknown>> | undefined, ours: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...entry, ...ours };
  for (const key of ['env', 'envs', 'environment']) {
    const [theirs, own] = [lookup(entry, key), lookup(ours as Record<string, unknown>, key)];
    if (isObject(theirs)) put(merged, key, { ...theirs, ...(isObject(own) ? own : {}) });
  }
  return merged;
}
