import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PreviewFile } from '../../../contract/preview.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { Scratch } from './build-commit.ts';
import type { Clone } from './clone.ts';
import { APART, initRepository, quotedPath, runGit } from './git.ts';

/** What a path holds on one side of a change. A submodule's content is the id of its commit. */
export interface Side {
  readonly mode: string;
  readonly content: Uint8Array;
}

/** Every path a change touches, before and after it. */
export interface Sides {
  readonly before: ReadonlyMap<string, Side>;
  readonly after: ReadonlyMap<string, Side>;
}

const MAX_BYTES = 256 * 1024 * 1024;
/** Only the contents decide: no configuration and no attribute may make git show a text as something unreadable. */
const PLAIN = ['-c', 'core.quotePath=true', '-c', 'core.attributesFile=/dev/null'];
const DIFF = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '--no-color'];
const PATCH = ['-p', '--binary', '-U3', '--src-prefix=a/', '--dst-prefix=b/'];

/** What `git diff --binary` prints between two commits of a clone. */
export function diffCommits(
  scratch: Scratch,
  clone: Clone,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<PreviewFile[]> {
  return inRepository(scratch, { isSha256: from.length === 64, clone }, signal, (gitDir) =>
    readDiff(gitDir, from, to, signal),
  );
}

/**
 * What `git diff --binary` will print of a change once it is a branch. Paths that stay as they are play no part in a
 * diff, so two trees of the others give the same bytes. With a clone ids are shortened as they will be there.
 */
export function diffSides(
  scratch: Scratch,
  sides: Sides,
  how: { readonly isSha256: boolean; readonly clone: Clone | undefined },
  signal: AbortSignal,
): Promise<PreviewFile[]> {
  return inRepository(scratch, how, signal, async (gitDir) => {
    const input = Buffer.concat([
      ...commitStream('before', sides.before),
      ...commitStream('after', sides.after),
    ]);
    await runGit([...PLAIN, `--git-dir=${gitDir}`, 'fast-import', '--quiet'], { env: APART, input, signal });
    return readDiff(gitDir, 'refs/heads/before', 'refs/heads/after', signal);
  });
}

/** A bare repository of our own that borrows the clone's objects and nothing else of it. */
function inRepository<T>(
  scratch: Scratch,
  { isSha256, clone }: { readonly isSha256: boolean; readonly clone: Clone | undefined },
  signal: AbortSignal,
  work: (gitDir: string) => Promise<T>,
): Promise<T> {
  return scratch.use(async (folder) => {
    const gitDir = join(folder, 'diff.git');
    await initRepository(gitDir, { bare: true, isSha256 }, signal);
    if (clone) {
      await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
      const objects = join(clone.gitDir, 'objects');
      await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${quotedPath(objects)}\n`);
    }
    return work(gitDir);
  });
}

function commitStream(branch: string, files: ReadonlyMap<string, Side>): Buffer[] {
  const parts = [Buffer.from(`commit refs/heads/${branch}\ncommitter c <c@localhost> 0 +0000\ndata 0\n\n`)];
  for (const [path, { mode, content }] of files) {
    if (mode === '160000') {
      parts.push(Buffer.from(`M 160000 ${Buffer.from(content).toString('utf8')} ${quotedPath(path)}\n`));
    } else {
      parts.push(Buffer.from(`M ${mode} inline ${quotedPath(path)}\ndata ${content.length}\n`));
      parts.push(Buffer.from(content), Buffer.from('\n'));
    }
  }
  return [...parts, Buffer.from('\n')];
}

async function readDiff(
  gitDir: string,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<PreviewFile[]> {
  const at = [...PLAIN, `--git-dir=${gitDir}`, ...DIFF];
  const listed = await runGit([...at, '--raw', '--numstat', '-z', from, to], { env: APART, signal });
  const changes = parseChanges(listed.stdout.toString('utf8'));
  const { stdout } = await runGit([...at, ...PATCH, from, to], { env: APART, signal, maxBytes: MAX_BYTES });
  const texts = splitPatches(stdout);
  let next = 0;
  return changes.map(({ status, ...change }): PreviewFile => {
    // A change of type (file to symlink) is written as a removal and an addition.
    const parts = texts.slice(next, next + (status === 'T' ? 2 : 1));
    next += parts.length;
    return { ...change, status: lookup(STATUS, status) ?? 'changed', ...patchText(Buffer.concat(parts)) };
  });
}

const STATUS: Readonly<Record<string, PreviewFile['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
};

function patchText(bytes: Buffer): Pick<PreviewFile, 'patch' | 'patch_base64'> {
  const patch = bytes.toString('utf8');
  return Buffer.from(patch, 'utf8').equals(bytes)
    ? { patch }
    : { patch, patch_base64: bytes.toString('base64') };
}

type Change = Omit<PreviewFile, 'status' | 'patch'> & { readonly status: string };

/** With -z git first lists `:modes ids status\0path[\0new path]`, then `added\tdeleted\tpath` in the same order. */
function parseChanges(text: string): Change[] {
  const fields = text.split('\0');
  const listed: Omit<Change, 'additions' | 'deletions' | 'binary'>[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', newMode = '', , , letter = 'M'] = (fields[at] ?? '').slice(1).split(' ');
    const status = letter[0] ?? 'M';
    const hasTwoNames = status === 'R' || status === 'C';
    const first = fields[at + 1] ?? '';
    listed.push({
      status,
      path: hasTwoNames ? (fields[at + 2] ?? '') : first,
      ...(hasTwoNames ? { previous_path: first } : {}),
      ...(oldMode === '000000' ? {} : { old_mode: oldMode }),
      ...(newMode === '000000' ? {} : { new_mode: newMode }),
    });
    at += hasTwoNames ? 3 : 2;
  }
  return listed.map((change) => {
    const [added = '0', deleted = '0', path] = (fields[at] ?? '').split('\t');
    // A renamed file's two names follow as fields of their own.
    at += path === '' ? 3 : 1;
    const counts = { additions: Number(added) || 0, deletions: Number(deleted) || 0 };
    return { ...change, ...counts, binary: added === '-' };
  });
}

/** Lines of content begin with a space, a sign or a backslash, and base 85 has no space: this can only be a header. */
function splitPatches(text: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = text.indexOf('diff --git '); at >= 0; at = text.indexOf('diff --git ', at + 1)) {
    if (at === 0 || text[at - 1] === 0x0a) starts.push(at);
  }
  return starts.map((start, index) => text.subarray(start, starts[index + 1] ?? text.length));
}
