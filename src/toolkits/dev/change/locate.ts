import type { Side, Sides } from '../git/change-diff.ts';
import { pathError } from '../git/names.ts';

/**
 * Walks a checked path down the tree. Answers the file, or undefined when it does not exist yet; refuses to pass
 * through or replace anything that is not a plain folder or a plain file.
 */
export async function locate(source: TreeSource, path: string): Promise<TreeEntry | undefined> {
  const segments = path.split('/');
  let folder = source.root;
  for (const [depth, segment] of segments.entries()) {
    const entries = await source.folder(folder);
    const entry = entries.get(segment);
    if (!entry) {
      const twin = [...entries.keys()].find((name) => fold(name) === fold(segment));
      if (twin === undefined) return undefined;
      throw pathError(
        'path_policy_forbidden',
        path,
        `differs from ${twin} only in a way that some file systems ignore`,
      );
    }
    const here = segments.slice(0, depth + 1).join('/');
    if (entry.mode === '120000')
      throw pathError('path_policy_symlink', path, `goes through the symbolic link ${here}`);
    if (entry.mode === '160000')
      throw pathError('path_policy_symlink', path, `goes through the submodule ${here}`);
    const isFolder = entry.mode === '040000';
    const isLast = depth === segments.length - 1;
    if (isLast) {
      if (isFolder) throw pathError('path_policy_forbidden', path, 'is a directory');
      return entry;
    }
    if (!isFolder) throw pathError('path_policy_forbidden', path, `goes through ${here}, which is a file`);
    folder = entry.sha;
  }
  return undefined;
}

const fold = (name: string): string => name.normalize('NFKC').toLowerCase();

export interface TreeEntry {
  /** Git's mode: 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (folder). */
  readonly mode: string;
  readonly sha: string;
  /** Bytes of a file; undefined for folders. */
  readonly size: number | undefined;
}

/** The files of one commit, wherever it lives. */
export interface TreeSource {
  /** Id of the root tree. */
  readonly root: string;
  folder(sha: string): Promise<ReadonlyMap<string, TreeEntry>>;
  file(sha: string): Promise<Uint8Array>;
}

const FOLDER = '040000';
const SUBMODULE = '160000';
const NONE: ReadonlyMap<string, TreeEntry> = new Map();

/** Every path that differs between two trees, with what it holds on either side. Equal directories are not opened. */
export async function treeDifference(before: TreeSource, after: TreeSource): Promise<Sides> {
  const sides = { before: new Map<string, Side>(), after: new Map<string, Side>() };
  const take = async (source: TreeSource, into: Map<string, Side>, path: string, entry: TreeEntry) => {
    const content = entry.mode === SUBMODULE ? Buffer.from(entry.sha) : await source.file(entry.sha);
    into.set(path, { mode: entry.mode, content });
  };
  const walk = async (prefix: string, one: string | undefined, other: string | undefined): Promise<void> => {
    const left = one === undefined ? NONE : await before.folder(one);
    const right = other === undefined ? NONE : await after.folder(other);
    for (const name of new Set([...left.keys(), ...right.keys()])) {
      const [a, b] = [left.get(name), right.get(name)];
      if (a?.sha === b?.sha && a?.mode === b?.mode) continue;
      const path = `${prefix}${name}`;
      if (a && a.mode !== FOLDER) await take(before, sides.before, path, a);
      if (b && b.mode !== FOLDER) await take(after, sides.after, path, b);
      const folders = [a, b].map((entry) => (entry?.mode === FOLDER ? entry.sha : undefined));
      if (folders.some((sha) => sha !== undefined)) await walk(`${path}/`, folders[0], folders[1]);
    }
  };
  await walk('', before.root, after.root);
  return sides;
}
