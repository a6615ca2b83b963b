import { pathFault } from '../git/repo-path.ts';
import type { TreeEntry, TreeSource } from './tree-source.ts';

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
      throw pathFault(
        'path_policy_forbidden',
        path,
        `differs from ${twin} only in a way some file systems do not see`,
      );
    }
    const here = segments.slice(0, depth + 1).join('/');
    if (entry.mode === '120000')
      throw pathFault('path_policy_symlink', path, `meets the symbolic link ${here}`);
    if (entry.mode === '160000') throw pathFault('path_policy_symlink', path, `meets the submodule ${here}`);
    const isFolder = entry.mode === '040000';
    const isLast = depth === segments.length - 1;
    if (isLast) {
      if (isFolder) throw pathFault('path_policy_forbidden', path, 'is a folder');
      return entry;
    }
    if (!isFolder) throw pathFault('path_policy_forbidden', path, `goes through ${here}, which is a file`);
    folder = entry.sha;
  }
  return undefined;
}

const fold = (name: string): string => name.normalize('NFKC').toLowerCase();
