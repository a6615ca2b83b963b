import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'this is a folder, not a file',
  EEXIST: 'it exists already',
  EACCES: 'you may not read or write there',
  EPERM: 'the system does not allow it',
  EROFS: 'this disk is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
};

/** What a file system error means, in plain words with its path; undefined when it is no such error. */
export function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', path, dest, syscall } = error as NodeJS.ErrnoException & { dest?: string };
  // A program that is missing is no file somebody named.
  if (!REASONS[code] || path === undefined || syscall?.startsWith('spawn')) return undefined;
  const place = dest ?? path;
  return `${place} cannot be used: ${reason(code, place, syscall)}.`;
}

function reason(code: string, place: string, syscall: string | undefined): string | undefined {
  const folder = dirname(place);
  if (code === 'ENOENT' && !existsSync(folder)) return `there is no folder ${folder}`;
  // Making folders down a path, a file in the way is all that can exist.
  if (code === 'EEXIST' && syscall === 'mkdir') return 'this is a file, not a folder';
  return REASONS[code];
}
