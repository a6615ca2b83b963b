import { ToolFault } from '../../../contract/faults.ts';
import { matchesWhole } from './glob.ts';

const MAX_BYTES = 200;
const PLAIN = /^[A-Za-z0-9._/+#=@-]+$/;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;
/** Names git itself gives a meaning, alone or as the first segment. */
const RESERVED_ALONE = /^(@|head|[a-z_]*_head|stash|bisect_.*|auto_merge)$/i;
const RESERVED_FIRST = /^(refs|heads|tags|remotes|origin|head|notes|worktree|main-worktree|worktrees)$/i;
/** Whole, or short as people type it: git would take the branch where they mean the commit. */
const COMMIT_ID = /^([0-9a-f]{40}|[0-9a-f]{64}|(?=.*[0-9])(?=.*[a-f])[0-9a-f]{7,64})$/i;

/** Refuses a branch name that git, a shell, another file system or a reader could take for something else. */
export function checkBranchName(name: string, argument: 'base_branch' | 'head_branch'): void {
  const problem = branchProblem(name);
  if (problem) {
    throw new ToolFault('invalid_input', `${argument} ${JSON.stringify(name.slice(0, 200))} ${problem}.`, {
      detail: { reason: 'branch_name_invalid', argument },
    });
  }
}

/** Besides being well formed, a new branch must not be one the configuration protects. */
export function checkHeadBranch(name: string, base: string, protectedBranches: readonly string[]): void {
  checkBranchName(name, 'head_branch');
  const fold = (text: string) => text.toLowerCase();
  if (fold(name) === fold(base)) {
    throw new ToolFault(
      'invalid_input',
      `head_branch ${name} and base_branch ${base} are one branch; a change needs a branch of its own.`,
      {
        detail: { reason: 'branch_name_invalid', argument: 'head_branch' },
      },
    );
  }
  if (protectedBranches.some((pattern) => matchesWhole(name, pattern))) {
    throw new ToolFault(
      'not_allowed',
      `${name} is a protected branch (dev.protected_branches). Choose another head_branch.`,
      {
        detail: { reason: 'branch_protected', argument: 'head_branch' },
      },
    );
  }
}

function branchProblem(name: string): string | undefined {
  if (name.trim() === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (!PLAIN.test(name)) return 'may hold only letters, digits and . _ / + # = @ -';
  if (name.startsWith('-')) return 'must not start with a dash';
  if (name.includes('..') || name.includes('//')) return 'must not hold .. or //';
  if (name.startsWith('/') || name.endsWith('/')) return 'must not begin or end with a slash';
  if (RESERVED_ALONE.test(name)) return 'is a name git reserves';
  if (COMMIT_ID.test(name)) return 'looks like a commit id';
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
