import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import { homePath } from '../../../lib/file-error.ts';
import { shellWord } from '../../../lib/text.ts';
import { type GitAnswer, GitError, type GitOptions, NETWORK, runGit } from './git.ts';

interface Setting {
  readonly scope: string;
  readonly name: string;
}

const TRANSPORT =
  /^(core\.(sshcommand|gitproxy|askpass|alternaterefscommand)|credential\.(.*\.)?helper|remote\..*\.(uploadpack|receivepack|vcs))$/s;

const COMMIT_ID = /^[0-9a-f]{7,64}$/;

/** A program whose name is no text cannot be removed: a variable holds only text. */
const GARBLED = /^(filter|merge|hook)\..*\ufffd/s;

/** A repository on this machine: its objects and refs. The working tree, index and current branch are never used. */
export class Clone {
  /** The shared git folder, also when the path given was one of several worktrees. */
  readonly gitDir: string;
  /** What a person calls the folder. */
  readonly folder: string;
  /** May git fetch what a partial clone lacks? */
  readonly #mayFetch: boolean;
  #read: { readonly version: string; readonly settings: readonly Setting[] } | undefined;

  constructor(gitDir: string, mayFetch = false) {
    this.gitDir = gitDir;
    this.#mayFetch = mayFetch;
    this.folder = basename(gitDir) === '.git' ? dirname(gitDir) : gitDir;
  }

  get folderName(): string {
    return basename(this.folder).replace(/\.git$/, '');
  }

  async run(args: readonly string[], options?: GitOptions): Promise<GitAnswer> {
    const env = { ...(await this.quiet()), ...(this.#mayFetch ? NETWORK : {}), ...options?.env };
    return this.#git(args, { ...options, env });
  }

  /** Runs git on the files of one of the clone's working trees, whose own configuration may name more programs. */
  async runIn(worktree: string, args: readonly string[]): Promise<GitAnswer> {
    await this.quiet();
    const { stdout } = await runGit([
      ...['-C', worktree, 'rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'],
    ]);
    const [gitDir = '', common = ''] = stdout.toString('utf8').trim().split('\n');
    if ((await realpath(common)) !== this.gitDir) throw strayError(this.folder, worktree);
    const at = [`--git-dir=${gitDir}`, `--work-tree=${worktree}`];
    const env = quietEnv(worktree, await listSettings((list) => runGit([...at, ...list])));
    return runGit([...at, ...args], { cwd: worktree, env });
  }

  /** Variables under which git runs no program that a configuration names. */
  async quiet(how?: Quiet): Promise<Record<string, string>> {
    const settings = await this.#configured();
    if (settings.some((each) => isOwn(each) && each.name === 'core.worktree')) await this.workTree();
    return quietEnv(this.folder, settings, how);
  }

  /**
   * Where `core.worktree` puts the files of the clone, as git itself does for submodules: a folder whose `.git` leads
   * back here. Any other would have a person's files overwritten.
   */
  async workTree(): Promise<string | undefined> {
    const args = ['config', '--type=path', '--get', 'core.worktree'];
    const { code, stdout } = await this.#git(args, { answers: [1] });
    if (code !== 0) return undefined;
    const folder = resolve(this.gitDir, stdout.toString('utf8').replace(/\n$/, ''));
    if ((await gitDirOf(folder)) === this.gitDir) return folder;
    throw strayError(this.folder, folder);
  }

  /** Settings of the clone itself that name a program for reaching remotes. */
  async ownTransport(): Promise<readonly string[]> {
    const own = (await this.#configured()).filter(isOwn);
    return own.map(({ name }) => name).filter((name) => TRANSPORT.test(name));
  }

  async #configured(): Promise<readonly Setting[]> {
    const own = ['config', 'config.worktree'].map((name) => join(this.gitDir, name));
    const files = [...own, ...personalFiles(process.env)];
    const found = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
    const version = found.map((file) => `${file?.mtimeMs} ${file?.size}`).join();
    if (this.#read?.version !== version) {
      const settings = await listSettings((list) => this.#git(list));
      // A file that is included can change without the one that includes it.
      const kept = settings.some(({ name }) => name.startsWith('include.'))
        ? undefined
        : { version, settings };
      this.#read = kept;
      return settings;
    }
    return this.#read.settings;
  }

  #git(args: readonly string[], options?: GitOptions): Promise<GitAnswer> {
    // Remotes may be given relative to this folder.
    return runGit([`--git-dir=${this.gitDir}`, ...args], { cwd: this.folder, ...options });
  }

  async text(args: readonly string[], options?: GitOptions): Promise<string> {
    return (await this.run(args, options)).stdout.toString('utf8').trim();
  }

  /** The commit with this ID, or that `HEAD` stands on; undefined when there is none. */
  async commit(id: string, signal?: AbortSignal): Promise<string | undefined> {
    if (id !== 'HEAD' && !COMMIT_ID.test(id)) return undefined;
    const { code, stdout } = await this.run(
      ['rev-parse', '--verify', '--quiet', '--end-of-options', `${id}^{commit}`],
      {
        answers: [1, 128],
        signal,
      },
    );
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  }

  branch(name: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#ref(`refs/heads/${name}`, signal);
  }

  /** The commit of a branch, of a tag, or with an ID, if a branch, tag or `HEAD` leads to it: stashes are not read. */
  async resolve(ref: string, signal: AbortSignal): Promise<string | undefined> {
    const branch = await this.branch(ref, signal);
    if (branch !== undefined) return branch;
    const tag = await this.#ref(`refs/tags/${ref}`, signal);
    if (tag !== undefined) return this.commit(tag, signal);
    const commit = await this.commit(ref, signal);
    return commit !== undefined && (await this.#isReachable(commit, signal)) ? commit : undefined;
  }

  /** The object a ref of this whole name stands on. `rev-parse` would also take reflogs and names that end in `-g` and an ID. */
  async #ref(name: string, signal?: AbortSignal): Promise<string | undefined> {
    const { code, stdout } = await this.run(['show-ref', '--verify', '--hash', '--', name], {
      answers: [1, 128],
      signal,
    });
    return code === 0 ? stdout.toString('utf8').trim() : undefined;
  }

  async #isReachable(commit: string, signal: AbortSignal): Promise<boolean> {
    if (await this.isAncestor(commit, 'HEAD')) return true;
    const args = ['for-each-ref', `--contains=${commit}`, '--count=1', '--format=%(refname)'];
    return (await this.text([...args, 'refs/heads/', 'refs/tags/', 'refs/remotes/'], { signal })) !== '';
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
export async function openClone(path: string, mayFetch = false): Promise<Clone> {
  const folder = homePath(path);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
    throw new ToolError('not_found', `Directory ${folder} not found.`, { detail: { path: folder } });
  }
  try {
    const { stdout } = await runGit([
      '-C',
      folder,
      'rev-parse',
      '--path-format=absolute',
      '--git-common-dir',
    ]);
    return new Clone(await realpath(stdout.toString('utf8').trim()), mayFetch);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.stderr.includes('dubious ownership')) throw foreignError(folder, error);
    throw new ToolError('not_found', `${folder} is not a git repository that git can open here.`, {
      detail: { path: folder },
      cause: error,
    });
  }
}

/** The git folder that the `.git` of a working tree is, or names. */
async function gitDirOf(worktree: string): Promise<string | undefined> {
  const path = join(worktree, '.git');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const target = text === undefined ? path : resolve(worktree, text.replace(/^gitdir: /, '').trim());
  return realpath(target).catch(() => undefined);
}

async function listSettings(git: (args: readonly string[]) => Promise<GitAnswer>): Promise<Setting[]> {
  const { stdout } = await git(['config', '--list', '--show-scope', '--name-only', '-z']);
  const fields = stdout.toString('utf8').split('\0');
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    settings.push({ scope: fields[at] ?? '', name: fields[at + 1] ?? '' });
  }
  return settings;
}

function quietEnv(folder: string, settings: readonly Setting[], how?: Quiet): Record<string, string> {
  const own = settings.filter(isOwn);
  const conditional = own.find(({ name }) => name.startsWith('includeif.'));
  if (conditional) throw conditionalError(folder, conditional.name);
  const garbled = own.find(({ name }) => GARBLED.test(name));
  if (garbled) throw garbledError(folder, garbled.name);
  const names = settings.map(({ name }) => name);
  return settingsEnv(quietSettings(names, how));
}

/** Where git looks for the configuration of the person and of the machine. */
const personalFiles = (env: NodeJS.ProcessEnv): readonly string[] => [
  env.GIT_CONFIG_SYSTEM ?? '/etc/gitconfig',
  ...(env.GIT_CONFIG_GLOBAL === undefined
    ? [
        join(homedir(), '.gitconfig'),
        join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git', 'config'),
      ]
    : [env.GIT_CONFIG_GLOBAL]),
];

const isOwn = ({ scope }: Setting): boolean => scope === 'local' || scope === 'worktree';

/** In the worktree of a check it may hold though it does not hold here, and bring programs that no one has seen. */
const conditionalError = (folder: string, name: string): ToolError =>
  new ToolError(
    'not_allowed',
    `The configuration of ${folder} itself includes other files under a condition (${name.slice(0, 80)}), so the programs git would run there cannot be determined. A person who needs it can move it to their own configuration (git config --global).`,
    { detail: { reason: 'clone_not_trusted', path: folder } },
  );

const strayError = (folder: string, worktree: string): ToolError =>
  new ToolError(
    'not_allowed',
    `${folder} names ${worktree} as its working tree (core.worktree, or a linked worktree), but that directory does not belong to it. A person can run: git -C ${shellWord(folder)} config --unset core.worktree`,
    { detail: { reason: 'clone_not_trusted', path: folder } },
  );

const garbledError = (folder: string, name: string): ToolError =>
  new ToolError(
    'not_allowed',
    `The configuration of ${folder} names a program in a way that is not text (${name.slice(0, 80)}), so git cannot be prevented from running it. A person can rename it there.`,
    { detail: { reason: 'clone_not_trusted', path: folder } },
  );

const foreignError = (folder: string, cause: unknown): ToolError =>
  new ToolError(
    'not_allowed',
    `${folder} belongs to another user, so git does not use it. A person who trusts it can run: git config --global --add safe.directory ${shellWord(folder)}`,
    { detail: { reason: 'clone_not_trusted', path: folder }, cause },
  );

/** What git does with text by default, spelled as a driver of its own. */
const PLAIN_MERGE = 'git merge-file --marker-size=%L %A %O %B';

export interface Quiet {
  /** Filters stay as they are configured, because a person said so. */
  readonly filters?: boolean;
}

/**
 * Regardless of the configuration, reading, building and checking out run no program it names: no hook, no filter, no merge
 * driver. Answers what to set instead, for the names of all settings there are.
 */
export function quietSettings(names: readonly string[], { filters = false }: Quiet = {}): [string, string][] {
  const settings = new Map<string, string>();
  for (const name of names) {
    const [, kind, subject, setting] = /^([a-z]+)\.(.*)\.([a-z]+)$/s.exec(name) ?? [];
    if (kind === 'hook') {
      settings.set(`hook.${subject}.event`, '').set(`hook.${subject}.enabled`, 'false');
    } else if (kind === 'merge' && setting === 'driver') {
      settings.set(name, PLAIN_MERGE);
    } else if (kind === 'filter' && !filters) {
      for (const each of ['smudge', 'clean', 'process']) settings.set(`filter.${subject}.${each}`, '');
      settings.set(`filter.${subject}.required`, 'false');
    }
  }
  return [...settings];
}

/** By variables and not by `-c`: a name may hold an equals sign. */
function settingsEnv(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}
