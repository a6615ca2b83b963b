import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, toApiError } from '../../../web/ui/api.ts';
import { type Marks, readView } from './data.ts';

/** A stretch of a source as one row of the reader. Positions count code points, as the project does. */
export interface TextRow {
  readonly start: number;
  readonly end: number;
  /** Without its line end. */
  readonly text: string;
}

/** Longer lines are cut into rows of about this many characters, so that no row is too large to lay out. */
const LONGEST = 2000;

/** Cuts a text into rows at line ends. `from` is the position of its first character. */
export function toRows(text: string, from: number): TextRow[] {
  const rows: TextRow[] = [];
  let position = from;
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    for (const part of cut(line)) {
      const length = countCodePoints(part);
      rows.push({ start: position, end: position + length, text: part });
      position += length;
    }
    if (at < lines.length - 1) position += 1;
  }
  return rows;
}

/** Adds the rows of the next page; a line that the page border cut in two becomes one again. */
export function appendRows(rows: readonly TextRow[], text: string, from: number): TextRow[] {
  const last = rows.at(-1);
  if (!last || last.end !== from) return [...rows, ...toRows(text, from)];
  return [...rows.slice(0, -1), ...toRows(last.text + text, last.start)];
}

function cut(line: string): string[] {
  if (line.length <= LONGEST) return [line];
  const parts: string[] = [];
  let rest = line;
  while (rest.length > LONGEST) {
    const space = rest.lastIndexOf(' ', LONGEST);
    let end = space > LONGEST / 2 ? space + 1 : LONGEST;
    if (isLowSurrogate(rest, end)) end += 1;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === '' ? parts : [...parts, rest];
}

const isLowSurrogate = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
};

export function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if (!isPair(text, index)) count += 1;
  return count;
}

/** The first unit of a surrogate pair is not counted; its second is. */
const isPair = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text, index + 1);
};

/** The UTF-16 index of a code point within a text; the text's end when it has fewer. */
export function unitIndex(text: string, codePoints: number): number {
  let index = 0;
  for (let left = codePoints; left > 0 && index < text.length; left -= 1)
    index += isPair(text, index) ? 2 : 1;
  return index;
}

/** The row a position lies in: the last one that starts at or before it. */
export function rowAt(rows: readonly TextRow[], position: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.start ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

const PAGE = 200_000;
const NO_MARKS: Marks = { segments: [], suggestions: [], annotations: [] };

export interface OpenDocument {
  readonly rows: readonly TextRow[];
  readonly marks: Marks;
  readonly total: number;
  /** True once the last page is here. */
  readonly complete: boolean;
  readonly error: ApiError | undefined;
  /** Looks at the marks again; the text does not change under a reader. */
  reloadMarks(): Promise<void>;
}

/** A source page by page: the first page shows immediately, the rest follows in the background. */
export function useDocument(sourceId: number | undefined): OpenDocument {
  const [rows, setRows] = useState<readonly TextRow[]>([]);
  const [marks, setMarks] = useState(NO_MARKS);
  const [total, setTotal] = useState(0);
  const [complete, setComplete] = useState(false);
  const [error, setError] = useState<ApiError>();
  const current = useRef(sourceId);
  current.current = sourceId;

  const reloadMarks = useCallback(async () => {
    if (sourceId === undefined) return;
    const found = await readView('marks', { source_id: sourceId });
    if (current.current === sourceId) setMarks(found);
  }, [sourceId]);

  useEffect(() => {
    setRows([]);
    setMarks(NO_MARKS);
    setComplete(false);
    setError(undefined);
    if (sourceId === undefined) return;
    let open = true;
    const load = async () => {
      let at = 0;
      for (let more = true; more && open; ) {
        const params = { source_id: sourceId, start_pos: at, max_length: at === 0 ? PAGE / 10 : PAGE };
        const page = await readView('source', params);
        if (!open) return;
        setTotal(page.total_length);
        setRows((before) => appendRows(page.start_pos === 0 ? [] : before, page.content, page.start_pos));
        at = page.end_pos;
        more = page.has_more;
        // The codings are for the eye that already reads the first page.
        if (page.start_pos === 0) await reloadMarks();
      }
      if (open) setComplete(true);
    };
    load().catch((problem: unknown) => {
      if (open) setError(toApiError(problem));
    });
    return () => {
      open = false;
    };
  }, [sourceId, reloadMarks]);

  return { rows, marks, total, complete, error, reloadMarks };
}
