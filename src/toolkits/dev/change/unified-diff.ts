import { formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff';

export interface FileChange {
  readonly path: string;
  /** Undefined when the file does not exist yet. */
  readonly before: string | undefined;
  readonly after: string;
  readonly mode?: string;
}

const CONTEXT = 3;
/** Beyond this many edits a minimal diff costs seconds and helps no reader. */
const MAX_EDITS = 1500;

/** A unified diff with context that `git apply` takes and that reproduces the file byte for byte. */
export function filePatch({ path, before, after, mode = '100644' }: FileChange): string {
  if (before === after) return '';
  const old = before ?? '';
  const hunks = structuredPatch(path, path, old, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MAX_EDITS,
  })?.hunks ?? [replacement(old, after)];
  const isCreate = before === undefined;
  // Git ends a name that holds spaces with a tab, or it could not tell the name from a time stamp.
  const header = path.includes(' ') ? '\t' : '';
  const text = formatPatch({
    oldFileName: isCreate ? '/dev/null' : `a/${path}`,
    newFileName: `b/${path}`,
    oldHeader: undefined,
    newHeader: undefined,
    hunks,
    isGit: true,
    ...(isCreate ? { isCreate: true, newMode: mode } : {}),
  });
  if (header === '') return text;
  return text
    .replace(/^--- a\/.*$/m, (line) => `${line}${header}`)
    .replace(/^\+\+\+ b\/.*$/m, (line) => `${line}${header}`);
}

/** One hunk that exchanges everything between the first and the last common line. */
function replacement(before: string, after: string): StructuredPatchHunk {
  const old = splitLines(before);
  const next = splitLines(after);
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  const from = Math.max(0, start - CONTEXT);
  const tail = Math.min(end, CONTEXT);
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...next.slice(start, next.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - end + tail).map((line) => ` ${line}`),
  ];
  return {
    oldStart: from + 1,
    oldLines: old.length - end + tail - from,
    newStart: from + 1,
    newLines: next.length - end + tail - from,
    lines: lines.flatMap((line) =>
      line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file'],
    ),
  };
}

const splitLines = (text: string): string[] => (text === '' ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? []));

/** How many lines the file grows by; a final line break does not begin another line. */
export const lineDelta = (before: string, after: string): number => countLines(after) - countLines(before);

function countLines(text: string): number {
  const body = text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return text === '' ? 0 : body.split('\n').length;
}
