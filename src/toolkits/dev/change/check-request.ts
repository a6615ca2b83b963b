import { ToolFault } from '../../../contract/faults.ts';
import { checkBranchName, checkHeadBranch } from '../git/branch-name.ts';
import { firstMatch } from '../git/glob.ts';
import { checkRepoPath, pathFault } from '../git/repo-path.ts';
import type { ChangeRequest, FileEdit } from './plan.ts';

export interface ChangeLimits {
  readonly protected_paths: readonly string[];
  readonly protected_branches: readonly string[];
  readonly max_files: number;
  readonly max_file_bytes: number;
  readonly max_change_bytes: number;
}

/** Everything that can be refused by looking at the request alone, before any repository is opened. */
export function checkRequest(request: Omit<ChangeRequest, 'body'>, limits: ChangeLimits): void {
  checkBranchName(request.baseBranch, 'base_branch');
  checkHeadBranch(request.headBranch, request.baseBranch, limits.protected_branches);
  if (request.files.length > limits.max_files) {
    throw new ToolFault(
      'invalid_input',
      `${request.files.length} files are more than dev.max_files (${limits.max_files}).`,
      {
        detail: { reason: 'path_policy_size' },
      },
    );
  }
  let total = 0;
  for (const file of request.files) total += checkFile(file, limits);
  if (total > limits.max_change_bytes) {
    throw new ToolFault(
      'invalid_input',
      `The files hold ${total} bytes; dev.max_change_bytes is ${limits.max_change_bytes}.`,
      {
        detail: { reason: 'path_policy_size' },
      },
    );
  }
  checkCollisions(request.files);
}

function checkFile({ path, modified_content }: FileEdit, limits: ChangeLimits): number {
  checkRepoPath(path);
  const rule = firstMatch(path, limits.protected_paths);
  if (rule)
    throw pathFault('path_policy_forbidden', path, `is protected by the rule ${rule} of dev.protected_paths`);
  const bytes = Buffer.byteLength(modified_content);
  if (bytes > limits.max_file_bytes) {
    throw pathFault(
      'path_policy_size',
      path,
      `holds ${bytes} bytes, more than dev.max_file_bytes (${limits.max_file_bytes})`,
    );
  }
  return bytes;
}

/** Two files that some file system would take for one, or a file that is another's folder. */
function checkCollisions(files: readonly FileEdit[]): void {
  const fold = (path: string) => path.normalize('NFKC').toLowerCase();
  const paths = new Set<string>();
  for (const { path } of files) {
    if (paths.has(fold(path)))
      throw pathFault(
        'path_policy_forbidden',
        path,
        'is given twice (letter case does not tell files apart)',
      );
    paths.add(fold(path));
  }
  for (const { path } of files) {
    const segments = fold(path).split('/');
    for (let depth = 1; depth < segments.length; depth += 1) {
      if (paths.has(segments.slice(0, depth).join('/'))) {
        throw pathFault('path_policy_forbidden', path, 'lies below a path that is given as a file');
      }
    }
  }
}
