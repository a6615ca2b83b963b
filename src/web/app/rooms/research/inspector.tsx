import type { CSSProperties } from 'react';
import { Button } from '../../components/button.tsx';
import { Foreign } from '../../components/foreign.tsx';
import type { Coding, CodingSuggestion } from './types.ts';

interface Props {
  readonly coding: Coding | undefined;
  readonly suggestion: CodingSuggestion | undefined;
  readonly waiting: number;
  readonly passage: string | undefined;
  onAccept(): void;
  onReject(): void;
  onRemove(id: number): void;
  onNext(): void;
}

/** What is known about the passage in question and what can be done with it. */
export function Inspector({ coding, suggestion, waiting, passage, ...on }: Props) {
  if (suggestion)
    return (
      <section className="card" aria-label="Suggestion">
        <h3 className="code-name" style={{ '--code': suggestion.color } as CSSProperties}>
          <Foreign text={suggestion.code_name} />
        </h3>
        <p className="muted small">
          suggested by {suggestion.suggested_by}
          {suggestion.confidence !== null && `, ${suggestion.confidence} % sure`}
        </p>
        {suggestion.rationale && <Foreign block text={suggestion.rationale} />}
        <div className="row">
          <Button tone="primary" shortcut="a" onClick={on.onAccept}>
            Accept
          </Button>
          <Button tone="danger" shortcut="r" onClick={on.onReject}>
            Reject
          </Button>
        </div>
        <Waiting waiting={waiting} onNext={on.onNext} />
      </section>
    );
  if (coding)
    return (
      <section className="card" aria-label="Coding">
        <h3 className="code-name" style={{ '--code': coding.color } as CSSProperties}>
          <Foreign text={coding.code_name} />
        </h3>
        <blockquote className="quoted">
          <Foreign block text={coding.selected_text} />
        </blockquote>
        {coding.memo && <Foreign block text={coding.memo} />}
        <p className="muted small">
          by <Foreign text={coding.owner} />
          {coding.made_by?.approved_by && `, approved by ${coding.made_by.approved_by}`}
          {coding.made_by?.method && `, ${coding.made_by.method}`}
        </p>
        {!coding.anchored && <p className="small">The text was edited elsewhere: this place is a guess.</p>}
        <div className="row">
          <Button small tone="danger" shortcut="d" onClick={() => on.onRemove(coding.id)}>
            Remove coding
          </Button>
        </div>
      </section>
    );
  return (
    <section className="card" aria-label="Passage">
      {passage === undefined ? (
        <>
          <p>Select text to code it, or press a code in the margin to see it.</p>
          <ul className="reading-keys">
            <li>
              <kbd>↑</kbd> <kbd>↓</kbd> choose a paragraph, <kbd>Shift</kbd> to extend
            </li>
            <li>
              <kbd>←</kbd> <kbd>→</kbd> move its start, with <kbd>Shift</kbd> its end
            </li>
            <li>
              <kbd>c</kbd> code it · <kbd>j</kbd> <kbd>k</kbd> next, previous coding
            </li>
            <li>
              <kbd>n</kbd> <kbd>p</kbd> next, previous suggestion
            </li>
          </ul>
        </>
      ) : (
        <blockquote className="quoted">
          <Foreign block text={passage} />
        </blockquote>
      )}
      <Waiting waiting={waiting} onNext={on.onNext} />
    </section>
  );
}

function Waiting({ waiting, onNext }: { readonly waiting: number; onNext(): void }) {
  if (waiting === 0) return null;
  return (
    <div className="row">
      <Button small shortcut="n" onClick={onNext}>
        {waiting === 1 ? '1 suggestion waits' : `${waiting} suggestions wait`}
      </Button>
    </div>
  );
}
