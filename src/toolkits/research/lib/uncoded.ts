export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What of 0..length no range covers, in order. */
export function uncovered(length: number, ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let at = 0;
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    if (start > at) gaps.push({ start: at, end: Math.min(start, length) });
    at = Math.max(at, end);
  }
  if (at < length) gaps.push({ start: at, end: length });
  return gaps;
}

export const totalLength = (ranges: readonly Range[]) =>
  ranges.reduce((sum, { start, end }) => sum + end - start, 0);
