import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clone } from '../git/clone.ts';
import { noteClone, type Scratch } from '../git/scratch.ts';
import { harmlessConfig } from './git-config.ts';

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
