import { type FormEvent, useState } from 'react';
import { countCodePoints, type TextRow } from './text-rows.ts';
import type { Range } from './types.ts';

interface Props {
  readonly rows: readonly TextRow[];
  onFound(range: Range): void;
}

/** The browser's own search sees only the rows on screen. */
export function Find({ rows, onFound }: Props) {
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
