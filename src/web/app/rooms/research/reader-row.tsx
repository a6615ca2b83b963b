import { type CSSProperties, memo, type ReactNode } from 'react';
import { Foreign } from '../../components/foreign.tsx';
import { codeOf, UNSEEN } from '../../lib/unseen-text.ts';
import { type Mark, piecesOf } from './marks.ts';
import type { TextRow } from './text-rows.ts';
import type { Annotation, Coding, CodingSuggestion } from './types.ts';

/** Above this many stacked lines the margin tells what the underlines no longer can. */
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
              <Foreign text={coding.code_name} />
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
              <Foreign text={each.code_name} /> <span className="note-kind">suggested</span>
            </button>
          ))}
          {annotations.map((each) => (
            <p key={each.id} className="reader-annotation" title={`Annotation by ${each.owner}`}>
              <Foreign text={each.memo} />
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

/** A character nobody sees stays in the text, so that positions hold, but is shut in and shown by its code. */
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
