import { ToolError } from '../../../../contract/errors.ts';
import { shellWord } from '../../../../lib/text.ts';
import type { Plan } from '../../change/plan.ts';
import { isSameCommit, writeCommit, writeTree } from '../../git/build-commit.ts';
import { GitError } from '../../git/git.ts';
import type { Stamp, Trace } from '../port.ts';
import { worktreeOn } from './merge.ts';
import type { PublishContext } from './publish.ts';
import type { PullRow } from './store.ts';

/**
 * Adds a commit to the branch of a pull request. The commit is noted before the branch moves, so that a crash between
 * the two can be settled by looking at the branch alone. The branch moves only from the commit the plan was made on.
 */
export async function updatePull(
  shop: PublishContext,
  row: PullRow,
  plan: Plan,
  stamp: Stamp,
): Promise<string> {
  const { clone, store, scratch, remote, author } = shop;
  const folder = await worktreeOn(clone, row.head_ref);
  if (folder !== undefined) {
    throw new ToolError(
      'conflict',
      `${row.head_ref} is checked out in ${folder}; moving it would leave the files there behind.`,
      {
        hint: 'A person must switch that working tree to another branch first.',
        detail: { reason: 'branch_checked_out', head_branch: row.head_ref },
      },
    );
  }
  return scratch.use(async (temporary) => {
    const tree = await writeTree(clone, plan, temporary, stamp.signal);
    const draft = { tree, parents: [plan.baseCommit], message: plan.message, author, at: stamp.at };
    const commit =
      (await pushedUpdate(shop, tree, plan, stamp.signal)) ?? (await writeCommit(clone, draft, stamp.signal));
    await store.setPull(row.number, { update_call_id: stamp.callId, update_commit: commit });
    await remote?.advance(row.head_ref, plan.baseCommit, commit, stamp.signal);
    await moveBranch(shop, row.head_ref, plan.baseCommit, commit);
    await store.setPull(row.number, { head_commit: commit });
    return commit;
  });
}

/** The same change as an interrupted call pushed it; its commit is reused. */
async function pushedUpdate(
  { clone, remote }: PublishContext,
  tree: string,
  { baseCommit: parent, message, headBranch }: Plan,
  signal: AbortSignal,
): Promise<string | undefined> {
  const there = await remote?.branch(headBranch, signal);
  if (there === undefined || there === parent) return undefined;
  if ((await clone.commit(there, signal)) === undefined) await remote?.fetch(headBranch, signal);
  if (await isSameCommit(clone, there, { tree, parent, message })) return there;
  throw headMoved(headBranch);
}

const headMoved = (branch: string, cause?: unknown): ToolError =>
  new ToolError('conflict', `${branch} moved since the approval was given; nothing was changed.`, {
    hint: 'Read the branch again and ask for a new approval.',
    detail: { reason: 'head_moved', head_branch: branch },
    cause,
  });

async function moveBranch(
  { clone, remote }: PublishContext,
  branch: string,
  from: string,
  to: string,
): Promise<void> {
  try {
    // No signal: from here on the call is answered by what git did.
    const note = ['-m', 'countersign: update pull request'];
    await clone.run(['update-ref', ...note, `refs/heads/${branch}`, to, from]);
  } catch (cause) {
    if (!(cause instanceof GitError) || (await clone.branch(branch)) === to) throw cause;
    if (!remote) throw headMoved(branch, cause);
    throw new ToolError(
      'conflict',
      `${branch} moved in the clone while the commit was being pushed to ${remote.name}.`,
      { detail: { reason: 'head_moved', head_branch: branch }, cause, effect: 'unknown' },
    );
  }
}

/** Done exactly when the branch holds the commit that was noted for this call. */
export async function settleUpdate(
  { clone, store }: PublishContext,
  number: number,
  { callId, signal }: Trace,
): Promise<PullRow | undefined> {
  const row = await store.pull(number);
  if (row?.update_call_id !== callId || !row.update_commit) return undefined;
  const head = await clone.branch(row.head_ref, signal);
  if (head === undefined || !(await clone.isAncestor(row.update_commit, head))) return undefined;
  await store.setPull(number, { head_commit: row.update_commit });
  return { ...row, head_commit: row.update_commit };
}

/** What an interrupted update pushed and never made here, as a sentence for the person. */
export async function unfinishedUpdate(
  { clone, store, remote }: PublishContext,
  number: number,
  { callId, signal }: Trace,
): Promise<string | undefined> {
  const row = await store.pull(number);
  if (!remote || row?.update_call_id !== callId || !row.update_commit) return undefined;
  if ((await remote.branch(row.head_ref, signal)) !== row.update_commit) return undefined;
  const folder = shellWord(clone.folder);
  return `The commit ${row.update_commit.slice(0, 12)} is on the remote ${remote.name} as ${row.head_ref}, but not in the clone. The same call with the same permit continues; a person can also run: git -C ${folder} update-ref ${shellWord(`refs/heads/${row.head_ref}`)} ${row.update_commit}`;
}
