import { ToolError } from '../../../../contract/errors.ts';
import type { Plan } from '../../change/plan.ts';
import type { Published, Pull, Stamp } from '../port.ts';
import { type GithubRepo, writeOnce } from './repo.ts';
import { hasMarker, type RawPull, toPull, withMarker } from './shapes.ts';

/**
 * Builds the change with the Git data API. Blobs, tree and commit are unreachable until the branch is created, and the
 * pull request carries the marker; what fails after the branch was made takes the branch away again.
 */
export async function publishChange(
  repo: GithubRepo,
  plan: Plan,
  stamp: Stamp,
  draft: boolean,
): Promise<Published> {
  const tree = await writeTree(repo, plan, stamp.signal);
  const existing = await branchHead(repo, plan.headBranch, stamp.signal);
  if (existing !== undefined) {
    await requireSame(repo, existing, tree, plan, stamp.signal);
    const isOurs = ({ state, base }: RawPull) => state === 'open' && base.ref === plan.baseBranch;
    const pull = await findPull(repo, plan.headBranch, stamp.signal, isOurs);
    if (pull) return { commit: existing, pull, existed: true };
    return { commit: existing, pull: await openPull(repo, plan, stamp, draft), existed: true };
  }
  const commit = await writeCommit(repo, plan, tree, stamp.signal);
  await createBranch(repo, plan, commit, stamp.signal);
  try {
    return { commit, pull: await openPull(repo, plan, stamp, draft), existed: false };
  } catch (error) {
    if (error instanceof ToolError && error.effect === 'unknown') throw error;
    throw await deleteOrphanBranch(repo, plan, commit, error);
  }
}

export async function writeTree(repo: GithubRepo, plan: Plan, signal: AbortSignal): Promise<string> {
  const at = repo.at(signal);
  const source = await repo.read('code:read', 'read the base commit', (octokit) =>
    octokit.rest.git.getCommit({ ...at, commit_sha: plan.baseCommit }),
  );
  const entries: { path: string; mode: '100644' | '100755'; type: 'blob'; sha: string | null }[] =
    plan.removed.map((path) => ({ path, mode: '100644', type: 'blob', sha: null }));
  for (const { path, mode, content } of plan.files) {
    // Nothing refers to these objects yet, so a lost answer changes nothing that anyone could see.
    const { data } = await harmless(() =>
      repo.write('code:write', `store ${path}`, (octokit) =>
        octokit.rest.git.createBlob({ ...at, content: content.toString('base64'), encoding: 'base64' }),
      ),
    );
    entries.push({ path, mode: mode === '100755' ? '100755' : '100644', type: 'blob', sha: data.sha });
  }
  const { data } = await harmless(() =>
    repo.write('code:write', 'store the tree', (octokit) =>
      octokit.rest.git.createTree({ ...at, base_tree: source.data.tree.sha, tree: entries }),
    ),
  );
  return data.sha;
}

export async function writeCommit(
  repo: GithubRepo,
  plan: Plan,
  tree: string,
  signal: AbortSignal,
): Promise<string> {
  const { data } = await harmless(() =>
    repo.write('code:write', 'store the commit', (octokit) =>
      octokit.rest.git.createCommit({
        ...repo.at(signal),
        message: plan.message,
        tree,
        parents: [plan.baseCommit],
      }),
    ),
  );
  return data.sha;
}

async function createBranch(
  repo: GithubRepo,
  plan: Plan,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const ref = `refs/heads/${plan.headBranch}`;
  const look = async (late: AbortSignal) =>
    (await branchHead(repo, plan.headBranch, late)) === commit ? true : undefined;
  try {
    await writeOnce(async () => {
      await repo.write('code:write', `create the branch ${plan.headBranch}`, (octokit) =>
        octokit.rest.git.createRef({ ...repo.at(signal), ref, sha: commit }),
      );
      return true;
    }, look);
  } catch (error) {
    if (error instanceof ToolError && error.code === 'invalid_input')
      throw branchTaken(plan.headBranch, undefined, error);
    throw error;
  }
}

async function openPull(repo: GithubRepo, plan: Plan, stamp: Stamp, draft: boolean): Promise<Pull> {
  return writeOnce(
    async () => {
      const { data } = await repo.write('code:write', 'open the pull request', (octokit) =>
        octokit.rest.pulls.create({
          ...repo.at(stamp.signal),
          title: plan.title,
          body: withMarker(plan.body, stamp.callId),
          head: plan.headBranch,
          base: plan.baseBranch,
          draft,
        }),
      );
      return toPull(data);
    },
    (signal) => findPull(repo, plan.headBranch, signal, ({ body }) => hasMarker(body, stamp.callId)),
  );
}

/** The branch was made for this pull request alone; without it the branch goes, if it has not moved since then. */
async function deleteOrphanBranch(
  repo: GithubRepo,
  plan: Plan,
  commit: string,
  error: unknown,
): Promise<unknown> {
  const signal = AbortSignal.timeout(15_000);
  try {
    if ((await branchHead(repo, plan.headBranch, signal)) === commit) {
      await repo.write('code:write', 'remove the branch again', (octokit) =>
        octokit.rest.git.deleteRef({ ...repo.at(signal), ref: `heads/${plan.headBranch}` }),
      );
    }
    return error;
  } catch {
    const said = error instanceof Error ? error.message : 'The pull request could not be opened.';
    return new ToolError(
      'unavailable',
      `${said} The branch ${plan.headBranch} was created and could not be removed.`,
      {
        retryable: false,
        effect: 'partial',
        cause: error,
        detail: { reason: 'branch_left', head_branch: plan.headBranch, commit },
      },
    );
  }
}

/** The names of the branches that share a beginning with a new one: only those can be in its way. */
export async function branchesAround(
  repo: GithubRepo,
  branch: string,
  signal: AbortSignal,
): Promise<string[]> {
  const [first = branch] = branch.split('/');
  const found = await repo.find('code:read', 'list branches', (octokit) =>
    octokit.paginate(octokit.rest.git.listMatchingRefs, {
      ...repo.at(signal),
      ref: `heads/${first}`,
      per_page: 100,
    }),
  );
  return (found ?? []).map(({ ref }) => ref.replace(/^refs\/heads\//, ''));
}

export async function branchHead(
  repo: GithubRepo,
  branch: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await repo.find('code:read', `look up the branch ${branch}`, (octokit) =>
    octokit.rest.git.getRef({ ...repo.at(signal), ref: `heads/${branch}` }),
  );
  return found?.data.object.sha;
}

export async function findPull(
  repo: GithubRepo,
  branch: string,
  signal: AbortSignal,
  fits: (raw: RawPull) => boolean,
): Promise<Pull | undefined> {
  const { data } = await repo.read('pulls:read', `look for pull requests from ${branch}`, (octokit) =>
    octokit.rest.pulls.list({
      ...repo.at(signal),
      head: `${repo.owner}:${branch}`,
      state: 'all',
      per_page: 100,
    }),
  );
  const raw = data.find((candidate) => candidate.head.ref === branch && fits(candidate));
  return raw && toPull(raw);
}

async function requireSame(
  repo: GithubRepo,
  existing: string,
  tree: string,
  plan: Plan,
  signal: AbortSignal,
): Promise<void> {
  const { data } = await repo.read('code:read', 'read the existing branch', (octokit) =>
    octokit.rest.git.getCommit({ ...repo.at(signal), commit_sha: existing }),
  );
  const [parent, ...others] = data.parents;
  const same = data.tree.sha === tree && parent?.sha === plan.baseCommit && others.length === 0;
  if (!same || data.message.trim() !== plan.message.trim()) throw branchTaken(plan.headBranch, existing);
}

function branchTaken(branch: string, commit: string | undefined, cause?: unknown): ToolError {
  const said = cause instanceof Error ? ` ${cause.message}` : '';
  const what = commit
    ? `The branch ${branch} already exists at ${commit.slice(0, 12)} with different content.`
    : `The branch ${branch} could not be created.${said}`;
  return new ToolError('conflict', `${what} Choose another head_branch.`, {
    hint: 'Choose another head_branch and ask again.',
    detail: { reason: 'branch_exists', head_branch: branch },
    cause,
  });
}

async function harmless<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ToolError) || error.effect === 'none') throw error;
    throw error.reworded(error.message, { cause: error, detail: error.detail });
  }
}
