import { ToolError } from '../../../../contract/errors.ts';
import type { Plan } from '../../change/plan.ts';
import type { Published, Pull, SentUpdate, Stamp } from '../port.ts';
import { branchHead, writeCommit, writeTree } from './publish.ts';
import { type GithubRepo, writeOnce } from './repo.ts';

/** Adds a commit to the branch of a pull request. GitHub moves it only forward from the commit the plan was made on. */
export async function updatePull(
  repo: GithubRepo,
  plan: Plan,
  stamp: Stamp,
  readPull: (signal: AbortSignal) => Promise<Pull>,
): Promise<Published> {
  const tree = await writeTree(repo, plan, stamp.signal);
  const commit = await writeCommit(repo, plan, tree, stamp.signal);
  const look = async (late: AbortSignal) =>
    (await branchHead(repo, plan.headBranch, late)) === commit ? true : undefined;
  try {
    await writeOnce(async () => {
      await repo.write('code:write', `move the branch ${plan.headBranch}`, (octokit) =>
        octokit.rest.git.updateRef({
          ...repo.at(stamp.signal),
          ref: `heads/${plan.headBranch}`,
          sha: commit,
          force: false,
        }),
      );
      return true;
    }, look);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'invalid_input') throw error;
    throw new ToolError(
      'conflict',
      `${plan.headBranch} moved since the approval was given. ${error.message}`,
      {
        hint: 'Read the branch again and ask for a new approval.',
        detail: { reason: 'head_moved', head_branch: plan.headBranch },
        cause: error,
      },
    );
  }
  return { commit, existed: false, pull: await readPull(stamp.signal) };
}

/** Whether the branch is at a commit of this message right after the head that the update was bound to. */
export async function findUpdate(
  repo: GithubRepo,
  pull: Pull,
  { previousHead, message }: SentUpdate,
  signal: AbortSignal,
): Promise<Published | undefined> {
  const found = await repo.find('code:read', 'read the branch', (octokit) =>
    octokit.rest.git.getCommit({ ...repo.at(signal), commit_sha: pull.head.sha }),
  );
  if (found?.data.message.trim() !== message.trim()) return undefined;
  if (found.data.parents[0]?.sha !== previousHead) return undefined;
  return { commit: pull.head.sha, pull, existed: false };
}

/** The requests `publish` and `update` send, written for a person who wants to check them. */
export function plannedRequests(
  plan: Plan,
  path: string,
  how: 'publish' | 'update' = 'publish',
): readonly string[] {
  const ref = JSON.stringify(`refs/heads/${plan.headBranch}`);
  return [
    ...plan.files.map((file) => `POST ${path}/git/blobs (${JSON.stringify(file.path)})`),
    ...plan.removed.map((file) => `DELETE ${JSON.stringify(file)} from the tree`),
    `POST ${path}/git/trees on ${plan.baseCommit}`,
    `POST ${path}/git/commits ${JSON.stringify(plan.message)}`,
    ...(how === 'update'
      ? [`PATCH ${path}/git/${ref} from ${plan.baseCommit}`]
      : [
          `POST ${path}/git/refs ${ref}`,
          `POST ${path}/pulls ${JSON.stringify(plan.title)} from ${JSON.stringify(plan.headBranch)} into ${JSON.stringify(plan.baseBranch)}`,
        ]),
  ];
}
