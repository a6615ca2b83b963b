import { type ReactNode, useState } from 'react';
import { codeOf, UNSEEN } from '../lib/unseen-text.ts';

const SHOWN = 4000;

function marked(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(
      <span key={match.index} className="unseen" title="An invisible character stands here">
        {codeOf(match[0])}
      </span>,
    );
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

interface Props {
  readonly text: string;
  /** Keeps line breaks and shows long texts in parts. */
  readonly block?: boolean;
}

/**
 * Text from X, GitHub, documents or agents. It is only ever text, its direction cannot leak into the page, and
 * characters made to deceive are shown by their code.
 */
export function Foreign({ text, block }: Props) {
  const [all, setAll] = useState(false);
  if (!block)
    return <bdi className="foreign">{marked(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)}</bdi>;
  const long = text.length > SHOWN && !all;
  return (
    <div className="foreign-block">
      <bdi className="foreign">{marked(long ? text.slice(0, SHOWN) : text)}</bdi>
      {long ? (
        <button type="button" className="link-button" onClick={() => setAll(true)}>
          … show all {text.length.toLocaleString('en')} characters
        </button>
      ) : null}
    </div>
  );
}
