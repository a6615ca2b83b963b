import { ToolFault } from '../../../../contract/faults.ts';
import { type ChangeRequest, type Plan, planChange } from '../../change/plan.ts';
import type { PublishSettlement, Trace } from '../port.ts';
import { hasMarker } from './marker.ts';
import { branchHead, findPull, openOrTakeBack, requireSame, writeTree } from './publish.ts';
import type { GithubRepo } from './repo.ts';
import { githubTree } from './tree.ts';

/**
 * Looks for what an interrupted publish left, and finishes it: a branch that holds exactly the permitted change gets
 * its pull request. GitHub opens one per branch only, so finishing twice cannot make two.
 */
export async function settlePublish(
  repo: GithubRepo,
  request: ChangeRequest,
  trace: Trace,
  draft: boolean,
): Promise<PublishSettlement> {
  const { headBranch } = request;
  const pull = await findPull(repo, headBranch, trace.signal, ({ body }) => hasMarker(body, trace.callId));
  if (pull) return { settled: 'done', published: { commit: pull.head.sha, pull, existed: false } };
  const commit = await branchHead(repo, headBranch, trace.signal);
  if (commit === undefined) return { settled: 'not_done' };
  const plan = await planBehind(repo, commit, request, trace.signal);
  if (!plan) {
    return {
      settled: 'unknown',
      why:
        `The branch ${headBranch} stands on GitHub at ${commit.slice(0, 12)} with other content than this call was to make. ` +
        'Look at it there; if nobody needs it, delete it.',
    };
  }
  const other = await findPull(repo, headBranch, trace.signal, ({ state }) => state === 'open');
  if (other) return { settled: 'done', published: { commit, pull: other, existed: true } };
  try {
    const opened = await openOrTakeBack(repo, plan, commit, trace, draft);
    return { settled: 'done', published: { commit, pull: opened, existed: false } };
  } catch (error) {
    if (error instanceof ToolFault && error.effect === 'none') return { settled: 'not_done' };
    throw error;
  }
}

/** The change as it must have been planned for this commit, or undefined when the commit holds another one. */
async function planBehind(
  repo: GithubRepo,
  commit: string,
  request: ChangeRequest,
  signal: AbortSignal,
): Promise<Plan | undefined> {
  const { data } = await repo.read('code:read', 'read the branch', (octokit) =>
    octokit.rest.git.getCommit({ ...repo.at(signal), commit_sha: commit }),
  );
  const [parent, ...others] = data.parents;
  if (!parent || others.length > 0) return undefined;
  try {
    const source = await githubTree(repo, parent.sha, signal);
    const plan = await planChange(request, {
      commit: parent.sha,
      source,
      maxFileBytes: Number.MAX_SAFE_INTEGER,
    });
    await requireSame(repo, commit, await writeTree(repo, plan, signal), plan, signal);
    return plan;
  } catch (error) {
    if (error instanceof ToolFault && NOT_THIS_CHANGE.has(error.code)) return undefined;
    throw error;
  }
}

/** What comparing says when the branch holds something else; anything else means that comparing failed. */
const NOT_THIS_CHANGE = new Set<string>(['conflict', 'invalid_input', 'not_allowed']);
