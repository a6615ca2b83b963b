import { ToolError } from '../../../../contract/errors.ts';
import { shellWord } from '../../../../lib/text.ts';
import type { Plan } from '../../change/plan.ts';
import { isSameCommit, type Scratch, writeCommit, writeTree } from '../../git/build-commit.ts';
import type { Clone } from '../../git/clone.ts';
import { GitError } from '../../git/git.ts';
import type { Remote } from '../../git/remote.ts';
import type { Stamp, Trace } from '../port.ts';
import { authorName, type LocalStore, type PullRow } from './store.ts';

export interface PublishContext {
  readonly clone: Clone;
  readonly store: LocalStore;
  readonly scratch: Scratch;
  readonly remote: Remote | undefined;
  readonly author: { readonly name: string; readonly email: string };
  readonly draft: boolean;
}

/**
 * Builds the commit and makes it a branch with a pull request. The row is written first as `opening`, with the commit
 * it is to stand on; creating the branch is the one step that counts, so that a crash at any point can be settled by
 * looking at the branch alone.
 */
export async function publishChange(
  shop: PublishContext,
  plan: Plan,
  stamp: Stamp,
): Promise<{ row: PullRow; commit: string; existed: boolean }> {
  const { clone, store, scratch, remote } = shop;
  return scratch.use(async (folder) => {
    const tree = await writeTree(clone, plan, folder, stamp.signal);
    const here = await clone.branch(plan.headBranch, stamp.signal);
    const existing = here ?? (await pushedBranch(shop, plan.headBranch, stamp.signal));
    if (existing !== undefined) await requireSame(shop, existing, tree, plan);
    const live = existing && (await store.livePull(plan.headBranch, existing, plan.baseBranch));
    const commit = existing ?? (await commitPlan(shop, plan, tree, stamp));
    const row = live || (await store.addPull(openingRow(plan, commit, stamp, shop.draft)));
    try {
      await remote?.create(plan.headBranch, commit, stamp.signal);
      if (here === undefined) await createBranch(clone, plan, commit, remote === undefined);
    } catch (error) {
      // What may have happened stays written down for reconcile; what certainly did not is forgotten.
      const certain = !(error instanceof ToolError && error.effect !== 'none');
      if (certain && !live) await store.dropOpening(row.number);
      throw error;
    }
    await store.setPull(row.number, { state: 'open' });
    return { row: { ...row, state: 'open' }, commit, existed: existing !== undefined };
  });
}

/**
 * Looks for the branch an interrupted publish was to make, and notes in our own store that its pull request is open, or
 * forgets it. Git is only read: a branch that was pushed and never made here is taken over by the next equal call.
 */
export async function settlePublish(shop: PublishContext, trace: Trace): Promise<PullRow | undefined> {
  const { clone, store, remote } = shop;
  const row = await store.pullOfCall(trace.callId);
  if (row?.state !== 'opening') return row;
  const here = await clone.branch(row.head_ref, trace.signal);
  const pushed = async () => !remote || (await remote.branch(row.head_ref, trace.signal)) !== undefined;
  if (here === row.head_commit && (await pushed())) {
    await store.setPull(row.number, { state: 'open' });
    return { ...row, state: 'open' };
  }
  await store.dropOpening(row.number);
  return undefined;
}

/** What an interrupted call pushed and never made here. Its commit is brought here to be compared. */
async function pushedBranch(
  { clone, remote }: PublishContext,
  branch: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const there = await remote?.branch(branch, signal);
  if (there !== undefined && (await clone.commit(there, signal)) === undefined)
    await remote?.fetch(branch, signal);
  return there;
}

async function requireSame(
  { clone }: PublishContext,
  existing: string,
  tree: string,
  plan: Plan,
): Promise<void> {
  if (await isSameCommit(clone, existing, { tree, parent: plan.baseCommit, message: plan.message })) return;
  throw new ToolError(
    'conflict',
    `The branch ${plan.headBranch} already exists at ${existing.slice(0, 12)} with different content. Choose another head_branch.`,
    { detail: { reason: 'branch_exists', head_branch: plan.headBranch, commit: existing } },
  );
}

function commitPlan(
  { clone, author }: PublishContext,
  plan: Plan,
  tree: string,
  stamp: Stamp,
): Promise<string> {
  const draft = { tree, parents: [plan.baseCommit], message: plan.message, author, at: stamp.at };
  return writeCommit(clone, draft, stamp.signal);
}

/** In one transaction of git: the branch is made only where none is, and only while the base has not moved. */
async function createBranch(clone: Clone, plan: Plan, commit: string, baseIsHere: boolean): Promise<void> {
  const verify = baseIsHere ? `verify refs/heads/${plan.baseBranch} ${plan.baseCommit}\n` : '';
  try {
    // No signal: from here on the call is answered by what git did.
    await clone.run(['update-ref', '--stdin'], {
      input: `${verify}create refs/heads/${plan.headBranch} ${commit}\n`,
    });
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause;
    // An equal call that ran at the same time took our push over.
    if ((await clone.branch(plan.headBranch)) === commit) return;
    const base = baseIsHere ? await clone.branch(plan.baseBranch) : plan.baseCommit;
    if (base !== plan.baseCommit) {
      throw new ToolError(
        'conflict',
        `${plan.baseBranch} moved while the branch was being created; nothing was changed.`,
        {
          detail: { reason: 'base_moved', base_branch: plan.baseBranch },
          cause,
        },
      );
    }
    throw new ToolError(
      'conflict',
      `git could not create the branch ${plan.headBranch}: a branch of that name, or of a name below or above it, exists.`,
      { detail: { reason: 'branch_exists', head_branch: plan.headBranch }, cause },
    );
  }
}

const openingRow = (plan: Plan, commit: string, stamp: Stamp, draft: boolean) => ({
  title: plan.title,
  body: plan.body,
  state: 'opening' as const,
  draft: draft ? 1 : 0,
  base_ref: plan.baseBranch,
  base_commit: plan.baseCommit,
  head_ref: plan.headBranch,
  head_commit: commit,
  author: authorName(stamp.author),
  run_id: stamp.runId,
  call_id: stamp.callId,
  created_at: stamp.at.toISOString(),
});

/** The git commands `publish` runs, written for a person who wants to check them. */
export function plannedCommands(
  plan: Plan,
  folder: string,
  remote: string | undefined,
  how: 'publish' | 'update' = 'publish',
): readonly string[] {
  const git = `git -C ${shellWord(folder)}`;
  const ref = shellWord(`refs/heads/${plan.headBranch}`);
  return [
    `GIT_INDEX_FILE=<temporary> ${git} read-tree ${plan.baseCommit}`,
    ...plan.files.map(({ path }) => `${git} hash-object -w --no-filters --stdin < ${shellWord(path)}`),
    ...plan.files.map(
      ({ path, mode }) =>
        `GIT_INDEX_FILE=<temporary> ${git} update-index --add --cacheinfo ${mode},<blob>,${shellWord(path)}`,
    ),
    ...plan.removed.map(
      (path) => `GIT_INDEX_FILE=<temporary> ${git} update-index --force-remove ${shellWord(path)}`,
    ),
    `GIT_INDEX_FILE=<temporary> ${git} write-tree`,
    `${git} commit-tree <tree> -p ${plan.baseCommit} -m ${shellWord(plan.message)}`,
    ...(remote ? [`${git} push ${shellWord(remote)} <commit>:${ref}`] : []),
    `${git} update-ref ${ref} <commit> ${how === 'update' ? plan.baseCommit : "''"}`,
    ...(how === 'update' ? [] : [opening(plan)]),
  ];
}

const opening = (plan: Plan): string =>
  `open pull request ${shellWord(plan.title)} from ${shellWord(plan.headBranch)} into ${shellWord(plan.baseBranch)}`;
