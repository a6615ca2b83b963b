import { type ReactNode, useState } from 'react';

/** Characters that change how text looks without being seen: direction marks, overrides, zero-width and tag characters. */
const UNSEEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0001}-\u{e007f}]/gu;
const SHOWN = 4000;

function marked(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    const code = `U+${match[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
    parts.push(
      <span key={match.index} className="unseen" title="An invisible character stands here">
        {code}
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
