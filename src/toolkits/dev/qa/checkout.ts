import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ToolError } from '../../../contract/errors.ts';
import type { Scratch } from '../git/build-commit.ts';
import type { Clone } from '../git/clone.ts';
import { initRepository, quotedPath } from '../git/git.ts';
import { Remote } from '../git/remote.ts';
import type { Repo } from '../repos/directory.ts';
import type { Run } from '../runs.ts';

export interface Checkout {
  /** Everything the command may write is in here. */
  readonly folder: string;
  readonly workDir: string;
  readonly tmp: string;
  /** The home folder of a confined command. */
  readonly home: string;
}

interface CheckoutOptions {
  readonly filters: boolean;
  readonly signal: AbortSignal;
}

/**
 * A checkout of one commit for one command, gone afterwards: a shallow repository of its own, with the objects of this
 * commit alone. Nothing of the person's clone is involved: its objects include staged, stashed and discarded work.
 */
export function withCheckout<T>(
  clone: Clone,
  scratch: Scratch,
  commit: string,
  how: CheckoutOptions,
  work: (checkout: Checkout) => Promise<T>,
): Promise<T> {
  return scratch.use(async (folder) => {
    const workDir = join(folder, 'tree');
    const tmp = join(folder, 'tmp');
    const home = join(folder, 'home');
    await Promise.all([mkdir(tmp), mkdir(home)]);
    await checkOut(clone, workDir, commit, how);
    return work({ folder, workDir, tmp, home });
  });
}

async function checkOut(
  clone: Clone,
  workDir: string,
  commit: string,
  { filters, signal }: CheckoutOptions,
): Promise<void> {
  const gitDir = join(workDir, '.git');
  await initRepository(workDir, { bare: false, isSha256: commit.length === 64 }, signal);
  // The whole tree, also where the person works on a part of it: that is what the report is about. The clone's own git
  // folder is used for the files, because filters find their keys and contents there.
  await clone.run(
    [`--work-tree=${workDir}`, '-c', 'core.sparseCheckout=false', 'read-tree', '--reset', '-u', commit],
    { env: { ...(await clone.quiet({ filters })), GIT_INDEX_FILE: join(gitDir, 'index') }, signal },
  );
  const tags = await tagsOf(clone, commit, signal);
  await copyObjects(clone, gitDir, commit, [commit, ...tags.map(([id]) => id)], signal);
  const refs = tags.map(([id, name]) => `${id} ${name}\n`).join('');
  await writeFile(join(gitDir, 'packed-refs'), `# pack-refs with: \n${refs}`);
  await writeFile(join(gitDir, 'shallow'), `${commit}\n`);
  await writeFile(join(gitDir, 'HEAD'), `${commit}\n`);
  await writeFile(join(gitDir, 'config'), await plainSettings(clone, signal), { flag: 'a' });
}

/** Tags of the commit itself, which give its version a name. */
async function tagsOf(clone: Clone, commit: string, signal: AbortSignal): Promise<[string, string][]> {
  const args = ['for-each-ref', `--points-at=${commit}`, '--format=%(objectname) %(refname)', 'refs/tags/'];
  const text = await clone.text(args, { signal });
  return text.split('\n').flatMap((line): [string, string][] => {
    const [id, name] = splitOnce(line, ' ');
    return name === undefined ? [] : [[id, name]];
  });
}

/** Packs the commit without its parents. New files are written in the new repository; the clone is only read. */
async function copyObjects(
  clone: Clone,
  gitDir: string,
  commit: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const objects = join(gitDir, 'objects');
  const lent = [join(clone.gitDir, 'objects'), ...(await borrowedObjects(clone.gitDir))];
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: lent.map(quotedPath).join(':'),
  };
  const input = [`--shallow ${commit}`, ...wanted, ''].join('\n');
  const args = ['pack-objects', '--quiet', '--revs', '--window=0', join(objects, 'pack', 'pack')];
  await clone.run(args, { env, input, signal });
}

/** Other repositories whose objects this one borrows. */
async function borrowedObjects(gitDir: string): Promise<string[]> {
  const text = await readFile(join(gitDir, 'objects/info/alternates'), 'utf8').catch(() => '');
  const folders = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return folders.map((folder) => resolve(gitDir, 'objects', folder));
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

/** How files are compared with what was checked out. Remotes, helpers and headers stay out: they may carry passwords. */
const PLAIN = '^core\\.(filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$';

async function plainSettings(clone: Clone, signal: AbortSignal): Promise<string> {
  const { stdout } = await clone.run(['config', '-z', '--get-regexp', PLAIN], { answers: [1], signal });
  const settings = stdout.toString('utf8').split('\0');
  const lines = settings.flatMap((setting) => {
    const [key, value = 'true'] = splitOnce(setting, '\n');
    return /^[a-z]+$/i.test(value) && key !== '' ? [`\t${key.slice('core.'.length)} = ${value}\n`] : [];
  });
  return `[core]\n${lines.join('')}`;
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)];
}
