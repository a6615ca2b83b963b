import type { RatedUnit } from './agreement.ts';
import { covered, type Span, union } from './frequencies.ts';

/** Resampling needs blocks; without sentences to go by, this many characters make one. */
const WINDOW = 250;

/** Neighbouring sentences are drawn together where a text has more than this many: an interval needs no more. */
const MOST_BLOCKS = 60;

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

type Marks = readonly (readonly Span[] | undefined)[];
export type Block = readonly RatedUnit[];

/** Yes (1) or no (0) per coder and unit, grouped into the blocks that a bootstrap draws together. Equal units are one entry. */
export function rateText(text: CodedText, unit: UnitOfAnalysis): Block[] {
  const marks = text.marks.map((spans) => (spans ? union(clip(spans, text.length)) : undefined));
  const given = (text.units ?? []).filter((part) => part.end > part.start && part.end <= text.length);
  const parts = given.length && unit === 'segment' ? given : tile(text.length, given);
  const groups = chunks(parts, Math.ceil(parts.length / MOST_BLOCKS));
  if (unit === 'segment')
    return groups.map((group) => joinEqual(group.map((part) => rateSegment(part, marks))));
  return groups.map((group) =>
    joinEqual(rateCharacters({ start: group[0]?.start ?? 0, end: group.at(-1)?.end ?? 0 }, marks)),
  );
}

/** Fewer blocks, each of several neighbours. */
export function mergeBlocks(blocks: readonly Block[], most: number): Block[] {
  return chunks(blocks, Math.ceil(blocks.length / most)).map((group) => joinEqual(group.flat()));
}

function rateSegment(part: Span, marks: Marks): RatedUnit {
  const needed = (part.end - part.start) * UNIT_SHARE;
  return {
    weight: 1,
    values: marks.map((joined) => (joined ? (covered(joined, part) >= needed ? 1 : 0) : undefined)),
  };
}

/** Cuts the block where any coder's segment begins or ends: between two cuts all characters are judged alike. */
function rateCharacters(block: Span, marks: Marks): RatedUnit[] {
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

function joinEqual(units: readonly RatedUnit[]): RatedUnit[] {
  const joined = new Map<string, { weight: number; values: RatedUnit['values'] }>();
  for (const { weight, values } of units) {
    const key = values.join();
    const known = joined.get(key);
    if (known) known.weight += weight;
    else joined.set(key, { weight, values });
  }
  return [...joined.values()];
}

/** The given units with what lies between them, so that every character belongs to exactly one part. */
function tile(length: number, given: readonly Span[]): Span[] {
  const edges = given.length
    ? [...new Set([0, length, ...given.flatMap((unit) => [unit.start, unit.end])])]
    : [...windows(length)];
  edges.sort((a, b) => a - b);
  return edges.slice(1).map((end, i) => ({ start: edges[i] ?? 0, end }));
}

function* windows(length: number): Generator<number> {
  for (let at = 0; at < length; at += WINDOW) yield at;
  if (length > 0) yield length;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const made: T[][] = [];
  for (let at = 0; at < items.length; at += Math.max(1, size))
    made.push(items.slice(at, at + Math.max(1, size)));
  return made;
}

const clip = (spans: readonly Span[], length: number): Span[] =>
  spans.map(({ start, end }) => ({ start: Math.max(0, start), end: Math.min(end, length) }));
