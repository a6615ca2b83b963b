import type { SourceText } from '../project/types.ts';
import { type Span, union } from '../statistics/frequencies.ts';

export interface UncodedText {
  readonly totalLength: number;
  readonly codedLength: number;
  /** Whole percent, rounded down, so that 100 means that nothing is coded. */
  readonly uncodedPercentage: number;
  /** Every gap, white space included. */
  readonly gaps: readonly Span[];
  /** Gaps with something to read in them, without the white space around it. */
  readonly ranges: readonly Span[];
}

/** What of a text no code covers. */
export function uncodedText(text: SourceText, codings: Iterable<Span>): UncodedText {
  const coded = union(
    [...codings].map(({ start, end }) => ({ start: Math.max(0, start), end: Math.min(end, text.length) })),
  );
  const codedLength = coded.reduce((sum, { start, end }) => sum + end - start, 0);
  const edges = [0, ...coded.flatMap(({ start, end }) => [start, end]), text.length];
  const gaps: Span[] = [];
  for (let i = 0; i < edges.length; i += 2) {
    const gap = { start: edges[i] ?? 0, end: edges[i + 1] ?? 0 };
    if (gap.end > gap.start) gaps.push(gap);
  }
  return {
    totalLength: text.length,
    codedLength,
    uncodedPercentage: text.length ? Math.floor((100 * (text.length - codedLength)) / text.length) : 0,
    gaps,
    ranges: gaps.flatMap((gap) => trimmed(text, gap)),
  };
}

function trimmed(text: SourceText, { start, end }: Span): Span[] {
  const value = text.slice(start, end);
  // No white space lies beyond U+FFFF, so units are code points here.
  const lead = value.length - value.trimStart().length;
  const trail = value.length - value.trimEnd().length;
  return start + lead < end - trail ? [{ start: start + lead, end: end - trail }] : [];
}
