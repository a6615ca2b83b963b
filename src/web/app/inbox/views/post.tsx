import { useEffect, useState } from 'react';
import { Foreign } from '../../components/foreign.tsx';

const MAX = 280;

/** Length as X counts it; the library that knows is loaded when the first post is looked at. */
function usePostLength(text: string): number | undefined {
  const [length, setLength] = useState<number>();
  useEffect(() => {
    let current = true;
    void import('twitter-text').then(({ default: twitterText }) => {
      if (current) setLength(twitterText.parseTweet(text).weightedLength);
    });
    return () => {
      current = false;
    };
  }, [text]);
  return length;
}

export function LengthMeter({ text }: { readonly text: string }) {
  const length = usePostLength(text);
  if (length === undefined) return null;
  const over = length > MAX;
  return (
    <div className={over ? 'meter meter-over' : 'meter'}>
      <meter min={0} max={MAX} value={Math.min(length, MAX)} aria-label="Length of the post" />
      <span>
        {length} of {MAX}
        {over ? `: ${length - MAX} too long` : ''}
      </span>
    </div>
  );
}

interface Props {
  readonly text: string;
  readonly above?: string | undefined;
  readonly media?: number;
}

/** A post as it will read. */
export function PostView({ text, above, media = 0 }: Props) {
  return (
    <article className="post" aria-label="Post">
      {above ? (
        <p className="muted small">
          <Foreign text={above} />
        </p>
      ) : null}
      <div className="post-text">
        <Foreign block text={text} />
      </div>
      {media > 0 ? <p className="muted small">With {media === 1 ? '1 medium' : `${media} media`}</p> : null}
      <LengthMeter text={text} />
    </article>
  );
}

export const ThreadView = ({
  texts,
  above,
}: {
  readonly texts: readonly string[];
  readonly above?: string | undefined;
}) => (
  <>
    {above ? (
      <p className="muted small">
        <Foreign text={above} />
      </p>
    ) : null}
    <ol className="thread" aria-label={`Thread of ${texts.length}`}>
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a thread are their places
        <li key={index}>
          <PostView text={text} />
        </li>
      ))}
    </ol>
  </>
);
