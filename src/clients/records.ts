import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/file-error.ts';
import { replaceFile } from '../lib/replace-file.ts';
import type { ClientName } from './formats.ts';
import type { WrittenKey } from './json-edit.ts';

/** Everything that undoing a change of clients' files needs: the exact bytes before, and how to know that nothing happened since. */
export interface ChangeRecord {
  readonly at: string;
  readonly files: readonly RecordedFile[];
}

export interface RecordedFile {
  readonly path: string;
  /** Null: the file was created. */
  readonly before: string | null;
  readonly after: string;
  /** Whose file it is, and what was written into it. Records of earlier versions do not say. */
  readonly client?: ClientName;
  readonly keys?: readonly WrittenKey[];
}

export interface InitRecord extends ChangeRecord {
  /** Agents that were created, each for a client. Records of earlier versions have none. */
  readonly agents?: readonly { readonly name: string; readonly client: ClientName }[];
}

export interface ImportRecord extends ChangeRecord {
  /** Names added to our configuration and to the secret file. */
  readonly servers: readonly string[];
  readonly secrets: readonly string[];
}

/** Which command changed the files; each undoes its own. */
export interface Records {
  readonly imports: ImportRecord;
  readonly init: InitRecord;
}

export interface FileChange extends Pick<RecordedFile, 'path' | 'client' | 'keys'> {
  readonly before: Buffer | undefined;
  readonly after: string;
}

const folderOf = (dataDir: string, kind: keyof Records): string => join(dataDir, kind);

export const recordFiles = (changes: readonly FileChange[]): ChangeRecord['files'] =>
  changes.map(({ path, before, after, client, keys }) => ({
    path,
    ...(client && { client }),
    ...(keys && { keys }),
    before: before?.toString('base64') ?? null,
    after: hashOf(Buffer.from(after)),
  }));

export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Written before any file is changed, readable by its owner alone: a client's file may hold secrets. */
export function saveRecord<K extends keyof Records>(dataDir: string, kind: K, record: Records[K]): string {
  makeFolder(folderOf(dataDir, kind), 0o700);
  const path = join(folderOf(dataDir, kind), `${record.at.replaceAll(':', '-')}.json`);
  writeFileSync(path, JSON.stringify(record), { mode: 0o600 });
  return path;
}

export function latestRecord<K extends keyof Records>(
  dataDir: string,
  kind: K,
): { path: string; record: Records[K] } | undefined {
  const folder = folderOf(dataDir, kind);
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .at(-1);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  return { path, record: JSON.parse(readFileSync(path, 'utf8')) as Records[K] };
}

/** Leaves in a record only what is still to be undone. */
export function keepRecord<K extends keyof Records>(path: string, record: Records[K]): void {
  replaceFile(path, JSON.stringify(record));
}

export const forgetRecord = (path: string): void => rmSync(path, { force: true });
