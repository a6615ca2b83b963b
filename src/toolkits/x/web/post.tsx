import { useEffect, useState } from 'react';

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
