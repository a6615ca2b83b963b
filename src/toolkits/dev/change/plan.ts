import { createHash } from 'node:crypto';
import { ToolFault } from '../../../contract/faults.ts';
import { filePatch, joinPatches } from '../patch/unified.ts';
import { locate } from './locate.ts';
import type { TreeEntry, TreeSource } from './tree-source.ts';

export interface FileEdit {
  readonly path: string;
  readonly original_content?: string | undefined;
  readonly modified_content: string;
}

export interface ChangeRequest {
  readonly baseBranch: string;
  readonly headBranch: string;
  readonly message: string;
  readonly title: string;
  readonly body: string;
  readonly files: readonly FileEdit[];
}

export interface PlannedFile {
  readonly path: string;
  readonly mode: string;
  readonly content: Buffer;
  readonly isNew: boolean;
}

/** A change that fits its base: exactly what will be committed. */
export interface Plan extends Omit<ChangeRequest, 'files'> {
  readonly baseCommit: string;
  readonly files: readonly PlannedFile[];
  readonly patch: string;
}

export type Conflict = {
  readonly path: string;
  readonly reason: 'changed' | 'missing' | 'not_text' | 'too_large';
  readonly base_blob: string | null;
};

const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Compares every file with the base and lays out the commit. Nothing is written. */
export async function planChange(
  request: ChangeRequest,
  base: { readonly commit: string; readonly source: TreeSource; readonly maxFileBytes: number },
): Promise<Plan> {
  const conflicts: Conflict[] = [];
  const files: PlannedFile[] = [];
  const patches: string[] = [];
  for (const edit of request.files) {
    const entry = await locate(base.source, edit.path);
    const before = await readBase(edit, entry, base);
    if (typeof before === 'object') {
      conflicts.push(before);
      continue;
    }
    if (before === edit.modified_content) continue;
    const mode = entry?.mode === '100755' ? '100755' : '100644';
    patches.push(filePatch({ path: edit.path, before, after: edit.modified_content, mode }));
    const content = Buffer.from(edit.modified_content, 'utf8');
    files.push({ path: edit.path, mode, content, isNew: before === undefined });
  }
  if (conflicts.length > 0) throw conflictFault(conflicts, request.baseBranch, base.commit);
  if (files.length === 0) {
    throw new ToolFault(
      'invalid_input',
      `Nothing would change: every file is already so on ${request.baseBranch}.`,
      {
        detail: { reason: 'nothing_to_change', base_commit: base.commit },
      },
    );
  }
  return { ...request, baseCommit: base.commit, files, patch: joinPatches(patches) };
}

/** The text the file has on the base (undefined: none), or why it cannot be edited. */
async function readBase(
  edit: FileEdit,
  entry: TreeEntry | undefined,
  { source, maxFileBytes }: { readonly source: TreeSource; readonly maxFileBytes: number },
): Promise<string | undefined | Conflict> {
  if (!entry) {
    // An empty original is how a caller says that there was nothing.
    return edit.original_content ? { path: edit.path, reason: 'missing', base_blob: null } : undefined;
  }
  const conflict = (reason: Conflict['reason']): Conflict => ({
    path: edit.path,
    reason,
    base_blob: entry.sha,
  });
  if (edit.original_content !== undefined) {
    const original = Buffer.from(edit.original_content, 'utf8');
    if (isBlob(entry.sha, original))
      return isPointer(edit.original_content) ? conflict('not_text') : edit.original_content;
    if (entry.sha.length === 40) return conflict('changed');
  }
  if ((entry.size ?? 0) > maxFileBytes) return conflict('too_large');
  const bytes = await source.file(entry.sha);
  const text = decode(bytes);
  if (text === undefined || isPointer(text)) return conflict('not_text');
  if (edit.original_content !== undefined && text !== edit.original_content) return conflict('changed');
  return text;
}

/** Is this the content behind a blob id? Only for SHA-1 repositories; others are compared by content. */
function isBlob(sha: string, content: Buffer): boolean {
  return sha === createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

const isPointer = (text: string): boolean => text.startsWith(LFS_POINTER);

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const WHY: Record<Conflict['reason'], string> = {
  changed: 'is not what original_content says',
  missing: 'does not exist there',
  not_text: 'is not a UTF-8 text file (or is kept in Git LFS)',
  too_large: 'is larger than dev.max_file_bytes',
};

function conflictFault(conflicts: readonly Conflict[], branch: string, commit: string): ToolFault {
  const lines = conflicts.map(({ path, reason }) => `${path} ${WHY[reason]}`);
  return new ToolFault(
    'conflict',
    `The change does not fit ${branch} at ${commit.slice(0, 12)}: ${lines.join('; ')}.`,
    {
      detail: {
        reason: 'base_conflict',
        base_commit: commit,
        conflicts: conflicts.map((conflict) => ({ ...conflict })),
      },
    },
  );
}
