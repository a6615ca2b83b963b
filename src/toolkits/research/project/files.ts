import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';

/** Where QualCoder keeps what `mediapath` names. */
const FOLDERS: { readonly [prefix: string]: string } = {
  docs: 'documents',
  images: 'images',
  audio: 'audio',
  video: 'video',
};

export const PROJECT_FOLDERS: readonly string[] = Object.values(FOLDERS);

/** `/docs/interview.txt` → `documents/interview.txt`; refuses anything that could leave the folder. */
export function placeInProject(mediaPath: string): string {
  const match = /^\/(docs|images|audio|video)\/([^/\\]+)$/.exec(mediaPath);
  const [, prefix = '', name = ''] = match ?? [];
  if (!match || name === '.' || name === '..' || name.includes('\0')) {
    throw new ToolFault(
      'validation_error',
      `"${mediaPath}" is not a place inside a project, such as /docs/interview.txt.`,
    );
  }
  return join(FOLDERS[prefix] ?? '', name);
}

/** Writes a file durably. One with the same bytes may be there already, left by a change that was undone. */
export function addFile(
  project: string,
  place: string,
  body: Uint8Array,
): { readonly hash: string; readonly added: boolean } {
  const path = join(project, place);
  const hash = hashBytes(body);
  if (existsSync(path)) {
    if (hashBytes(readFileSync(path)) === hash) return { hash, added: false };
    throw new ToolFault('conflict', `The project already has another file ${place}; use another name.`);
  }
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'wx');
  try {
    writeSync(file, body);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { hash, added: true };
}

/** Takes a file away again if it is still what was added. */
export function removeFile(project: string, place: string, hash: string): boolean {
  const path = join(project, place);
  if (!existsSync(path) || hashBytes(readFileSync(path)) !== hash) return false;
  rmSync(path);
  return true;
}

const hashBytes = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');
