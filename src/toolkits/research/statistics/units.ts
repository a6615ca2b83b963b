import { covered, type Span, union } from './spans.ts';
import type { RatedUnit } from './tables.ts';

/** Resampling needs blocks; without sentences to go by, this many characters make one. */
const DEFAULT_BLOCK = 250;

/** A unit counts as coded when at least this share of it lies in the coder's segments. */
const UNIT_SHARE = 0.5;

export interface CodedText {
  readonly length: number;
  /** Sentences, turns or paragraphs: the units themselves, or the blocks that are resampled together. */
  readonly units?: readonly Span[];
  /** What each coder marked; undefined for a coder who did not work on this text. */
  readonly marks: readonly (readonly Span[] | undefined)[];
}

export type UnitOfAnalysis = 'character' | 'segment';

/** Yes (1) or no (0) per coder and unit, grouped into the blocks that a bootstrap draws together. */
export function rateText(text: CodedText, unit: UnitOfAnalysis): RatedUnit[][] {
  const marks = text.marks.map((spans) => (spans ? union(clip(spans, text.length)) : undefined));
  const given = (text.units ?? []).filter((part) => part.end > part.start && part.end <= text.length);
  // White space between two sentences is nobody's unit, but its characters belong to the text.
  if (unit === 'segment' && given.length) return given.map((part) => [rateSegment(part, marks)]);
  const blocks = tile(text.length, given);
  if (unit === 'segment') return blocks.map((block) => [rateSegment(block, marks)]);
  return blocks.map((block) => rateCharacters(block, marks));
}

function rateSegment(block: Span, marks: readonly (readonly Span[] | undefined)[]): RatedUnit {
  const needed = (block.end - block.start) * UNIT_SHARE;
  return {
    weight: 1,
    values: marks.map((joined) => (joined ? (covered(joined, block) >= needed ? 1 : 0) : undefined)),
  };
}

/** Cuts the block where any coder's segment begins or ends: between two cuts all characters are judged alike. */
function rateCharacters(block: Span, marks: readonly (readonly Span[] | undefined)[]): RatedUnit[] {
  const cuts = new Set([block.start, block.end]);
  for (const joined of marks) {
    for (const span of joined ?? []) {
      if (span.start > block.start && span.start < block.end) cuts.add(span.start);
      if (span.end > block.start && span.end < block.end) cuts.add(span.end);
    }
  }
  const edges = [...cuts].sort((a, b) => a - b);
  return edges.slice(1).map((end, i) => {
    const run = { start: edges[i] ?? block.start, end };
    return {
      weight: run.end - run.start,
      values: marks.map((joined) => (joined ? (covered(joined, run) > 0 ? 1 : 0) : undefined)),
    };
  });
}

/** The given units with what lies between them, so that every character belongs to exactly one block. */
function tile(length: number, given: readonly Span[]): Span[] {
  const edges = given.length
    ? [...new Set([0, length, ...given.flatMap((unit) => [unit.start, unit.end])])]
    : [...windows(length)];
  edges.sort((a, b) => a - b);
  return edges.slice(1).map((end, i) => ({ start: edges[i] ?? 0, end }));
}

function* windows(length: number): Generator<number> {
  for (let at = 0; at < length; at += DEFAULT_BLOCK) yield at;
  if (length > 0) yield length;
}

const clip = (spans: readonly Span[], length: number): Span[] =>
  spans.map(({ start, end }) => ({ start: Math.max(0, start), end: Math.min(end, length) }));
