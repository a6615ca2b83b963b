import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clone } from '../git/clone.ts';
import type { Scratch } from '../git/scratch.ts';
import { harmlessConfig } from './git-config.ts';

export interface Worktree {
  /** Holds the worktree and a temporary folder; all the command may write to. */
  readonly folder: string;
  readonly workDir: string;
  readonly tmp: string;
  /** The home folder of a confined command. */
  readonly home: string;
  /** The clone's configuration as a confined command sees it. */
  readonly gitConfig: string;
}

/** A checkout of one commit for one command, gone afterwards. The person's own working tree is not involved. */
export function withWorktree<T>(
  clone: Clone,
  scratch: Scratch,
  commit: string,
  signal: AbortSignal,
  work: (worktree: Worktree) => Promise<T>,
): Promise<T> {
  return scratch.use(async (folder) => {
    const workDir = join(folder, 'tree');
    const tmp = join(folder, 'tmp');
    const home = join(folder, 'home');
    const gitConfig = join(folder, 'git-config');
    await Promise.all([mkdir(tmp), mkdir(home), writeFile(gitConfig, await harmlessConfig(clone))]);
    await clone.run(['worktree', 'add', '--quiet', '--detach', workDir, commit], { signal });
    try {
      return await work({ folder, workDir, tmp, home, gitConfig });
    } finally {
      // Twice forced: the command may have locked or dirtied it, and nothing in it is wanted.
      await clone.run(['worktree', 'remove', '--force', '--force', workDir]).catch(() => {});
    }
  });
}
