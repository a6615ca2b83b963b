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
