import { ToolError } from '../../../contract/errors.ts';

const MAX_BYTES = 200;
const PLAIN = /^[A-Za-z0-9._/+#=@-]+$/;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;
const WINDOWS_DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;
/** Names git itself gives a meaning, alone or as the first segment. */
const RESERVED_ALONE = /^(@|head|[a-z_]*_head|stash|bisect_.*|auto_merge)$/i;
const RESERVED_FIRST = /^(refs|heads|tags|remotes|origin|head|notes|worktree|main-worktree|worktrees)$/i;
/** Whole, or short as people type it: git would take the branch where they mean the commit. */
const COMMIT_ID = /^([0-9a-f]{40}|[0-9a-f]{64}|(?=.*[0-9])(?=.*[a-f])[0-9a-f]{7,64})$/i;

/** Refuses a branch name that git, a shell, another file system or a reader could take for something else. */
export function checkBranchName(name: string, argument: 'base_branch' | 'head_branch'): void {
  const problem = branchProblem(name);
  if (problem) {
    throw new ToolError('invalid_input', `${argument} ${JSON.stringify(name.slice(0, 200))} ${problem}.`, {
      detail: { reason: 'branch_name_invalid', argument },
    });
  }
}

/** Besides being well formed, a new branch must not be one the configuration protects. */
export function checkHeadBranch(name: string, base: string, protectedBranches: readonly string[]): void {
  checkBranchName(name, 'head_branch');
  const fold = (text: string) => text.toLowerCase();
  if (fold(name) === fold(base)) {
    throw new ToolError(
      'invalid_input',
      `head_branch ${name} and base_branch ${base} are the same branch; a change needs its own branch.`,
      {
        detail: { reason: 'branch_name_invalid', argument: 'head_branch' },
      },
    );
  }
  if (protectedBranches.some((pattern) => matchesWhole(name, pattern))) {
    throw new ToolError(
      'not_allowed',
      `${name} is a protected branch (dev.protected_branches). Choose another head_branch.`,
      {
        detail: { reason: 'branch_protected', argument: 'head_branch' },
      },
    );
  }
}

/** Git keeps branches as paths: one that exists is in the way of its own name, of names below it and of those above. */
export function requireFreeName(name: string, existing: readonly string[]): void {
  const taken = existing.find(
    (other) => other === name || other.startsWith(`${name}/`) || name.startsWith(`${other}/`),
  );
  if (taken === undefined || taken === '') return;
  const why =
    taken === name
      ? `The branch ${name} already exists.`
      : `A branch ${name} cannot be created: the branch ${taken} exists.`;
  throw new ToolError('conflict', `${why} Choose another head_branch.`, {
    hint: 'Choose another head_branch and ask again.',
    detail: { reason: 'branch_exists', head_branch: name, branch: taken },
  });
}

/** What git forbids in names, which is also what its revisions are written with: reflogs, ranges, paths, searches. */
const NO_NAME = /^[-/@]$|^-|^refs\/|@\{|\.\.|[\p{Cc} ~^:?*[\\]|^\/|\/$|\/\/|(^|\/)\.|\.$|\.lock(\/|$)/u;

/** Refuses a ref that is not the plain name of a branch or tag, or a commit ID. */
export function checkRef(ref: string): void {
  if (!NO_NAME.test(ref)) return;
  throw new ToolError(
    'invalid_input',
    `ref ${JSON.stringify(ref.slice(0, 200))} is not the name of a branch or tag, or a commit ID. Reflogs, ranges and other revisions are not accepted.`,
    {
      hint: 'Give the short name of a branch or tag, or a commit ID.',
      detail: { reason: 'ref_invalid', ref: ref.slice(0, 200) },
    },
  );
}

export const refError = (ref: string, where: string): ToolError =>
  new ToolError(
    'not_found',
    `No branch, tag or commit ${JSON.stringify(ref.slice(0, 200))} found ${where}.`,
    {
      hint: 'Leave ref out to read the branch of the run.',
      detail: { reason: 'ref_not_found', ref: ref.slice(0, 200) },
    },
  );

function branchProblem(name: string): string | undefined {
  if (name.trim() === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (!PLAIN.test(name)) return 'may contain only letters, digits and . _ / + # = @ -';
  if (name.startsWith('-')) return 'must not start with a dash';
  if (name.includes('..') || name.includes('//')) return 'must not contain .. or //';
  if (name.startsWith('/') || name.endsWith('/')) return 'must not begin or end with a slash';
  if (RESERVED_ALONE.test(name)) return 'is a name git reserves';
  if (COMMIT_ID.test(name)) return 'looks like a commit ID';
  const segments = name.split('/');
  if (RESERVED_FIRST.test(segments[0] ?? ''))
    return `must be the short name, without ${segments[0]}/ in front`;
  for (const segment of segments) {
    if (segment.startsWith('.') || segment.endsWith('.'))
      return 'has a segment that begins or ends with a dot';
    if (segment.startsWith('-')) return 'has a segment that begins with a dash';
    if (/\.lock$/i.test(segment)) return 'has a segment that ends in .lock';
    if (WINDOWS_DEVICE.test(segment)) return `has the segment ${segment}, which Windows reserves`;
  }
  return undefined;
}

const MAX_PATH_BYTES = 1024;
const MAX_SEGMENT_BYTES = 240;
/** Device names that Windows gives a meaning of their own, with any extension. */
/** Control characters, the separators and wildcards of Windows, and marks that reorder, hide or show nothing. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\:*?"<>|\u115f\u1160\u3164\uffa0]/u;

/**
 * Refuses every path that is not a plain relative path on all systems. Nothing is repaired: a caller who means another
 * path must say so. The message kinds are the documented ones: empty, traversal, forbidden.
 */
export function checkRepoPath(path: string): void {
  if (path.trim() === '') throw pathError('path_policy_empty', path, 'is empty');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw pathError('path_policy_forbidden', path, `is longer than ${MAX_PATH_BYTES} bytes`);
  }
  if (FORBIDDEN.test(path)) {
    throw pathError(
      'path_policy_forbidden',
      path,
      'contains a character that is not allowed in paths here (control, \\ : * ? " < > | or invisible)',
    );
  }
  if (path.startsWith('/') || path.startsWith('~')) {
    throw pathError('path_policy_traversal', path, 'must be relative to the root of the repository');
  }
  if (path.startsWith('-')) throw pathError('path_policy_forbidden', path, 'must not start with a dash');
  for (const segment of path.split('/')) checkSegment(path, segment);
}

function checkSegment(path: string, segment: string): void {
  if (segment === '') throw pathError('path_policy_traversal', path, 'has an empty segment');
  if (segment === '.' || segment === '..')
    throw pathError('path_policy_traversal', path, `has a ${segment} segment`);
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    throw pathError('path_policy_forbidden', path, `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`);
  }
  if (/[. ]$/.test(segment) || segment.startsWith(' ')) {
    throw pathError(
      'path_policy_forbidden',
      path,
      'has a segment that begins or ends with a space, or ends with a dot',
    );
  }
  if (isGitFolder(segment)) throw pathError('path_policy_forbidden', path, 'would reach into .git');
  if (WINDOWS_DEVICE_NAME.test(segment)) {
    throw pathError('path_policy_forbidden', path, `has the segment ${segment}, which Windows reserves`);
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

export const pathError = (reason: PathReason, path: string, what: string): ToolError =>
  new ToolError('not_allowed', `The path ${JSON.stringify(path.slice(0, 200))} ${what}.`, {
    detail: { reason, path: path.slice(0, 200) },
  });

/**
 * Globs over repository paths and branch names: `*` and `?` stay within a segment, `**` crosses them. A pattern without
 * a slash is matched against each segment, one that ends in a slash against that folder and everything below it. Case and
 * Unicode form are ignored, because some file systems ignore them too.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const folded = fold(path);
  const glob = fold(pattern.replace(/^\/+/, ''));
  if (glob.endsWith('/')) return compile(`${glob}**`).test(`${folded}/`);
  if (!glob.includes('/')) return folded.split('/').some((segment) => compile(glob).test(segment));
  return compile(glob).test(folded);
}

/** For branch names: the pattern covers the whole name, whether or not it has a slash. */
export const matchesWhole = (name: string, pattern: string): boolean =>
  compile(fold(pattern)).test(fold(name));

/** The first pattern that covers the path, for the message. */
export const firstMatch = (path: string, patterns: readonly string[]): string | undefined =>
  patterns.find((pattern) => matchesGlob(path, pattern));

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

const cache = new Map<string, RegExp>();

function compile(glob: string): RegExp {
  let regex = cache.get(glob);
  if (!regex) {
    regex = new RegExp(`^${glob.replace(/\*\*\/|\*\*|\*|\?|[^*?]/g, translate)}$`, 'su');
    cache.set(glob, regex);
  }
  return regex;
}

function translate(token: string): string {
  switch (token) {
    case '**/':
      return '(?:[^/]*/)*';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    default:
      return token.replace(/[\\^$.|+()[\]{}/]/, '\\$&');
  }
}
