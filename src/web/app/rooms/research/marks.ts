import { type TextRow, unitIndex } from './text-rows.ts';

/** Something that lies on the text: a coding, a suggestion, a selection or the passage an agent points at. */
export interface Mark {
  readonly key: string;
  readonly kind: 'coding' | 'suggestion' | 'picked' | 'shown';
  readonly start: number;
  readonly end: number;
  readonly color: string;
  /** Which of the stacked lines is its own; marks that share text never share a lane. */
  readonly lane: number;
}

/** A piece of a row that the same marks cover from end to end. */
export interface Piece {
  readonly text: string;
  readonly start: number;
  readonly marks: readonly Mark[];
}

/** Gives every mark the lowest lane that is free along its whole length. */
export function giveLanes<T extends { readonly start: number; readonly end: number }>(
  ranges: readonly T[],
): { readonly item: T; readonly lane: number }[] {
  const ends: number[] = [];
  return [...ranges]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .map((item) => {
      const free = ends.findIndex((end) => end <= item.start);
      const lane = free === -1 ? ends.length : free;
      ends[lane] = item.end;
      return { item, lane };
    });
}

/** The marks that touch each row; sorted marks and rows make this one walk instead of a search per row. */
export function marksByRow(rows: readonly TextRow[], marks: readonly Mark[]): ReadonlyMap<number, Mark[]> {
  const found = new Map<number, Mark[]>();
  const sorted = [...marks].sort((a, b) => a.start - b.start);
  let first = 0;
  for (const mark of sorted) {
    while (first < rows.length - 1 && (rows[first]?.end ?? 0) < mark.start) first += 1;
    for (let at = first; at < rows.length; at += 1) {
      const row = rows[at];
      if (!row || row.start >= mark.end) break;
      if (row.end <= mark.start) continue;
      const here = found.get(at);
      if (here) here.push(mark);
      else found.set(at, [mark]);
    }
  }
  return found;
}

export function piecesOf(row: TextRow, marks: readonly Mark[]): Piece[] {
  const cuts = new Set([row.start, row.end]);
  for (const { start, end } of marks) {
    if (start > row.start && start < row.end) cuts.add(start);
    if (end > row.start && end < row.end) cuts.add(end);
  }
  const places = [...cuts].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let rest = row.text;
  for (const [at, start] of places.entries()) {
    const end = places[at + 1];
    if (end === undefined) break;
    const unit = unitIndex(rest, end - start);
    pieces.push({
      text: rest.slice(0, unit),
      start,
      marks: marks.filter((mark) => mark.start < end && mark.end > start).sort((a, b) => a.lane - b.lane),
    });
    rest = rest.slice(unit);
  }
  return pieces;
}
