import { type RefObject, useEffect, useRef, useState } from 'react';

/** What is on screen is looked at so often; a line counts when it was there at so many looks in a row: 150 ms. */
const LOOK_MS = 50;
const LOOKS = 4;
/** So much of the page before stays in sight when the next one is shown. */
const OVERLAP = 24;

/** From and to, in pixels from the top of the content. */
type Span = readonly [number, number];

export interface Seen {
  /** How much of the content was on screen; 1 only when all of it was. */
  readonly share: number;
  /** The same as of now: it may have been laid out again a moment ago. */
  isAll(): boolean;
  /** Moves to the first part that was not on screen yet. */
  next(): void;
}

/** Follows what of the content was on screen while its dialog scrolls. What is laid out again counts as not seen. */
export function useSeen(content: RefObject<HTMLElement | null>, isLoaded: boolean): Seen {
  const [share, setShare] = useState(0);
  const seen = useRef<readonly Span[]>([]);
  const size = useRef('');
  useEffect(() => {
    let recent: readonly Span[] = [];
    size.current = '';
    setShare(0);
    if (!isLoaded) return;
    const look = (): void => {
      const place = content.current && placeOf(content.current);
      if (!place || document.hidden) {
        recent = [];
        return;
      }
      const { height, top, bottom } = place;
      if (size.current !== place.size) {
        size.current = place.size;
        seen.current = [];
        recent = [];
      }
      recent = [...recent.slice(1 - LOOKS), [top, bottom]];
      if (recent.length < LOOKS) return;
      const from = Math.max(...recent.map(([start]) => start));
      const to = Math.min(...recent.map(([, end]) => end));
      if (to > from) seen.current = joined([...seen.current, [from, to]]);
      const sum = seen.current.reduce((total, [start, end]) => total + end - start, 0);
      const isAll = firstGap(seen.current, height) === undefined;
      setShare(isAll ? 1 : Math.min(0.99, sum / height));
    };
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [content, isLoaded]);
  const next = (): void => {
    const place = content.current && placeOf(content.current);
    const gap = place ? firstGap(seen.current, place.height) : undefined;
    if (!place || gap === undefined) return;
    place.scroller.scrollBy({ top: gap - place.top - (gap > 0 ? OVERLAP : 0) });
  };
  const isAll = (): boolean => {
    const place = content.current && placeOf(content.current);
    return place?.size === size.current && firstGap(seen.current, place.height) === undefined;
  };
  return { share, isAll, next };
}

/** The size of the content, and which part of it is on screen: below the head, above the foot. */
function placeOf(content: HTMLElement) {
  const scroller = content.closest('dialog');
  if (!scroller) return undefined;
  const box = content.getBoundingClientRect();
  const bars = [...scroller.querySelectorAll('.dialog-head, .dialog-foot, .sign-line')].map((bar) =>
    bar.getBoundingClientRect(),
  );
  const sheet = scroller.getBoundingClientRect();
  const above = bars.filter(({ height, top }) => height > 0 && top < sheet.top + sheet.height / 2);
  const below = bars.filter(({ height, top }) => height > 0 && top >= sheet.top + sheet.height / 2);
  const from = Math.max(0, sheet.top, ...above.map((bar) => bar.bottom));
  const to = Math.min(innerHeight, sheet.bottom, ...below.map((bar) => bar.top));
  const inside = (at: number): number => Math.max(0, Math.min(at - box.top, box.height));
  return {
    scroller,
    size: `${Math.round(box.width)} ${Math.round(box.height)}`,
    height: Math.round(box.height),
    top: inside(from),
    bottom: inside(to),
  };
}

/** In order, and those that touch as one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last && from <= last[1] + 1) all[all.length - 1] = [last[0], Math.max(last[1], to)];
    else all.push([from, to]);
  }
  return all;
}

/** Where the first part begins that was not on screen; undefined where there is none. */
function firstGap(seen: readonly Span[], height: number): number | undefined {
  const [first] = seen;
  if (!first || first[0] > 1) return 0;
  return first[1] >= height - 1 ? undefined : first[1];
}
