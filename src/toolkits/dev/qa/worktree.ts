import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import { noteClone, type Scratch } from '../git/build-commit.ts';
import type { Clone } from '../git/clone.ts';
import { Remote } from '../git/remote.ts';
import type { Repo } from '../repos/directory.ts';
import type { Run } from '../runs.ts';

export interface Worktree {
  readonly workDir: string;
  readonly tmp: string;
  /** The home folder of a confined command. */
  readonly home: string;
  /** The clone's configuration as a confined command sees it. */
  readonly gitConfig: string;
  /** What git keeps in the clone for this worktree, and its configuration as a confined command sees it. */
  readonly worktreeGitDir: string;
  readonly worktreeConfig: string;
}

/** A checkout of one commit for one command, gone afterwards. The person's own working tree is not involved. */
export function withWorktree<T>(
  clone: Clone,
  scratch: Scratch,
  commit: string,
  how: { readonly filters: boolean; readonly signal: AbortSignal },
  work: (worktree: Worktree) => Promise<T>,
): Promise<T> {
  return scratch.use(async (folder) => {
    const workDir = join(folder, 'tree');
    const tmp = join(folder, 'tmp');
    const home = join(folder, 'home');
    const gitConfig = join(folder, 'git-config');
    const worktreeConfig = join(folder, 'worktree-config');
    await Promise.all([mkdir(tmp), mkdir(home)]);
    await writeFile(gitConfig, await harmlessConfig(clone, join(clone.gitDir, 'config')));
    await noteClone(folder, clone.gitDir);
    try {
      // The whole tree, also where the person works on a part of it: that is what the report is about.
      await clone.run(
        ['-c', 'core.sparseCheckout=false', 'worktree', 'add', '--quiet', '--detach', workDir, commit],
        { env: await clone.quiet(how), signal: how.signal },
      );
      // Asked before any command runs: later the file says what the command wants it to say.
      const link = await readFile(join(workDir, '.git'), 'utf8');
      const worktreeGitDir = join(clone.gitDir, 'worktrees', basename(link.trim()));
      await writeFile(worktreeConfig, await harmlessConfig(clone, join(worktreeGitDir, 'config.worktree')));
      return await work({ workDir, tmp, home, gitConfig, worktreeGitDir, worktreeConfig });
    } finally {
      // Twice forced: the command may have locked or dirtied it, and nothing in it is wanted. Where the command cut its
      // link to the clone, git forgets it once the folder is gone.
      await clone.run(['worktree', 'remove', '--force', '--force', workDir]).catch(async () => {
        await rm(workDir, { recursive: true, force: true, maxRetries: 3 });
        await clone.run(['worktree', 'prune']).catch(() => {});
      });
    }
  });
}

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
  if (!commit) return unready(`${repo.name} had no commits when the run began.`);
  if (await clone.commit(commit, signal)) return { clone, commit };
  // On GitHub the branch was created remotely, and the clone has not fetched it yet.
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
    if (error instanceof ToolError && error.code === 'not_found') return undefined;
    throw error;
  }
}

const unready = (message: string): Found => ({ code: 'qa_workdir_invalid', message });

/** What git must know to read the repository. Remotes, helpers and headers stay out: they may carry passwords. */
const KEPT =
  /^(extensions\..+|core\.(repositoryformatversion|bare|filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|worktree))$/;

/** A configuration file of a clone as a confined command may see it; nothing of a file that is not there. */
async function harmlessConfig(clone: Clone, file: string): Promise<string> {
  const listed = await clone.run(['config', '--file', file, '--list', '-z'], { answers: [1, 128] });
  const lines = listed.stdout.toString('utf8').split('\0').filter(Boolean);
  return lines
    .map((line) => {
      const [key = '', value] = splitOnce(line, '\n');
      const [section, name] = splitOnce(key, '.');
      if (!KEPT.test(key) || name === undefined) return '';
      return `[${section}]\n\t${name}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}\n`;
    })
    .join('');
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)];
}
