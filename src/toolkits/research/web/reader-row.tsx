import { type CSSProperties, memo, type ReactNode } from 'react';
import { codeOf, UNSEEN } from '../../../lib/unseen.ts';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import type { Annotation, Coding, CodingSuggestion } from './data.ts';
import { type TextRow, unitIndex } from './use-document.ts';

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

/** Above this many stacked lines the margin shows what the underlines no longer can. */
const LANES_SHOWN = 5;

interface Props {
  readonly row: TextRow;
  readonly marks: readonly Mark[];
  /** What begins in this row, for its margin. */
  readonly codings: readonly Coding[];
  readonly suggestions: readonly CodingSuggestion[];
  readonly annotations: readonly Annotation[];
  readonly current: string | undefined;
  onCoding(coding: Coding): void;
  onSuggestion(suggestion: CodingSuggestion): void;
}

export const ReaderRow = memo(function ReaderRow(props: Props) {
  const { row, marks, codings, suggestions, annotations, current } = props;
  const stripes = marks.filter(({ kind }) => kind === 'coding' || kind === 'suggestion');
  return (
    <div className="reader-row">
      <div className="reader-bars" aria-hidden="true">
        {stripes.slice(0, 8).map((mark) => (
          <i key={mark.key} className={`reader-bar ${mark.kind}`} style={colour(mark.color)} />
        ))}
      </div>
      <p className="reader-text" dir="auto" data-start={row.start}>
        {piecesOf(row, marks).map((piece) => (
          <Underlined key={piece.start} text={piece.text} marks={piece.marks} />
        ))}
      </p>
      {codings.length + suggestions.length + annotations.length > 0 && (
        <div className="reader-notes">
          {codings.map((coding) => (
            <button
              type="button"
              tabIndex={-1}
              key={coding.id}
              className={current === `coding-${coding.id}` ? 'reader-note is-current' : 'reader-note'}
              style={colour(coding.color)}
              onClick={() => props.onCoding(coding)}
            >
              <UntrustedText text={coding.code_name} />
              {coding.importance > 0 && <span title="Important"> ★</span>}
            </button>
          ))}
          {suggestions.map((each) => (
            <button
              type="button"
              tabIndex={-1}
              key={each.approval_id}
              className={
                current === `suggestion-${each.approval_id}`
                  ? 'reader-note suggested is-current'
                  : 'reader-note suggested'
              }
              style={colour(each.color)}
              onClick={() => props.onSuggestion(each)}
            >
              <UntrustedText text={each.code_name} /> <span className="note-kind">suggested</span>
            </button>
          ))}
          {annotations.map((each) => (
            <p key={each.id} className="reader-annotation" title={`Annotation by ${each.owner}`}>
              <UntrustedText text={each.memo} />
            </p>
          ))}
        </div>
      )}
    </div>
  );
});

function Underlined({ text, marks }: { readonly text: string; readonly marks: readonly Mark[] }) {
  const picked = marks.some(({ kind }) => kind === 'picked');
  const shown = marks.some(({ kind }) => kind === 'shown');
  const lined = marks.filter(({ kind }) => kind === 'coding' || kind === 'suggestion').slice(0, LANES_SHOWN);
  // The innermost span has the lowest line, so that each line keeps its height along its whole length.
  let inner = (
    <span className={shown ? 'shown-passage' : undefined} data-shown={shown || undefined}>
      {visible(text)}
    </span>
  );
  if (picked) inner = <span className="picked-passage">{inner}</span>;
  for (const mark of lined) {
    inner = (
      <span
        className={`lined lane-${Math.min(mark.lane, LANES_SHOWN - 1)} ${mark.kind}`}
        style={colour(mark.color)}
        data-mark={mark.key}
      >
        {inner}
      </span>
    );
  }
  return inner;
}

const colour = (value: string) => ({ '--code': value }) as CSSProperties;

/** An invisible character stays in the text, so that positions hold, but is shut in and shown by its code. */
function visible(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (index > from) parts.push(text.slice(from, index));
    parts.push(
      <span key={index} className="unseen-mark" data-code={codeOf(found)}>
        {found}
      </span>,
    );
    from = index + found.length;
  }
  return from === 0 ? text : [...parts, text.slice(from)];
}
