import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { lookup } from './lookup.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'a part of this path is a file, not a directory',
  EISDIR: 'this is a directory, not a file',
  EEXIST: 'it already exists',
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'this disk is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
};

/** What a file system error means, in plain words with its path; undefined when it is no such error. */
export function describeFileError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  const place = dest ?? path;
  const reason = place && fileReason(error, place);
  return reason && `Cannot use ${place}: ${reason}.`;
}

/** The same without the path, for callers that name it anyway. */
export function fileReason(error: Error, place: string): string | undefined {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // A missing program is not a file that the user named.
  if (syscall?.startsWith('spawn')) return undefined;
  const folder = dirname(place);
  if (code === 'ENOENT' && !existsSync(folder)) return `no directory ${folder}`;
  if (code === 'ENOENT' && syscall === 'mkdir') return 'no directory can be created there';
  // Making folders down a path, a file in the way is all that can exist.
  if (code === 'EEXIST' && syscall === 'mkdir') return 'this is a file, not a directory';
  return lookup(REASONS, code);
}

/**
 * Makes a folder and those above it. Node's own recursive mkdir tries for ever where a file system answers that there
 * is no such file though the folder above is there, as /proc does.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A full path. No shell has been there to replace `~` in a configuration file, an argument of a tool or a quoted word. */
export const homePath = (path: string): string =>
  resolve(/^~(?=$|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path);
