import { indexText } from '../project/source-text.ts';
import type { SourceText } from '../project/types.ts';
import { Pace } from './pace.ts';
import { questioners } from './questioners.ts';
import { speakerTurns, speakerTurnsInSlices, type Turn } from './speakers.ts';

/** Longer stretches without a full stop (raw speech recognition) are cut at a clause or a space. */
const LONGEST = 320;
/** "Yes." alone is no unit of meaning; it goes with what follows in the same turn. */
const SHORTEST = 16;

export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker?: string;
}

/**
 * Sentence-sized segments of a text, never across a paragraph or a change of speaker, without the speaker's label and
 * without surrounding white space. Positions are code points.
 */
export function sentenceSegments(
  text: SourceText,
  range = { start: 0, end: text.length },
  isKnownSpeaker?: (speaker: string) => boolean,
): Segment[] {
  return [...eachSegment(text, range, isKnownSpeaker)];
}

/** The same for ranges of a long text, without keeping other work waiting. */
export async function* segmentsInSlices(
  text: SourceText,
  ranges: readonly { readonly start: number; readonly end: number }[],
  { pace = new Pace() }: { readonly pace?: Pace } = {},
): AsyncGenerator<Segment> {
  if (!known.has(text)) known.set(text, await speakerTurnsInSlices(text, pace));
  for (const range of ranges) {
    for (const segment of eachSegment(text, range)) {
      yield segment;
      if (pace.isDue) await pace.rest();
    }
  }
}

function* eachSegment(
  text: SourceText,
  range: { readonly start: number; readonly end: number },
  isKnownSpeaker?: (speaker: string) => boolean,
): Generator<Segment> {
  const within = { start: text.toUnits(range.start), end: text.toUnits(range.end) };
  for (const { start, end, speaker } of paragraphs(text, within, isKnownSpeaker)) {
    for (const [a, b] of splitSentences(text.value, start, end)) {
      yield {
        start: text.fromUnits(a),
        end: text.fromUnits(b),
        text: text.value.slice(a, b),
        ...(speaker === undefined ? {} : { speaker }),
      };
    }
  }
}

/** How much text around a range is enough to cut it as the whole text would be cut. */
const NEAR = 700;

/** The segments that touch a range, without reading the rest of a long text. */
export function segmentsNear(
  text: SourceText,
  range: { readonly start: number; readonly end: number },
): Segment[] {
  const { value } = text;
  const from = text.toUnits(range.start);
  const to = text.toUnits(range.end);
  // To the next line break, or a break is too far away to wait for.
  const lineStart = value.lastIndexOf('\n', from - NEAR) + 1;
  const lineEnd = value.indexOf('\n', to + NEAR);
  const start = from <= NEAR ? 0 : Math.max(lineStart, from - 3 * NEAR);
  const end = Math.min(lineEnd === -1 ? value.length : lineEnd, to + 3 * NEAR);
  const offset = text.fromUnits(start);
  const window = indexText(value.slice(text.toUnits(offset), text.toUnits(text.fromUnits(end))));
  const isKnown = (speaker: string) => value.indexOf(speaker) !== value.lastIndexOf(speaker);
  return sentenceSegments(window, { start: 0, end: window.length }, isKnown)
    .map((segment) => ({ ...segment, start: segment.start + offset, end: segment.end + offset }))
    .filter((segment) => segment.start < range.end && segment.end > range.start);
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly speaker?: string;
}

/** Turns where the text has speakers, cut further at line breaks; UTF-16 indices. */
function* paragraphs(
  text: SourceText,
  within: Part,
  isKnown?: (speaker: string) => boolean,
): Generator<Part> {
  const cut = function* (part: Part): Generator<Part> {
    const start = Math.max(part.start, within.start);
    const end = Math.min(part.end, within.end);
    if (end > start) yield* lines(text.value, { ...part, start, end });
  };
  let at = 0;
  for (const turn of isKnown ? speakerTurns(text, isKnown) : turnsOf(text)) {
    const start = text.toUnits(turn.start);
    if (start >= within.end) break;
    if (start > at) yield* cut({ start: at, end: start });
    at = text.toUnits(turn.end);
    yield* cut({ start: text.toUnits(turn.textStart), end: at, speaker: turn.speaker });
  }
  if (at < text.value.length) yield* cut({ start: at, end: text.value.length });
}

/** Finding the speakers means reading the whole text; who asks for many ranges of it asks once. */
const known = new WeakMap<SourceText, readonly Turn[]>();

function turnsOf(text: SourceText): readonly Turn[] {
  const turns = known.get(text) ?? speakerTurns(text);
  known.set(text, turns);
  return turns;
}

/** Whether someone answers, as everybody does but those who only ask; what interviewers say is not what a study is about. */
export function answersIn(text: SourceText): (segment: Segment) => boolean {
  const asking = questioners(text, turnsOf(text));
  return ({ speaker }) => speaker === undefined || !asking.has(speaker);
}

function* lines(value: string, part: Part): Generator<Part> {
  let at = part.start;
  for (const found of value.slice(part.start, part.end).matchAll(/\s*[\n\r\u2028\u2029]\s*/gu)) {
    const end = part.start + found.index;
    if (!isSoftBreak(value, end, part.start + found.index + found[0].length, found[0])) {
      if (end > at) yield { ...part, start: at, end };
      at = end + found[0].length;
    }
  }
  if (part.end > at) yield { ...part, start: at, end: part.end };
}

/** A single line break before a lower-case letter is a wrapped line (PDF, e-mail), not the end of a paragraph. */
function isSoftBreak(value: string, before: number, after: number, gap: string): boolean {
  const single = (gap.match(/\n|\r(?!\n)|[\u2028\u2029]/gu) ?? []).length === 1;
  return single && /[^.!?:。！？…"”]/u.test(value[before - 1] ?? '.') && /\p{Ll}/u.test(value[after] ?? '');
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const ABBREVIATION =
  /(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|approx|No|Vol|pp?|ca|Fig|Inc|Ltd)\.\s*$/;

/** Sentences of value[start, end) as trimmed UTF-16 ranges; tiny ones joined, endless ones cut. */
function splitSentences(value: string, start: number, end: number): [number, number][] {
  const pieces: [number, number][] = [];
  let open = start;
  let at = start;
  for (const { segment } of segmenter.segment(value.slice(start, end))) {
    at += segment.length;
    // The only line breaks in here are wrapped lines, at which the segmenter would always cut.
    const goesOn = /[\n\r\u2028\u2029]$/.test(segment) || ABBREVIATION.test(value.slice(open, at));
    if (at < end && (goesOn || at - open < SHORTEST)) continue;
    const last = pieces.at(-1);
    if (last && at - open < SHORTEST && at - last[0] <= LONGEST) last[1] = at;
    else pieces.push([open, at]);
    open = at;
  }
  return pieces.flatMap(([a, b]) => cutLong(value, a, b)).flatMap(([a, b]) => trim(value, a, b));
}

function cutLong(value: string, start: number, end: number): [number, number][] {
  if (end - start <= LONGEST) return [[start, end]];
  const window = value.slice(start + LONGEST / 2, start + LONGEST);
  const clause = Math.max(
    ...[', ', '; ', ': ', ' – ', ' - ', '，', '、'].map((mark) => window.lastIndexOf(mark)),
  );
  const best = clause >= 0 ? clause + 1 : window.lastIndexOf(' ');
  let cut = best >= 0 ? start + LONGEST / 2 + best + 1 : start + LONGEST;
  // Never between the halves of a surrogate pair nor before a combining mark.
  while (cut < end && /[\udc00-\udfff\p{M}]/u.test(value[cut] ?? '')) cut += 1;
  return [[start, cut], ...cutLong(value, cut, end)];
}

function trim(value: string, start: number, end: number): [number, number][] {
  const piece = value.slice(start, end);
  const a = start + (piece.length - piece.trimStart().length);
  const b = start + piece.trimEnd().length;
  return b > a ? [[a, b]] : [];
}
