import { type CSSProperties, type FormEvent, useState } from 'react';
import { Button, Field } from '../../../web/ui/field.tsx';
import { UntrustedText } from '../../../web/ui/untrusted-text.tsx';
import { CodingCard } from './coding-card.tsx';
import type { Code, Coding, CodingSuggestion, Range } from './data.ts';
import { countCodePoints, type TextRow } from './use-document.ts';

interface Props {
  readonly coding: Coding | undefined;
  readonly suggestion: CodingSuggestion | undefined;
  readonly waiting: number;
  readonly passage: string | undefined;
  readonly codes: readonly Code[];
  /** The memo of the coding that is about to be made. */
  readonly memo: string;
  onMemo(memo: string): void;
  onChanged(id: number): Promise<void>;
  onAccept(): void;
  onReject(): void;
  onRemove(id: number): void;
  onNext(): void;
}

/** What is known about the passage in question and what can be done with it. */
export function Inspector({ coding, suggestion, waiting, passage, codes, memo, ...on }: Props) {
  if (suggestion)
    return (
      <section className="card" aria-label="Suggestion">
        <h3 className="code-name" style={{ '--code': suggestion.color } as CSSProperties}>
          <UntrustedText text={suggestion.code_name} />
        </h3>
        <p className="muted small">
          suggested by {suggestion.suggested_by}
          {suggestion.confidence !== null && `, ${suggestion.confidence} % sure`}
        </p>
        {suggestion.rationale && <UntrustedText block text={suggestion.rationale} />}
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
      <CodingCard
        key={coding.id}
        coding={coding}
        codes={codes}
        onChanged={on.onChanged}
        onRemove={on.onRemove}
      />
    );
  return (
    <section className="card" aria-label="Passage">
      {passage === undefined ? (
        <>
          <p>Select text to code it, or click a coded passage to see and change it.</p>
          <ul className="reading-keys">
            <li>
              <kbd className="key">↑</kbd> <kbd className="key">↓</kbd> choose a paragraph,{' '}
              <kbd className="key">Shift</kbd> to extend
            </li>
            <li>
              <kbd className="key">←</kbd> <kbd className="key">→</kbd> move its start, with{' '}
              <kbd className="key">Shift</kbd> its end
            </li>
            <li>
              <kbd className="key">C</kbd> code it · <kbd className="key">J</kbd> <kbd className="key">K</kbd>{' '}
              next, previous coding
            </li>
            <li>
              <kbd className="key">N</kbd> <kbd className="key">P</kbd> next, previous suggestion
            </li>
          </ul>
        </>
      ) : (
        <>
          <blockquote className="excerpt">
            <UntrustedText block text={passage} />
          </blockquote>
          <Field label="Memo">
            {(attributes) => (
              <textarea
                {...attributes}
                rows={2}
                placeholder="Stored with the coding"
                value={memo}
                onChange={(event) => on.onMemo(event.target.value)}
              />
            )}
          </Field>
        </>
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
        {waiting === 1 ? '1 suggestion is pending' : `${waiting} suggestions are pending`}
      </Button>
    </div>
  );
}

interface FindProps {
  readonly rows: readonly TextRow[];
  onFound(range: Range): void;
}

/** The browser's own search sees only the rows on screen. */
export function Find({ rows, onFound }: FindProps) {
  const [wanted, setWanted] = useState('');
  const [after, setAfter] = useState(-1);
  const [missing, setMissing] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = next(rows, wanted, after) ?? next(rows, wanted, -1);
    setMissing(!found);
    if (!found) return;
    setAfter(found.start);
    onFound(found);
  };
  return (
    <form className="find-text" onSubmit={submit}>
      <input
        type="search"
        aria-label="Find in this text"
        placeholder="Find in this text"
        value={wanted}
        aria-invalid={missing || undefined}
        onChange={(event) => {
          setWanted(event.target.value);
          setAfter(-1);
          setMissing(false);
        }}
      />
      {missing && <span className="small muted">not found</span>}
    </form>
  );
}

function next(rows: readonly TextRow[], wanted: string, after: number): Range | undefined {
  const sought = wanted.toLowerCase();
  if (sought === '') return undefined;
  for (const row of rows) {
    if (row.end <= after) continue;
    for (let at = row.text.toLowerCase().indexOf(sought); at !== -1; ) {
      const start = row.start + countCodePoints(row.text.slice(0, at));
      if (start > after) return { start, end: start + countCodePoints(sought) };
      at = row.text.toLowerCase().indexOf(sought, at + 1);
    }
  }
  return undefined;
}
