import type { TreeEntry, TreeSource } from '../change/locate.ts';
import type { SearchMatch, SearchQuery } from '../forge/port.ts';
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

const MAX_LINE = 400;
const MAX_BYTES = 32 * 1024 * 1024;

/** Lines of a commit's text files that hold a text, as `git grep` finds them. Patterns are not interpreted. */
export async function grepCommit(
  clone: Clone,
  { text, path, ignoreCase, limit }: SearchQuery,
  commit: string,
  signal: AbortSignal,
): Promise<{ matches: SearchMatch[]; truncated: boolean }> {
  const args = [
    'grep',
    '-n',
    '-I',
    '-F',
    '-z',
    '--full-name',
    '--no-color',
    '--no-textconv',
    '--max-count=50',
  ];
  const { stdout } = await clone.run(
    [...args, ...(ignoreCase ? ['-i'] : []), '-e', text, commit, ...(path === undefined ? [] : ['--', path])],
    { answers: [1], signal, maxBytes: MAX_BYTES },
  );
  const matches: SearchMatch[] = [];
  // `commit:path\0line\0text\n`
  for (const record of stdout.toString('utf8').split('\n')) {
    const [name = '', line = '', ...rest] = record.split('\0');
    if (line === '') continue;
    if (matches.length === limit) return { matches, truncated: true };
    const found = rest.join('\0');
    matches.push({
      path: name.slice(commit.length + 1),
      line: Number(line),
      text: found.length > MAX_LINE ? `${found.slice(0, MAX_LINE)}…` : found,
    });
  }
  return { matches, truncated: false };
}
