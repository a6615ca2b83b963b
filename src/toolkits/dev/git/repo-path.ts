import { ToolFault } from '../../../contract/faults.ts';

const MAX_PATH_BYTES = 1024;
const MAX_SEGMENT_BYTES = 240;
/** Device names that Windows gives a meaning of their own, with any extension. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;
/** Control characters, the separators and wildcards of Windows, and marks that reorder, hide or show nothing. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\:*?"<>|\u115f\u1160\u3164\uffa0]/u;

/**
 * Refuses every path that is not a plain relative path on all systems. Nothing is repaired: a caller who means another
 * path must say so. The message kinds are the documented ones: empty, traversal, forbidden.
 */
export function checkRepoPath(path: string): void {
  if (path.trim() === '') throw pathFault('path_policy_empty', path, 'is empty');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw pathFault('path_policy_forbidden', path, `is longer than ${MAX_PATH_BYTES} bytes`);
  }
  if (FORBIDDEN.test(path)) {
    throw pathFault(
      'path_policy_forbidden',
      path,
      'holds a character that paths may not hold here (control, \\ : * ? " < > | or invisible)',
    );
  }
  if (path.startsWith('/') || path.startsWith('~')) {
    throw pathFault('path_policy_traversal', path, 'must be relative to the root of the repository');
  }
  if (path.startsWith('-')) throw pathFault('path_policy_forbidden', path, 'must not start with a dash');
  for (const segment of path.split('/')) checkSegment(path, segment);
}

function checkSegment(path: string, segment: string): void {
  if (segment === '') throw pathFault('path_policy_traversal', path, 'has an empty segment');
  if (segment === '.' || segment === '..')
    throw pathFault('path_policy_traversal', path, `has a ${segment} segment`);
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    throw pathFault('path_policy_forbidden', path, `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`);
  }
  if (/[. ]$/.test(segment) || segment.startsWith(' ')) {
    throw pathFault(
      'path_policy_forbidden',
      path,
      'has a segment that begins or ends with a space, or ends with a dot',
    );
  }
  if (isGitFolder(segment)) throw pathFault('path_policy_forbidden', path, 'would reach into .git');
  if (WINDOWS_DEVICE.test(segment)) {
    throw pathFault('path_policy_forbidden', path, `has the segment ${segment}, which Windows reserves`);
  }
}

/** `.git` in any case or Unicode disguise, and the short names Windows gives it. */
function isGitFolder(segment: string): boolean {
  const plain = segment
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();
  return plain === '.git' || /^gi[a-z0-9]*~\d+$/.test(plain) || plain === '.git~1';
}

export type PathReason =
  | 'path_policy_empty'
  | 'path_policy_traversal'
  | 'path_policy_forbidden'
  | 'path_policy_symlink'
  | 'path_policy_size';

export const pathFault = (reason: PathReason, path: string, what: string): ToolFault =>
  new ToolFault('not_allowed', `The path ${JSON.stringify(path.slice(0, 200))} ${what}.`, {
    detail: { reason, path: path.slice(0, 200) },
  });
