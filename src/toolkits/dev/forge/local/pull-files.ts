import { ToolFault } from '../../../../contract/faults.ts';
import type { Clone } from '../../git/clone.ts';
import type { PullFile } from '../port.ts';

const MAX_FILES = 3000;
/** A person who is to merge wants to see even a large change of a file. */
const MAX_PATCH_BYTES = 1_000_000;
const STATUS: Record<string, string> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
};

/** What git says changed between two commits, in the shape GitHub answers. */
export async function diffFiles(
  clone: Clone,
  from: string,
  to: string,
  address: (kind: 'blob' | 'raw', path: string) => string,
  signal: AbortSignal,
): Promise<{ files: PullFile[]; truncated: boolean }> {
  const common = ['diff-tree', '-r', '-M', '--no-commit-id', '--no-ext-diff', '--no-textconv', '--no-color'];
  const raw = await clone.run([...common, '--raw', '--numstat', '-z', from, to], { signal });
  const changes = parseChanges(raw.stdout.toString('utf8'));
  const texts = await readPatches(
    clone,
    [...common, '-p', '--src-prefix=a/', '--dst-prefix=b/', from, to],
    signal,
  );
  let next = 0;
  const files = changes.slice(0, MAX_FILES).map((change): PullFile => {
    const patch = hunksOf(texts[next] ?? '');
    // A change of type (file to symlink) is written as a removal and an addition.
    next += change.status === 'T' ? 2 : 1;
    return {
      filename: change.path,
      status: STATUS[change.status] ?? 'changed',
      additions: change.additions,
      deletions: change.deletions,
      changes: change.additions + change.deletions,
      blob_url: address('blob', change.path),
      raw_url: address('raw', change.path),
      ...(patch && Buffer.byteLength(patch) <= MAX_PATCH_BYTES ? { patch } : {}),
      ...(change.previous ? { previous_filename: change.previous } : {}),
    };
  });
  return { files, truncated: changes.length > MAX_FILES };
}

interface Change {
  status: string;
  path: string;
  previous: string | undefined;
  additions: number;
  deletions: number;
}

/** With -z git first lists `:modes ids status\0path[\0new path]`, then `added\tdeleted\tpath` in the same order. */
function parseChanges(text: string): Change[] {
  const fields = text.split('\0');
  const changes: Change[] = [];
  let at = 0;
  for (; fields[at]?.startsWith(':'); ) {
    const status = (fields[at] ?? '').split(' ')[4]?.[0] ?? 'M';
    const twoNames = status === 'R' || status === 'C';
    const first = fields[at + 1] ?? '';
    changes.push({
      status,
      path: twoNames ? (fields[at + 2] ?? '') : first,
      previous: twoNames ? first : undefined,
      additions: 0,
      deletions: 0,
    });
    at += twoNames ? 3 : 2;
  }
  for (const change of changes) {
    const [added = '0', deleted = '0', path] = (fields[at] ?? '').split('\t');
    // Binary files count as `-`; a renamed file's two names follow as fields of their own.
    change.additions = Number(added) || 0;
    change.deletions = Number(deleted) || 0;
    at += path === '' ? 3 : 1;
  }
  return changes;
}

/** Beyond a size nobody reads, the list of files is still worth having. */
async function readPatches(clone: Clone, args: readonly string[], signal: AbortSignal): Promise<string[]> {
  try {
    const { stdout } = await clone.run(args, { signal, maxBytes: 64 * 1024 * 1024 });
    return splitPatches(stdout.toString('utf8'));
  } catch (error) {
    if (error instanceof ToolFault && error.code === 'invalid_input') return [];
    throw error;
  }
}

/** Content lines of a patch begin with a space, sign or backslash, so this header can only be a header. */
const splitPatches = (text: string): string[] =>
  text.split(/^(?=diff --git )/m).filter((part) => part !== '');

function hunksOf(patch: string): string {
  const start = patch.search(/^@@ /m);
  return start < 0 ? '' : patch.slice(start).replace(/\n$/, '');
}
