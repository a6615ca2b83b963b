import type { PreviewFile } from '../../../../contract/preview.ts';
import type { PullFile } from '../port.ts';

const MAX_FILES = 3000;
/** A person who is to merge wants to see even a large change of a file. */
const MAX_PATCH_BYTES = 1_000_000;

/** What git says changed, in the shape GitHub answers. */
export function toPullFiles(
  diff: readonly PreviewFile[],
  address: (kind: 'blob' | 'raw', path: string) => string,
): { files: PullFile[]; truncated: boolean } {
  const files = diff.slice(0, MAX_FILES).map((file): PullFile => {
    const patch = hunksOf(file);
    return {
      filename: file.path,
      status: file.status,
      additions: file.additions,
      deletions: file.deletions,
      changes: file.additions + file.deletions,
      blob_url: address('blob', file.path),
      raw_url: address('raw', file.path),
      ...(patch && Buffer.byteLength(patch) <= MAX_PATCH_BYTES ? { patch } : {}),
      ...(file.previous_path ? { previous_filename: file.previous_path } : {}),
    };
  });
  return { files, truncated: diff.length > MAX_FILES };
}

/** GitHub gives the hunks alone, and none for a binary file. */
function hunksOf({ patch, binary }: PreviewFile): string {
  const start = binary ? -1 : patch.search(/^@@ /m);
  return start < 0 ? '' : patch.slice(start).replace(/\n$/, '');
}
