import { createHash } from 'node:crypto';
import { ToolError } from '../../../contract/errors.ts';
import type { Side, Sides } from '../git/change-diff.ts';
import { locate, type TreeEntry, type TreeSource } from './locate.ts';

export interface FileEdit {
  readonly path: string;
  readonly original_content?: string | undefined;
  readonly modified_content: string;
  /** `base64`: both contents are bytes in that form. */
  readonly encoding?: 'utf-8' | 'base64' | undefined;
  /** The file is moved from here. */
  readonly previous_path?: string | undefined;
  readonly executable?: boolean | undefined;
  readonly delete?: boolean | undefined;
  /** The base's bytes stay: a move or a change of mode alone. */
  readonly keep_content?: boolean | undefined;
}

export interface ChangeRequest {
  readonly baseBranch: string;
  readonly headBranch: string;
  readonly message: string;
  readonly title: string;
  readonly body: string;
  readonly files: readonly FileEdit[];
}

export interface PlannedFile extends Side {
  readonly path: string;
  readonly content: Buffer;
}

/** A change that fits its base: exactly what will be committed. */
export interface Plan extends Omit<ChangeRequest, 'files'> {
  readonly baseCommit: string;
  /** What the commit writes; a moved file is written here and removed there. */
  readonly files: readonly PlannedFile[];
  readonly removed: readonly string[];
  readonly sides: Sides;
}

export type Conflict = {
  readonly path: string;
  readonly reason: 'changed' | 'missing' | 'exists' | 'not_text' | 'too_large';
  readonly base_blob: string | null;
};

interface Base {
  readonly commit: string;
  readonly source: TreeSource;
  readonly maxFileBytes: number;
}

const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Compares every file with the base and lays out the commit. Nothing is written. */
export async function planChange(request: ChangeRequest, base: Base): Promise<Plan> {
  const conflicts: Conflict[] = [];
  const files: PlannedFile[] = [];
  const removed: string[] = [];
  const before = new Map<string, Side>();
  for (const edit of request.files) {
    const step = await planFile(edit, base);
    if ('reason' in step) {
      conflicts.push(step);
      continue;
    }
    const { from, to } = step;
    if (from && to && from.path === to.path && from.mode === to.mode && to.content.equals(from.content))
      continue;
    if (from) before.set(from.path, from);
    if (to) files.push(to);
    if (from && from.path !== to?.path) removed.push(from.path);
  }
  if (conflicts.length > 0) throw conflictError(conflicts, request.baseBranch, base.commit);
  if (files.length + removed.length === 0) {
    throw new ToolError(
      'invalid_input',
      `Nothing would change: every file already has this content on ${request.baseBranch}.`,
      {
        detail: { reason: 'nothing_to_change', base_commit: base.commit },
      },
    );
  }
  const after = new Map(files.map((file) => [file.path, file]));
  return { ...request, baseCommit: base.commit, files, removed, sides: { before, after } };
}

/** The file on the base and what it becomes, or why it cannot. */
async function planFile(
  edit: FileEdit,
  base: Base,
): Promise<{ from: PlannedFile | undefined; to: PlannedFile | undefined } | Conflict> {
  const source = edit.previous_path ?? edit.path;
  const entry = await locate(base.source, source);
  if (edit.previous_path !== undefined) {
    const target = await locate(base.source, edit.path);
    if (target) return { path: edit.path, reason: 'exists', base_blob: target.sha };
  }
  const needsBase = edit.delete || edit.keep_content || edit.previous_path !== undefined;
  if (!entry) {
    // An empty original is how a caller says that there was nothing.
    if (edit.original_content || needsBase) return { path: source, reason: 'missing', base_blob: null };
    return {
      from: undefined,
      to: { path: edit.path, mode: modeOf(edit, undefined), content: newContent(edit) },
    };
  }
  const found = await readBase(edit, entry, base);
  if ('reason' in found) return { ...found, path: source };
  const from = { path: source, mode: entry.mode, content: found.content };
  if (edit.delete) return { from, to: undefined };
  const content = edit.keep_content ? from.content : newContent(edit);
  return { from, to: { path: edit.path, mode: modeOf(edit, entry), content } };
}

const newContent = ({ modified_content, encoding }: FileEdit): Buffer =>
  Buffer.from(modified_content, encoding === 'base64' ? 'base64' : 'utf8');

function modeOf({ executable }: FileEdit, entry: TreeEntry | undefined): string {
  return (executable ?? entry?.mode === '100755') ? '100755' : '100644';
}

/** The bytes the file has on the base, or why it cannot be edited. */
async function readBase(
  edit: FileEdit,
  entry: TreeEntry,
  { source, maxFileBytes }: Base,
): Promise<{ content: Buffer } | Omit<Conflict, 'path'>> {
  const conflict = (reason: Conflict['reason']) => ({ reason, base_blob: entry.sha });
  const given = edit.original_content;
  const original =
    given === undefined ? undefined : Buffer.from(given, edit.encoding === 'base64' ? 'base64' : 'utf8');
  const isKnown = original !== undefined && isBlob(entry.sha, original);
  if (original && !isKnown && entry.sha.length === 40) return conflict('changed');
  if (!isKnown && (entry.size ?? 0) > maxFileBytes) return conflict('too_large');
  const content = isKnown ? original : Buffer.from(await source.file(entry.sha));
  if (original && !content.equals(original)) return conflict('changed');
  const isText = isUtf8(content) || edit.encoding === 'base64';
  // What stays or goes as it is may be anything; what is written over must be what the caller takes it for.
  if (!edit.delete && !edit.keep_content && (!isText || isPointer(content))) return conflict('not_text');
  return { content };
}

/** Is this the content behind a blob id? Only for SHA-1 repositories; others are compared by content. */
function isBlob(sha: string, content: Buffer): boolean {
  return sha === createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

const isPointer = (content: Buffer): boolean =>
  content.subarray(0, LFS_POINTER.length).toString() === LFS_POINTER;

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return !bytes.includes(0);
  } catch {
    return false;
  }
}

const WHY: Record<Conflict['reason'], string> = {
  changed: 'does not match original_content',
  missing: 'does not exist there',
  exists: 'already exists there',
  not_text: 'is not a UTF-8 text file (or is stored in Git LFS)',
  too_large: 'is larger than dev.max_file_bytes',
};

const NEXT: Record<Conflict['reason'], string> = {
  changed: 'Read it with code_read and redo the change.',
  missing: 'List what exists with code_tree.',
  exists: 'Move it to another path.',
  not_text: 'Send a binary file with encoding "base64"; a file in Git LFS must be changed by a person.',
  too_large: 'A person can raise dev.max_file_bytes.',
};

function conflictError(conflicts: readonly Conflict[], branch: string, commit: string): ToolError {
  const lines = conflicts.map(({ path, reason }) => `${path} ${WHY[reason]}`);
  const [first] = conflicts;
  return new ToolError(
    'conflict',
    `The change does not apply to ${branch} at ${commit.slice(0, 12)}: ${lines.join('; ')}.`,
    {
      hint: first && NEXT[first.reason],
      detail: {
        reason: 'base_conflict',
        base_commit: commit,
        conflicts: conflicts.map((conflict) => ({ ...conflict })),
      },
    },
  );
}
