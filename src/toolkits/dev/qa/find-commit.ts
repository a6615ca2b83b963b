import { ToolFault } from '../../../contract/faults.ts';
import type { Clone } from '../git/clone.ts';
import { Remote } from '../git/remote.ts';
import type { Repo } from '../repos/directory.ts';
import type { Run } from '../runs/store.ts';

type Found =
  | { readonly clone: Clone; readonly commit: string }
  | { readonly code: 'qa_workdir_invalid'; readonly message: string };

/** What QA looks at: the head of the run's last branch, else the base when the run began. */
export async function findCommit(run: Run, repo: Repo, signal: AbortSignal): Promise<Found> {
  const { clone } = repo;
  if (!clone)
    return unready(
      `${repo.name} has no clone on this machine. A person can set path under [dev.repos.${JSON.stringify(repo.name)}].`,
    );
  const branch = run.head_branch ?? run.base_branch;
  const commit =
    run.head_branch === null
      ? run.base_commit
      : ((await branchHead(repo, run.head_branch, signal)) ?? run.head_commit);
  if (!commit) return unready(`${repo.name} had no commit when the run began.`);
  if (await clone.commit(commit, signal)) return { clone, commit };
  // On GitHub the branch was made over there, and the clone has yet to hear of it.
  const remote = new Remote(clone, repo.settings?.remote ?? 'origin');
  const programs = repo.settings?.remote === undefined ? await clone.ownTransport() : [];
  if (programs.length > 0) {
    return unready(
      `The clone of ${repo.name} lacks commit ${commit.slice(0, 12)}, and it is not fetched because its own configuration names programs (${programs.join(', ')}). A person can fetch it, or set remote = "origin" under [dev.repos.${JSON.stringify(repo.name)}].`,
    );
  }
  if (branch) await remote.fetch(branch, signal).catch(() => {});
  if (await clone.commit(commit, signal)) return { clone, commit };
  return unready(
    `The clone of ${repo.name} lacks commit ${commit.slice(0, 12)}, and ${remote.name} did not supply it.`,
  );
}

async function branchHead(repo: Repo, branch: string, signal: AbortSignal): Promise<string | undefined> {
  if (repo.local) return repo.clone?.branch(branch, signal);
  try {
    return await repo.forge.baseCommit(branch, signal);
  } catch (error) {
    if (error instanceof ToolFault && error.code === 'not_found') return undefined;
    throw error;
  }
}

const unready = (message: string): Found => ({ code: 'qa_workdir_invalid', message });
