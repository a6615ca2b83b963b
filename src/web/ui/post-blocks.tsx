import { useState } from 'react';
import type { Author, Length, PresentationBlock, QuotedText } from '../../contract/presentation.ts';
import { Avatar } from './badge.tsx';
import { BlockCard } from './block-card.tsx';
import { useFold, useOpenFolds } from './folds.tsx';
import { Icon } from './icon.tsx';
import { TimeAgo } from './page-head.tsx';
import { UntrustedText } from './untrusted-text.tsx';

type BlockOf<T extends PresentationBlock['type']> = Extract<PresentationBlock, { type: T }>;

/** More parts of a thread than this wait behind a button. */
const PARTS = 10;

/** How long a text is, as its service counts. */
const LengthMeter = ({ used, of }: Length) => (
  <span className={used > of ? 'meter meter-over' : 'meter'}>
    <meter min={0} max={of} value={Math.min(used, of)} aria-label="Length of the post" />
    {used.toLocaleString('en')} of {of.toLocaleString('en')}
  </span>
);

const AuthorLine = ({ author, at }: { readonly author: Author | null; readonly at?: string | undefined }) => (
  <p className="post-author">
    <strong>
      <UntrustedText text={author?.name ?? 'Author unknown'} />
    </strong>{' '}
    <span className="muted">
      {author?.handle ? <UntrustedText text={author.handle} /> : null}
      {at ? (
        <>
          {author?.handle ? ' · ' : ''}
          <TimeAgo at={at} />
        </>
      ) : null}
    </span>
  </p>
);

/** What others wrote: it is quoted, never the page's own words. */
export const QuoteBox = ({ quoted }: { readonly quoted: QuotedText }) => (
  <blockquote className="quoted">
    <AuthorLine author={quoted.author} at={quoted.at} />
    <UntrustedText block text={quoted.text} />
  </blockquote>
);

const Media = ({ media }: { readonly media: readonly string[] | undefined }) =>
  media && media.length > 0 ? (
    <ul className="post-media" aria-label="Attached files">
      {media.map((one) => (
        <li key={one}>
          <Icon name="file" small /> <UntrustedText text={one} />
        </li>
      ))}
    </ul>
  ) : null;

/** A time in the reader's own zone, which is named. */
const Moment = ({ at }: { readonly at: string }) => {
  const time = Date.parse(at);
  return (
    <p className="block-foot">
      <Icon name="clock" small /> Scheduled for{' '}
      {Number.isNaN(time)
        ? at
        : new Date(time).toLocaleString('en', { dateStyle: 'full', timeStyle: 'long' })}
    </p>
  );
};

interface PartProps {
  readonly author: Author | null;
  readonly text: string;
  readonly above?: string;
  readonly length?: Length | undefined;
}

function Part({ author, text, above, length }: PartProps) {
  return (
    <>
      <Avatar name={author?.name ?? '?'} large author />
      <div className="post-main">
        {above ? (
          <p className="meta row">
            {above}
            {length ? <LengthMeter {...length} /> : null}
          </p>
        ) : (
          <AuthorLine author={author} />
        )}
        <div className="post-text">
          <UntrustedText block text={text} />
        </div>
      </div>
    </>
  );
}

export function PostBlock({ block }: { readonly block: BlockOf<'post'> }) {
  const { author, text, length, context, media, at } = block;
  return (
    <BlockCard
      icon="eye"
      title={block.title ?? 'As it will appear'}
      aside={length ? <LengthMeter {...length} /> : undefined}
    >
      {context?.as === 'reply' ? (
        <div className="post-context">
          <p className="meta">Replying to</p>
          <QuoteBox quoted={context} />
        </div>
      ) : null}
      <article className="post" aria-label="Post">
        <Part author={author} text={text} />
        {context?.as === 'quote' ? (
          <div className="post-inside">
            <QuoteBox quoted={context} />
          </div>
        ) : null}
        <Media media={media} />
      </article>
      {at ? <Moment at={at} /> : null}
    </BlockCard>
  );
}

export function ThreadBlock({ block }: { readonly block: BlockOf<'thread'> }) {
  const { author, posts, media, at } = block;
  const [all, setAll] = useState(useOpenFolds());
  const shown = all ? posts : posts.slice(0, PARTS);
  const ref = useFold(shown.length < posts.length);
  return (
    <BlockCard icon="eye" title={block.title ?? 'As it will appear'} aside={`${posts.length} posts`}>
      <ol className="thread" aria-label={`Thread of ${posts.length}`}>
        {shown.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a thread are their places
          <li key={index}>
            <article className="post" aria-label="Post">
              <Part
                author={author}
                text={part.text}
                above={`${index + 1} of ${posts.length}`}
                length={part.length}
              />
            </article>
          </li>
        ))}
      </ol>
      <Media media={media} />
      {shown.length < posts.length ? (
        <p className="block-foot">
          <button ref={ref} type="button" className="link-button" onClick={() => setAll(true)}>
            Show {posts.length - shown.length} more
          </button>
        </p>
      ) : null}
      {at ? <Moment at={at} /> : null}
    </BlockCard>
  );
}

const nameOf = ({ name, handle }: Author): string =>
  handle && handle !== name ? `${name} (${handle})` : name;

export function MessageBlock({ block }: { readonly block: BlockOf<'message'> }) {
  const { from, to, text, context = [] } = block;
  return (
    <BlockCard icon="send" title={block.title ?? 'Message'}>
      <dl className="message-head">
        {from ? (
          <div>
            <dt>From</dt>
            <dd>
              <UntrustedText text={nameOf(from)} />
            </dd>
          </div>
        ) : null}
        {to.length > 0 ? (
          <div>
            <dt>To</dt>
            <dd>
              <UntrustedText text={to.map(nameOf).join(', ')} />
            </dd>
          </div>
        ) : null}
      </dl>
      <div className="block-body stack">
        {context.map((quoted, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: earlier messages are their places
          <QuoteBox key={index} quoted={quoted} />
        ))}
        <div className="message-text">
          <UntrustedText block text={text} />
        </div>
      </div>
    </BlockCard>
  );
}
