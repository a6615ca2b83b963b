import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/make-folder.ts';
import { runGit } from './git.ts';

const OWNER = 'clone';

/** Notes whose worktree the folder holds. The worktree's own `.git` file would say what the command in it wants. */
export const noteClone = (folder: string, gitDir: string): Promise<void> =>
  writeFile(join(folder, OWNER), gitDir);

/** Folders for temporary indexes and worktrees, outside every clone, named after the process that made them. */
export class Scratch {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = join(dataDir, 'dev', 'scratch');
  }

  /** Gives the work a fresh folder and removes it afterwards, whatever happened. */
  async use<T>(work: (folder: string) => Promise<T>): Promise<T> {
    makeFolder(this.#root, 0o700);
    const folder = await mkdtemp(join(this.#root, `${process.pid}-`));
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Removes what killed processes left, and tells the clones that their temporary worktrees are gone. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      const pid = Number.parseInt(name, 10);
      if (!Number.isInteger(pid) || pid === process.pid || isAlive(pid)) continue;
      const folder = join(this.#root, name);
      const gitDir = await readFile(join(folder, OWNER), 'utf8').catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      if (gitDir) await runGit([`--git-dir=${gitDir}`, 'worktree', 'prune']).catch(() => {});
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process answers EPERM.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
