import { type ReactNode, useState } from 'react';
import { codeOf, UNSEEN } from '../../lib/unseen.ts';
import { useFold, useOpenFolds } from './folds.tsx';

/** Longer texts are shown from so many characters on at a press. */
const SHOWN = 4000;

function marked(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(
      <span key={match.index} className="unseen" title="Invisible character">
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
  /** Keeps line breaks. */
  readonly block?: boolean;
  /** Where no button can be, such as inside of one: shows long texts whole. */
  readonly whole?: boolean;
}

/**
 * Text from X, GitHub, documents or agents. It is only ever text, its direction cannot leak into the page, and
 * characters made to deceive are shown by their code. The end of a long text is a press away.
 */
export function UntrustedText({ text, block, whole }: Props) {
  const [all, setAll] = useState(false);
  const areOpen = useOpenFolds();
  const long = text.length > SHOWN && !all && !whole && !areOpen;
  const ref = useFold(long);
  const content = (
    <>
      <bdi className="foreign">{marked(long ? text.slice(0, SHOWN) : text)}</bdi>
      {long ? (
        <button ref={ref} type="button" className="link-button" onClick={() => setAll(true)}>
          … {(text.length - SHOWN).toLocaleString('en')} more characters
        </button>
      ) : null}
    </>
  );
  return block ? <div className="foreign-block">{content}</div> : content;
}

/** Any data, readable, as text. */
export function JsonView({ value, label = 'JSON' }: { readonly value: unknown; readonly label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="code-box" aria-label={label} tabIndex={0}>
      <UntrustedText block text={JSON.stringify(value, null, 2) ?? 'nothing'} />
    </section>
  );
}

interface TitleProps {
  readonly title: string;
  readonly environment?: string | null | undefined;
}

/** A call's title; the environment at its end is there to be read, and quieter than what happens. */
export function PlacedTitle({ title, environment }: TitleProps) {
  const place = ` (${environment})`;
  if (!title.endsWith(place)) return <UntrustedText text={title} />;
  return (
    <>
      <UntrustedText text={title.slice(0, -place.length)} />
      <span className="title-place">{place}</span>
    </>
  );
}

const UNTIL = /^(.*, until )(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}) UTC\.$/su;

/** A remembered decision as the server says it; its end in the reader's own time. */
export function StandingSentence({ text }: { readonly text: string }) {
  const [, before, day, minute] = UNTIL.exec(text) ?? [];
  if (before === undefined) return <UntrustedText text={text} />;
  const at = new Date(`${day}T${minute}:00Z`);
  return (
    <>
      <UntrustedText text={before} />
      <time dateTime={at.toISOString()} title={`${day} ${minute} UTC`}>
        {at.toLocaleString('en-GB', {
          weekday: 'short',
          day: 'numeric',
          month: 'short',
          hour: '2-digit',
          minute: '2-digit',
        })}
      </time>
      .
    </>
  );
}
