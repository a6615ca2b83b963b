import { useEffect, useState } from 'react';

const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

function timeAgo(at: Date, now: Date): string {
  let value = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(value) < 5) return 'just now';
  for (const [size, unit] of STEPS) {
    if (Math.abs(value) < size) return format.format(Math.round(value), unit);
    value /= size;
  }
  return at.toISOString();
}

/** "3 min. ago", the exact time with its zone on hover. */
export function TimeAgo({ at }: { readonly at: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 15_000);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })}>
      {timeAgo(date, now)}
    </time>
  );
}
