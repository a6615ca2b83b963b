import { ToolError } from '../../../../contract/errors.ts';
import { writeCommit } from '../../git/build-commit.ts';
import type { Clone } from '../../git/clone.ts';
import { GitError } from '../../git/git.ts';
import type { Stamp } from '../port.ts';
import type { PublishContext } from './publish.ts';
import { authorName, type PullRow } from './store.ts';

export type MergeMethod = 'merge' | 'squash';

/** The tree of merging two commits, or undefined when they conflict. Needs git 2.38. */
export async function mergedTree(
  clone: Clone,
  base: string,
  head: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { code, stdout } = await clone.run(['merge-tree', '--write-tree', '--no-messages', base, head], {
    answers: [1],
    signal,
  });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/**
 * Merges a local pull request for a person. The merge commit is noted before the base branch moves, so that a crash
 * between the two can be settled. Where the base is checked out, git itself moves that working tree, without filters or
 * hooks, and only if no uncommitted change stands in the way.
 */
export async function mergePull(
  shop: PublishContext,
  row: PullRow,
  head: string,
  method: MergeMethod,
  stamp: Stamp,
): Promise<string> {
  const { clone, store, author } = shop;
  const base = await clone.branch(row.base_ref, stamp.signal);
  if (base === undefined) {
    throw new ToolError('not_found', `The base branch ${row.base_ref} is not in the clone.`, {
      detail: { base: row.base_ref },
    });
  }
  const tree = await mergedTree(clone, base, head, stamp.signal);
  if (tree === undefined) {
    throw new ToolError(
      'conflict',
      `Pull request ${row.number} conflicts with ${row.base_ref}; merge it by hand in the clone.`,
      {
        detail: { reason: 'merge_conflict', pr_number: row.number },
      },
    );
  }
  const message =
    method === 'squash'
      ? `${row.title} (#${row.number})\n\n${row.body}`.trimEnd()
      : `Merge pull request #${row.number} from ${row.head_ref}\n\n${row.title}`;
  const parents = method === 'squash' ? [base] : [base, head];
  const commit = await writeCommit(clone, { tree, parents, message, author, at: stamp.at }, stamp.signal);
  await store.setPull(row.number, { merge_commit: commit, merge_call_id: stamp.callId });
  try {
    await moveBranch(clone, row.base_ref, base, commit);
  } catch (error) {
    await store.setPull(row.number, { merge_commit: null, merge_call_id: null });
    throw error;
  }
  await finishMerge(shop, row, [base, head], stamp.at, authorName(stamp.author));
  return commit;
}

/** Settles an interrupted merge: done exactly when the base branch holds the commit that was noted. */
export async function settleMerge(
  shop: PublishContext,
  callId: string,
  at: Date,
): Promise<PullRow | undefined> {
  const row = await shop.store.pullOfMerge(callId);
  if (!row?.merge_commit || row.state === 'merged') return row;
  const base = await shop.clone.branch(row.base_ref);
  if (base !== undefined && (await shop.clone.isAncestor(row.merge_commit, base))) {
    const head = (await shop.clone.branch(row.head_ref)) ?? row.head_commit;
    await finishMerge(shop, row, [`${row.merge_commit}^1`, head], at, 'person:unknown');
    return { ...row, state: 'merged' };
  }
  await shop.store.setPull(row.number, { merge_commit: null, merge_call_id: null });
  return undefined;
}

const FIXES = /\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?):?\s+#(\d{1,9})\b/gi;

/**
 * Notes the merge. Issues that the pull request or its commits say they fix are closed first, as GitHub does: the state
 * `merged` is then the last thing written, and what was cut off before it is done again when the merge is settled.
 */
async function finishMerge(
  { clone, store }: PublishContext,
  row: PullRow,
  [base, head]: readonly [base: string, head: string],
  at: Date,
  by: string,
): Promise<void> {
  const messages = await clone.text(['log', '--no-show-signature', '--format=%B', `${base}..${head}`]);
  const fixed = [...`${row.title}\n${row.body}\n${messages}`.matchAll(FIXES)];
  for (const number of new Set(fixed.map(([, digits]) => Number(digits))))
    await store.closeIssue(number, by, at.toISOString());
  await store.setPull(row.number, {
    state: 'merged',
    head_commit: head,
    closed_at: at.toISOString(),
    closed_by: by,
  });
}

async function moveBranch(clone: Clone, branch: string, from: string, to: string): Promise<void> {
  const worktree = await worktreeOn(clone, branch);
  try {
    if (worktree === undefined) {
      await clone.run([
        'update-ref',
        '-m',
        'countersign: merge pull request',
        `refs/heads/${branch}`,
        to,
        from,
      ]);
    } else {
      // Explicit, because branch.NAME.mergeOptions may say otherwise.
      const options = ['--ff-only', '--no-squash', '--commit', '--no-autostash', '--no-verify-signatures'];
      await clone.runIn(worktree, ['merge', '--quiet', ...options, to]);
    }
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause;
    const where =
      worktree === undefined ? 'it has moved since then' : `uncommitted changes in ${worktree} prevent it`;
    throw new ToolError(
      'conflict',
      `${branch} could not be moved to the merge: ${where}. Nothing was changed.`,
      {
        detail: { reason: 'base_busy', base_branch: branch },
        cause,
      },
    );
  }
}

/** The folder in which a branch is checked out, if any. */
export async function worktreeOn(clone: Clone, branch: string): Promise<string | undefined> {
  const text = (await clone.run(['worktree', 'list', '--porcelain', '-z'])).stdout.toString('utf8');
  let folder: string | undefined;
  for (const field of text.split('\0')) {
    if (field.startsWith('worktree ')) folder = field.slice('worktree '.length);
    else if (field === 'bare') folder = undefined;
    else if (field === `branch refs/heads/${branch}`)
      // Where the git folder is apart from the files, as a submodule's is, git names the git folder.
      return folder === clone.gitDir ? ((await clone.workTree()) ?? folder) : folder;
  }
  return undefined;
}
