import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { ToolFault } from '../../../contract/faults.ts';
import { homePath } from '../../../lib/home-path.ts';
import { type GitAnswer, GitError, type GitOptions, runGit } from './git.ts';

/** A repository on this machine: its objects and refs. The working tree, index and current branch are never used. */
export class Clone {
  /** The shared git folder, also when the path given was one of several worktrees. */
  readonly gitDir: string;
  /** What a person calls the folder. */
  readonly folder: string;

  constructor(gitDir: string) {
    this.gitDir = gitDir;
    this.folder = basename(gitDir) === '.git' ? dirname(gitDir) : gitDir;
  }

  get folderName(): string {
    return basename(this.folder).replace(/\.git$/, '');
  }

  run(args: readonly string[], options?: GitOptions): Promise<GitAnswer> {
    // Remotes may be given relative to this folder.
    return runGit([`--git-dir=${this.gitDir}`, ...args], { cwd: this.folder, ...options });
  }

  async text(args: readonly string[], options?: GitOptions): Promise<string> {
    return (await this.run(args, options)).stdout.toString('utf8').trim();
  }

  /** The commit a full ref or commit id stands for, or undefined when there is none. */
  async commit(revision: string, signal?: AbortSignal): Promise<string | undefined> {
    const { code, stdout } = await this.run(
      ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
      {
        answers: [1, 128],
        signal,
      },
    );
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  }

  branch(name: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.commit(`refs/heads/${name}`, signal);
  }

  async treeOf(commit: string, signal?: AbortSignal): Promise<string> {
    return this.text(['rev-parse', '--verify', `${commit}^{tree}`], { signal });
  }

  /** The branch the clone stands on, or undefined when it is detached or has no commits. */
  async currentBranch(): Promise<string | undefined> {
    const { code, stdout } = await this.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [1] });
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  }

  async remoteUrl(name: string): Promise<string | undefined> {
    const { code, stdout } = await this.run(['config', '--get', `remote.${name}.url`], { answers: [1] });
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  }

  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    const { code } = await this.run(['merge-base', '--is-ancestor', ancestor, descendant], {
      answers: [1, 128],
    });
    return code === 0;
  }
}

/** Opens the repository a folder belongs to. */
export async function openClone(path: string): Promise<Clone> {
  const folder = homePath(path);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw new ToolFault('not_found', `There is no folder ${folder}.`, { detail: { path: folder } });
  }
  try {
    const { stdout } = await runGit([
      '-C',
      folder,
      'rev-parse',
      '--path-format=absolute',
      '--git-common-dir',
    ]);
    return new Clone(await realpath(stdout.toString('utf8').trim()));
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new ToolFault('not_found', `${folder} is not a git repository that git can open here.`, {
      detail: { path: folder },
      cause: error,
    });
  }
}
