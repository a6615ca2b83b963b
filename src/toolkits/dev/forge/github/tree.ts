import { ToolError } from '../../../../contract/errors.ts';
import type { TreeEntry, TreeSource } from '../../change/locate.ts';
import type { GithubRepo } from './repo.ts';

/** The files of a commit on GitHub, one folder per request. */
export async function githubTree(repo: GithubRepo, commit: string, signal: AbortSignal): Promise<TreeSource> {
  const folders = new Map<string, ReadonlyMap<string, TreeEntry>>();
  const at = repo.at(signal);
  const { data } = await repo.read('code:read', 'read the base commit', (octokit) =>
    octokit.rest.git.getCommit({ ...at, commit_sha: commit }),
  );
  return {
    root: data.tree.sha,
    async folder(sha) {
      const known = folders.get(sha);
      if (known) return known;
      const { data: tree } = await repo.read('code:read', 'list a folder', (octokit) =>
        octokit.rest.git.getTree({ ...at, tree_sha: sha }),
      );
      if (tree.truncated) {
        throw new ToolError(
          'unavailable',
          'A directory on the path is too large for the GitHub API to list.',
          {
            retryable: false,
          },
        );
      }
      const entries = new Map(
        tree.tree.map(({ path, mode, sha: id, size }) => [path, { mode, sha: id, size }] as const),
      );
      folders.set(sha, entries);
      return entries;
    },
    async file(sha) {
      const { data: blob } = await repo.read('code:read', 'read a file', (octokit) =>
        octokit.rest.git.getBlob({ ...at, file_sha: sha }),
      );
      return Buffer.from(blob.content, 'base64');
    },
  };
}
