import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/file-error.ts';
import type { Plan } from '../change/plan.ts';
import type { Clone } from './clone.ts';

/** Writes the files of a plan as a tree, through an index of its own; the clone gains only unreachable objects. */
export async function writeTree(
  clone: Clone,
  plan: Plan,
  scratch: string,
  signal: AbortSignal,
): Promise<string> {
  const env = { GIT_INDEX_FILE: join(scratch, 'index') };
  await clone.run(['read-tree', plan.baseCommit], { env, signal });
  let lines = plan.removed.map((path) => `0 ${'0'.repeat(plan.baseCommit.length)}\t${path}\0`).join('');
  for (const { path, mode, content } of plan.files) {
    const sha = await clone.text(['hash-object', '-w', '--no-filters', '--stdin'], {
      input: content,
      signal,
    });
    lines += `${mode} ${sha}\t${path}\0`;
  }
  await clone.run(['update-index', '-z', '--index-info'], { env, input: lines, signal });
  return clone.text(['write-tree'], { env, signal });
}

interface CommitDraft {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly at: Date;
}

/** Makes the commit object; no ref points at it yet. */
export function writeCommit(clone: Clone, draft: CommitDraft, signal: AbortSignal): Promise<string> {
  const when = `${Math.floor(draft.at.getTime() / 1000)} +0000`;
  const env = {
    GIT_AUTHOR_NAME: draft.author.name,
    GIT_AUTHOR_EMAIL: draft.author.email,
    GIT_AUTHOR_DATE: when,
    GIT_COMMITTER_NAME: draft.author.name,
    GIT_COMMITTER_EMAIL: draft.author.email,
    GIT_COMMITTER_DATE: when,
  };
  const parents = draft.parents.flatMap((parent) => ['-p', parent]);
  return clone.text(['commit-tree', draft.tree, ...parents, '-F', '-'], {
    env,
    input: withFinalNewline(draft.message),
    signal,
  });
}

const withFinalNewline = (message: string): string => (message.endsWith('\n') ? message : `${message}\n`);

/** Does a commit hold exactly this tree on this parent with this message? Dates and authors may differ. */
export async function isSameCommit(
  clone: Clone,
  commit: string,
  wanted: { readonly tree: string; readonly parent: string; readonly message: string },
): Promise<boolean> {
  const text = (
    await clone.run(['show', '-s', '--no-show-signature', '--format=%T %P%n%B', commit])
  ).stdout.toString('utf8');
  const line = text.indexOf('\n');
  return (
    text.slice(0, line) === `${wanted.tree} ${wanted.parent}` &&
    text.slice(line + 1).trim() === wanted.message.trim()
  );
}

/** Folders for temporary indexes, repositories and checkouts, outside every clone, named after the process that made them. */
export class Scratch {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = join(dataDir, 'dev', 'scratch');
  }

  /** Gives the work a fresh folder and always removes it afterwards. */
  async use<T>(work: (folder: string) => Promise<T>): Promise<T> {
    makeFolder(this.#root, 0o700);
    const folder = await mkdtemp(join(this.#root, `${process.pid}-`));
    try {
      return await work(folder);
    } finally {
      await removeFolder(folder);
    }
  }

  /** Removes what killed processes left. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      const pid = Number.parseInt(name, 10);
      if (!Number.isInteger(pid) || pid === process.pid || isAlive(pid)) continue;
      await removeFolder(join(this.#root, name)).catch(() => {});
    }
  }
}

/** A command may have made folders that not even their owner can empty. */
async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(async () => {
    await openFolders(folder);
    await remove();
  });
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
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
