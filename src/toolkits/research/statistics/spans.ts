export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Joins overlapping and touching spans; empty and reversed ones go. */
export function union(spans: Iterable<Span>): Span[] {
  const sorted = [...spans].filter((span) => span.end > span.start).sort((a, b) => a.start - b.start);
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

const overlap = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));

/** How much of `within` a sorted union covers. */
export function covered(joined: readonly Span[], within: Span): number {
  let sum = 0;
  for (let i = firstEndingAfter(joined, within.start); i < joined.length; i += 1) {
    const span = joined[i];
    if (!span || span.start >= within.end) break;
    sum += overlap(span, within);
  }
  return sum;
}

function firstEndingAfter(joined: readonly Span[], position: number): number {
  let low = 0;
  let high = joined.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((joined[middle]?.end ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
