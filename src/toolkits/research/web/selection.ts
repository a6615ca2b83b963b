import type { Range } from './data.ts';
import { countCodePoints, rowAt, type TextRow, unitIndex } from './use-document.ts';

/** What the browser has selected inside the reader, in positions of the source. */
export function selectedRange(reader: HTMLElement): Range | undefined {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  if (!reader.contains(range.commonAncestorContainer)) return undefined;
  const start = positionOf(range.startContainer, range.startOffset);
  const end = positionOf(range.endContainer, range.endOffset);
  if (start === undefined || end === undefined || start >= end) return undefined;
  return { start, end };
}

/** Browsers count UTF-16 units within text nodes; the project counts code points from the start of the source. */
function positionOf(node: Node, offset: number): number | undefined {
  const element = node instanceof Element ? node : node.parentElement;
  const text = element?.closest<HTMLElement>('[data-start]') ?? rowTextNear(element);
  if (!text) return undefined;
  const start = Number(text.dataset.start);
  if (!text.contains(node)) return start;
  const before = document.createRange();
  before.selectNodeContents(text);
  before.setEnd(node, offset);
  return start + countCodePoints(before.toString());
}

/** A double click may end its selection next to the text, in the row's margin. */
const rowTextNear = (element: Element | null): HTMLElement | undefined =>
  element?.closest('.reader-row')?.querySelector<HTMLElement>('[data-start]') ?? undefined;

export type Step = 'row' | 'word';

/** The whole row after (or before) a range that has any text; the range itself at the ends. */
export function moveToRow(rows: readonly TextRow[], from: Range | undefined, by: 1 | -1): Range | undefined {
  let at = from ? rowAt(rows, by === 1 ? from.end - 1 : from.start) + by : by === 1 ? 0 : rows.length - 1;
  while (rows[at] && rows[at]?.text.trim() === '') at += by;
  const row = rows[at];
  return row ? { start: row.start, end: row.end } : from;
}

/** Moves one end of a range by a word or a row; never beyond the other end. */
export function stretch(
  rows: readonly TextRow[],
  range: Range,
  edge: 'start' | 'end',
  by: 1 | -1,
  step: Step,
): Range {
  const stops = stopsAround(rows, range[edge], edge, step);
  const next =
    by === 1 ? stops.find((stop) => stop > range[edge]) : stops.findLast((stop) => stop < range[edge]);
  if (next === undefined) return range;
  const moved = { ...range, [edge]: next };
  return moved.start < moved.end ? moved : range;
}

/** Where an edge can stand: a start where a row or word starts, an end where one ends. */
function stopsAround(
  rows: readonly TextRow[],
  position: number,
  edge: 'start' | 'end',
  step: Step,
): number[] {
  const at = rowAt(rows, position);
  const near = rows.slice(Math.max(0, at - 2), at + 3);
  const spans = step === 'row' ? near : near.flatMap(wordsOf);
  return spans.map((span) => span[edge]);
}

function wordsOf(row: TextRow): Range[] {
  const words = new Intl.Segmenter(undefined, { granularity: 'word' });
  return [...words.segment(row.text)].flatMap(({ index, segment, isWordLike }) => {
    if (!isWordLike) return [];
    const start = row.start + countCodePoints(row.text.slice(0, index));
    return [{ start, end: start + countCodePoints(segment) }];
  });
}

/** The words of a range, read from the rows. */
export function textOf(rows: readonly TextRow[], { start, end }: Range): string {
  const parts: string[] = [];
  let last: TextRow | undefined;
  for (let at = rowAt(rows, start); at < rows.length; at += 1) {
    const row = rows[at];
    if (!row || row.start >= end) break;
    if (last && row.start > last.end) parts.push('\n');
    const from = unitIndex(row.text, Math.max(0, start - row.start));
    parts.push(row.text.slice(from, unitIndex(row.text, Math.max(0, end - row.start))));
    last = row;
  }
  return parts.join('');
}
