import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { ownEntryIn } from '../../clients/connect.ts';
import { findTables, replaceServers } from '../../clients/file.ts';
import {
  CLIENTS,
  type ClientFormat,
  type ClientName,
  filesOf,
  type OwnCommand,
  type Place,
} from '../../clients/formats.ts';
import { SERVER_NAME } from '../../contract/servers.ts';
import type { ServerTable } from '../config-file.ts';
import { importEntry } from './entries.ts';

export interface PlannedServer {
  /** Our name for it; the client's may have characters that tool names cannot have. */
  readonly name: string;
  readonly from: string;
  readonly table: ServerTable;
  readonly secrets: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface PlannedFile {
  readonly client: ClientName;
  readonly path: string;
  readonly before: Buffer;
  readonly after: string;
  /** The moved servers, as they are in the file. */
  readonly keys: readonly { readonly path: readonly string[] }[];
  readonly servers: readonly PlannedServer[];
  /** Left where they are, and why. */
  readonly skipped: readonly { readonly name: string; readonly problem: string }[];
}

/** What an import would do, without doing it. `from` is a client, a file, or undefined for every client found. */
export function planImport(
  from: string | undefined,
  place: Place,
  own: OwnCommand,
  taken: ReadonlySet<string>,
): { files: PlannedFile[]; problems: string[] } {
  const used = new Set(taken);
  const problems: string[] = [];
  const files = candidates(from, place).flatMap(({ format, path }) => {
    try {
      return planFile(format, path, place, own, used);
    } catch (error) {
      problems.push(`${path}: ${error instanceof Error ? error.message : error}`);
      return [];
    }
  });
  return { files, problems };
}

function candidates(from: string | undefined, place: Place): { format: ClientFormat; path: string }[] {
  const known = CLIENTS.find(({ name }) => name === from);
  const formats = from === undefined ? CLIENTS : known ? [known] : [];
  if (formats.length > 0)
    return formats.flatMap((format) =>
      filesOf(format, place)
        .filter((path) => existsSync(path))
        .map((path) => ({ format, path })),
    );
  const path = from ?? '';
  return [{ format: formatOf(path, place), path }];
}

/** A file by itself: the client whose place or name it has, else by its ending and what it contains. */
function formatOf(path: string, place: Place): ClientFormat {
  const named = CLIENTS.find((one) =>
    filesOf(one, place).some((known) => known === path || basename(known) === basename(path)),
  );
  const byEnding = CLIENTS.find(
    ({ name }) => name === (/\.ya?ml$/.test(path) ? 'goose' : /\.toml$/.test(path) ? 'codex' : 'cursor'),
  );
  const text = readFileSync(path, 'utf8');
  const containing = CLIENTS.find((one) => {
    try {
      return findTables(one, text, place).length > 0;
    } catch {
      return false;
    }
  });
  const chosen = named && contains(named, text, place) ? named : (containing ?? byEnding);
  if (!chosen) throw new Error(`${path} is not the configuration of a known client.`);
  return chosen;
}

const contains = (format: ClientFormat, text: string, place: Place): boolean => {
  try {
    return findTables(format, text, place).length > 0;
  } catch {
    return false;
  }
};

function planFile(
  format: ClientFormat,
  path: string,
  place: Place,
  own: OwnCommand,
  used: Set<string>,
): PlannedFile[] {
  const before = readFileSync(path);
  let after = before.toString('utf8');
  const servers: PlannedServer[] = [];
  const skipped: { name: string; problem: string }[] = [];
  const keys: { path: string[] }[] = [];
  for (const table of findTables(format, after, place)) {
    const moved: string[] = [];
    for (const [from, entry] of Object.entries(table.servers)) {
      const name = usableName(from, used);
      const imported = importEntry(format.name, name, entry);
      if (!imported) continue;
      if ('problem' in imported) skipped.push({ name: from, problem: imported.problem });
      else {
        used.add(name);
        moved.push(from);
        keys.push({ path: [...table.path, from] });
        servers.push({ name, from, ...imported });
      }
    }
    const entry = ownEntryIn(format, after, table.path, own);
    if (moved.length > 0) after = replaceServers(format, after, table.path, moved, entry);
  }
  if (servers.length === 0 && skipped.length === 0) return [];
  return [{ client: format.name, path, before, after, keys, servers, skipped }];
}

function usableName(from: string, used: ReadonlySet<string>): string {
  const clean = from
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 28);
  const base = SERVER_NAME.test(clean) ? clean : 'server';
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!used.has(name)) return name;
  }
}
