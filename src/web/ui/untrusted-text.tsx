import { type ReactNode, useState } from 'react';

/**
 * Characters that change how text looks or reads without being seen: direction marks and overrides, zero-width and
 * filler characters, tags that carry hidden text, and controls. Joiners and the plain variation selectors stay, because
 * scripts and emoji need them; so do tabs and line ends.
 */
export const UNSEEN =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb]|[^\P{Cc}\t\n\r]/gu;

export const codeOf = (found: string): string =>
  `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** Code that reads one way and runs another is an old trick: invisible characters are written out by their codes. */
export const showUnseen = (text: string): string => text.replace(UNSEEN, (found) => `⟦${codeOf(found)}⟧`);

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
  /** Keeps line breaks and shows long texts in parts. */
  readonly block?: boolean;
}

/**
 * Text from X, GitHub, documents or agents. It is only ever text, its direction cannot leak into the page, and
 * characters made to deceive are shown by their code.
 */
export function UntrustedText({ text, block }: Props) {
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
