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
  const { path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  const place = dest ?? path;
  const reason = place && fileReason(error, place);
  return reason && `${place} cannot be used: ${reason}.`;
}

/** The same without the path, for whoever names it anyway. */
export function fileReason(error: Error, place: string): string | undefined {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // A program that is missing is no file somebody named.
  if (syscall?.startsWith('spawn')) return undefined;
  const folder = dirname(place);
  if (code === 'ENOENT' && !existsSync(folder)) return `there is no folder ${folder}`;
  if (code === 'ENOENT' && syscall === 'mkdir') return 'no folder can be made there';
  // Making folders down a path, a file in the way is all that can exist.
  if (code === 'EEXIST' && syscall === 'mkdir') return 'this is a file, not a folder';
  return REASONS[code];
}
