/** One file of a proposed change, as git describes it. */
export interface PreviewFile {
  readonly path: string;
  readonly previous_path?: string;
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed';
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  /** Git's modes; absent on the side where the file does not exist. */
  readonly old_mode?: string;
  readonly new_mode?: string;
  /** The part of `git diff --binary` about this file. */
  readonly patch: string;
  /** The same bytes where they are not UTF-8, and `patch` only shows them. */
  readonly patch_base64?: string;
}

/** What a person is shown of a code change: the diff against the commit the permit is bound to. */
export interface ChangePreview {
  readonly base_commit: string;
  readonly files: readonly PreviewFile[];
  /** Arguments of the call that the diff replaces where a person reads it. */
  readonly replaces?: readonly string[];
}
