import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { PresentationBlock } from '../../contract/presentation.ts';
import { isChange, type Tool } from '../../contract/tool.ts';
import { isObject } from '../../lib/is-object.ts';
import { lookup } from '../../lib/lookup.ts';

/** Arguments that name a file, in the order in which they are believed. */
const PATHS = ['path', 'file_path', 'filePath', 'filepath', 'target_file', 'filename', 'file', 'uri'];
const OLD = ['oldText', 'old_text', 'oldString', 'old_string', 'old_str', 'old', 'search', 'find'];
const NEW = ['newText', 'new_text', 'newString', 'new_string', 'new_str', 'new', 'replace', 'replacement'];
const CONTENTS = ['content', 'contents', 'file_text', 'fileText', 'new_content', 'newContent'];
/** Aligning larger texts line by line would hold up the call that is asked about. */
const MAX_ALIGNED = 1_000_000;

interface Edit {
  readonly before: string;
  readonly after: string;
}

interface FileEdits {
  readonly blocks: readonly PresentationBlock[];
  /** Arguments that the blocks show in full. */
  readonly covers: readonly string[];
}

/** Arguments that look like an edit of a file, as a diff. Undefined where they do not. */
export function fileEdits({ effect }: Pick<Tool, 'effect'>, args: JsonObject): FileEdits | undefined {
  const path = textOf(args, PATHS)?.text;
  if (!isChange(effect) || path === undefined || path === '') return undefined;
  const list = editList(args);
  if (list) return { blocks: diffOf(path, list.edits), covers: [list.name] };
  const before = textOf(args, OLD);
  const after = textOf(args, NEW);
  if (before && after)
    return {
      blocks: diffOf(path, [{ before: before.text, after: after.text }]),
      covers: [before.name, after.name],
    };
  const content = textOf(args, CONTENTS);
  if (!content) return undefined;
  return {
    blocks: [...diffOf(path, [{ before: '', after: content.text }]), UNKNOWN],
    covers: [content.name],
  };
}

const UNKNOWN: PresentationBlock = {
  type: 'notice',
  level: 'note',
  text: 'Only the new content is shown. If the file already exists, its current content is not known here and may be replaced.',
};

function editList(args: JsonObject): { name: string; edits: Edit[] } | undefined {
  for (const [name, value] of Object.entries(args)) {
    if (!Array.isArray(value) || value.length === 0) continue;
    const edits = value.map(toEdit);
    // One that says more than its texts must not be hidden by a diff.
    if (edits.every((edit) => edit !== undefined)) return { name, edits };
  }
  return undefined;
}

function toEdit(value: JsonValue): Edit | undefined {
  if (!isObject<JsonValue>(value) || Object.keys(value).length !== 2) return undefined;
  const before = textOf(value, OLD)?.text;
  const after = textOf(value, NEW)?.text;
  return before === undefined || after === undefined ? undefined : { before, after };
}

function textOf(args: JsonObject, names: readonly string[]): { name: string; text: string } | undefined {
  for (const name of names) {
    const text = lookup(args, name);
    if (typeof text === 'string') return { name, text };
  }
  return undefined;
}

/** Line numbers count within the edits: where in the file they apply is not known. */
function diffOf(path: string, edits: readonly Edit[]): PresentationBlock[] {
  const shown = path.replace(/[\r\n]/gu, ' ');
  let patch = `diff --git a/${shown} b/${shown}\n--- a/${shown}\n+++ b/${shown}\n`;
  let additions = 0;
  let deletions = 0;
  let [oldLine, newLine] = [1, 1];
  for (const { before, after } of edits) {
    const lines = alignLines(linesOf(before), linesOf(after));
    const count = (marks: string): number => lines.filter(([mark = '']) => marks.includes(mark)).length;
    const [removed, added] = [count(' -'), count(' +')];
    patch += `@@ -${removed === 0 ? oldLine - 1 : oldLine},${removed} +${added === 0 ? newLine - 1 : newLine},${added} @@\n`;
    patch += lines.map((line) => `${line}\n`).join('');
    oldLine += removed;
    newLine += added;
    additions += count('+');
    deletions += count('-');
  }
  const file = { path, status: 'modified', additions, deletions, binary: false, patch } as const;
  return [{ type: 'diff', title: 'Edited file', base_commit: '', files: [file] }];
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/u, '').split('\n'));

/** Lines of both texts with their marks: equal ones once, then removed before added. */
function alignLines(before: readonly string[], after: readonly string[]): string[] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): string[] => lines.map((line) => ` ${line}`);
  return [
    ...same(before.slice(0, start)),
    ...alignRest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function alignRest(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > MAX_ALIGNED)
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  // Length of the longest common subsequence of what follows each pair of lines.
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        before[i] === after[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    // At least one side has a line left, so two that are equal are both lines.
    if (before[i] === after[j]) {
      lines.push(` ${before[i]}`);
      i += 1;
      j += 1;
    } else if (
      i < before.length &&
      (j === after.length || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push(`-${before[i]}`);
      i += 1;
    } else {
      lines.push(`+${after[j]}`);
      j += 1;
    }
  }
  return lines;
}
