import { ToolError } from '../../../contract/errors.ts';
import type { PreviewFile } from '../../../contract/preview.ts';
import {
  checkBranchName,
  checkHeadBranch,
  checkRepoPath,
  firstMatch,
  matchesGlob,
  pathError,
} from '../git/names.ts';
import type { ChangeRequest, FileEdit } from './plan.ts';

export interface ChangeLimits {
  readonly protected_paths: readonly string[];
  readonly allow_protected: readonly string[];
  readonly path_allowlist?: readonly string[] | undefined;
  readonly protected_branches: readonly string[];
  readonly max_files: number;
  readonly max_file_bytes: number;
  readonly max_change_bytes: number;
}

/** Everything that can be refused by looking at the request alone, before any repository is opened. */
export function checkRequest(request: Omit<ChangeRequest, 'body'>, limits: ChangeLimits): void {
  checkBranchName(request.baseBranch, 'base_branch');
  checkHeadBranch(request.headBranch, request.baseBranch, limits.protected_branches);
  checkFiles(request.files, limits);
}

export function checkFiles(files: readonly FileEdit[], limits: ChangeLimits): void {
  if (files.length > limits.max_files) {
    throw new ToolError(
      'invalid_input',
      `${files.length} files exceed dev.max_files (${limits.max_files}).`,
      {
        detail: { reason: 'path_policy_size' },
      },
    );
  }
  let total = 0;
  for (const file of files) total += checkFile(file, limits);
  if (total > limits.max_change_bytes) {
    throw new ToolError(
      'invalid_input',
      `The files have ${total} bytes; dev.max_change_bytes is ${limits.max_change_bytes}.`,
      {
        detail: { reason: 'path_policy_size' },
      },
    );
  }
  checkCollisions(files);
}

const pathsOf = ({ path, previous_path }: FileEdit): string[] =>
  previous_path === undefined ? [path] : [previous_path, path];

function checkFile(file: FileEdit, limits: ChangeLimits): number {
  for (const path of pathsOf(file)) checkPath(path, limits);
  checkForm(file);
  const { path, modified_content, encoding } = file;
  const bytes = Buffer.byteLength(modified_content, encoding === 'base64' ? 'base64' : 'utf8');
  if (bytes > limits.max_file_bytes) {
    throw pathError(
      'path_policy_size',
      path,
      `has ${bytes} bytes, more than dev.max_file_bytes (${limits.max_file_bytes})`,
    );
  }
  return bytes;
}

function checkPath(path: string, limits: ChangeLimits): void {
  checkRepoPath(path);
  const rule = firstMatch(path, limits.protected_paths);
  if (rule && !firstMatch(path, limits.allow_protected))
    throw pathError(
      'path_policy_forbidden',
      path,
      `is protected by the rule ${rule} of dev.protected_paths. A person can allow it with dev.allow_protected`,
    );
  if (limits.path_allowlist && !firstMatch(path, limits.path_allowlist))
    throw pathError('path_policy_forbidden', path, 'is not in dev.path_allowlist');
}

/** Which fields make sense together. */
function checkForm(file: FileEdit): void {
  const { path, modified_content, encoding } = file;
  const problem = ((): string | undefined => {
    if ((file.delete || file.keep_content) && modified_content !== '')
      return 'has content, but is deleted or keeps the content of the base; leave modified_content empty';
    if (
      file.delete &&
      (file.keep_content || file.previous_path !== undefined || file.executable !== undefined)
    )
      return 'is deleted and cannot also be moved, kept or given a mode';
    if (file.keep_content && file.previous_path === undefined && file.executable === undefined)
      return 'keeps its content, path and mode; give previous_path or executable';
    if (encoding === 'base64') {
      const texts = [modified_content, file.original_content ?? ''];
      if (texts.some((text) => Buffer.from(text, 'base64').toString('base64') !== text.replace(/\s/g, '')))
        return 'is not valid base64';
    }
    return undefined;
  })();
  if (problem)
    throw new ToolError('invalid_input', `The file ${JSON.stringify(path.slice(0, 200))} ${problem}.`, {
      detail: { reason: 'file_form', path: path.slice(0, 200) },
    });
}

/** Two files that some file system would take for one, or a file that is another's folder. */
function checkCollisions(files: readonly FileEdit[]): void {
  const fold = (path: string) => path.normalize('NFKC').toLowerCase();
  const all = files.flatMap(pathsOf);
  const paths = new Set<string>();
  for (const path of all) {
    if (paths.has(fold(path)))
      throw pathError(
        'path_policy_forbidden',
        path,
        'is given twice (paths are compared without letter case)',
      );
    paths.add(fold(path));
  }
  for (const path of all) {
    const segments = fold(path).split('/');
    for (let depth = 1; depth < segments.length; depth += 1) {
      if (paths.has(segments.slice(0, depth).join('/'))) {
        throw pathError('path_policy_forbidden', path, 'is below a path that is given as a file');
      }
    }
  }
}

/** Files that make other people's machines run something and are not protected. */
const WATCHED: readonly (readonly [pattern: string, why: string])[] = [
  ['Makefile', 'is run by build tools'],
  ['Dockerfile', 'is run by build tools'],
  ['*.sh', 'is a shell script'],
  ['build.rs', 'runs at build time'],
  ['*-lock.*', 'pins dependencies'],
  ['*.lock', 'pins dependencies'],
  ['.lfsconfig', 'decides where Git LFS sends and fetches files'],
];

/** What the person who decides should look at twice, from the diff itself. Protected files come first. */
export function changeRisks(
  files: readonly PreviewFile[],
  emptied: ReadonlySet<string>,
  limits: ChangeLimits,
): string[] {
  const loud: string[] = [];
  const notes: string[] = [];
  for (const { path, previous_path, status, old_mode, new_mode, binary } of files) {
    for (const each of previous_path === undefined ? [path] : [previous_path, path]) {
      const rule = firstMatch(each, limits.protected_paths);
      if (rule) loud.push(`PROTECTED FILE: ${each} (rule ${rule})`);
    }
    const found = WATCHED.find(([pattern]) => matchesGlob(path, pattern));
    if (found) notes.push(`${path} ${found[1]}`);
    if (emptied.has(path)) notes.push(`${path} is emptied`);
    if (status === 'removed') notes.push(`${path} is deleted`);
    if (new_mode === '100755' && old_mode !== '100755') notes.push(`${path} becomes executable`);
    if (binary && status !== 'removed') notes.push(`${path} is binary and cannot be read here`);
  }
  return [...loud, ...notes];
}
