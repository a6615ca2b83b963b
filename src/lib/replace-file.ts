import { chmodSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './file-error.ts';

/** Written next to it and renamed: a crash leaves the old file or the new one. A link stays a link. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  makeFolder(dirname(path), 0o700);
  const target = targetOf(path);
  const next = `${target}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600 });
  try {
    chmodSync(next, statSync(target).mode & 0o777);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  renameSync(next, target);
}

/** People keep the configuration of their clients in one repository and link to it. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return path;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
