import type { TreeEntry, TreeSource } from '../change/tree-source.ts';
import type { Clone } from './clone.ts';

/** The files of a commit in a clone. */
export async function cloneTree(clone: Clone, commit: string, signal: AbortSignal): Promise<TreeSource> {
  const folders = new Map<string, ReadonlyMap<string, TreeEntry>>();
  return {
    root: await clone.treeOf(commit, signal),
    async folder(sha) {
      let entries = folders.get(sha);
      if (!entries) {
        const { stdout } = await clone.run(['ls-tree', '-z', '-l', sha], { signal });
        entries = parse(stdout.toString('utf8'));
        folders.set(sha, entries);
      }
      return entries;
    },
    async file(sha) {
      return (await clone.run(['cat-file', 'blob', sha], { signal })).stdout;
    },
  };
}

/** Lines of `ls-tree -z -l`: `<mode> <type> <id> <size>\t<name>`, size padded and `-` for folders. */
function parse(listing: string): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (const line of listing.split('\0')) {
    const tab = line.indexOf('\t');
    if (tab < 0) continue;
    const [mode = '', , sha = '', size = '-'] = line.slice(0, tab).split(/ +/);
    entries.set(line.slice(tab + 1), { mode, sha, size: size === '-' ? undefined : Number(size) });
  }
  return entries;
}
