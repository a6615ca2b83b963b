import { setImmediate as breathe } from 'node:timers/promises';
import type { SourceText } from '../project/types.ts';
import type { Span } from '../statistics/spans.ts';
import type { CodeReader, Judgement } from './code-reader.ts';
import type { Example } from './evidence.ts';
import { embedIfPossible, type PatientOptions, type Provenance } from './provenance.ts';
import { answersOnly, type Segment, segmentsAtEase, sentenceSegments } from './segments.ts';
import type { Vectors } from './vectors.ts';

export interface CodeSuggestion extends Judgement, Span {
  readonly text: string;
}

export interface SuggestOptions extends PatientOptions {
  readonly vectors?: Vectors;
  /** What a person has already rejected is not proposed again. */
  readonly isRejected?: (suggestion: {
    readonly codeId: number;
    readonly start: number;
    readonly end: number;
  }) => boolean;
}

export interface Suggestions {
  readonly suggestions: CodeSuggestion[];
  readonly provenance: Provenance;
  /** Left out because a person rejected the same before. */
  readonly rejectedBefore: number;
}

const FOR_RANGE = 5;
/** Below this a code is not worth a person's look even when it is asked for. */
const FLOOR = 15;
const PER_SEGMENT = 2;
const SMALLEST = 12;
const JOINED_SENTENCES = 4;

/** Which codes fit a range, best first, at most five. */
export async function suggestCodesForRange(
  reader: CodeReader,
  sourceId: number,
  text: SourceText,
  range: Span,
  options: SuggestOptions = {},
): Promise<Suggestions> {
  const whole = { ...range, text: text.slice(range.start, range.end) };
  const parts = sentenceSegments(text, range);
  // A long range is judged by its best sentence: the average over a page says nothing.
  const segments = parts.length > 1 ? [whole, ...parts] : [whole];
  const { judged, provenance } = await judgeAll(reader, sourceId, segments, options, range);
  const best = new Map<number, Judgement>();
  for (const list of judged) {
    for (const item of list)
      if (item.confidence > (best.get(item.codeId)?.confidence ?? 0)) best.set(item.codeId, item);
  }
  const fitting = [...best.values()]
    .filter(({ confidence }) => confidence >= FLOOR)
    .sort((a, b) => b.confidence - a.confidence || a.codeId - b.codeId)
    .map((item) => ({ ...item, ...whole }));
  const kept = fitting.filter((item) => !options.isRejected?.(item));
  return { suggestions: kept.slice(0, FOR_RANGE), provenance, rejectedBefore: fitting.length - kept.length };
}

/** Codes for everything not yet coded, sentence by sentence; neighbouring sentences of one speaker with the same code are joined. */
export async function autoSuggestCodes(
  reader: CodeReader,
  sourceId: number,
  text: SourceText,
  uncoded: readonly Span[],
  minConfidence: number,
  options: SuggestOptions = {},
): Promise<Suggestions> {
  const cut = await segmentsAtEase(text, uncoded, options.signal);
  const segments = answersOnly(text, cut).filter((segment) => segment.end - segment.start >= SMALLEST);
  const { judged, provenance } = await judgeAll(reader, sourceId, segments, options);
  const found: (CodeSuggestion & {
    readonly at: number;
    readonly sentences: number;
    readonly speaker: string | undefined;
  })[] = [];
  for (const [at, segment] of segments.entries()) {
    const fitting = (judged[at] ?? [])
      .filter(({ confidence }) => confidence >= minConfidence)
      .slice(0, PER_SEGMENT);
    for (const item of fitting) {
      const before = found.findLast((other) => other.codeId === item.codeId);
      if (
        before &&
        before.at === at - 1 &&
        before.speaker === segment.speaker &&
        before.sentences < JOINED_SENTENCES &&
        touches(text, before, segment)
      ) {
        const better = item.confidence > before.confidence ? item : before;
        const joined = {
          ...before,
          ...better,
          end: segment.end,
          text: text.slice(before.start, segment.end),
          start: before.start,
          at,
          sentences: before.sentences + 1,
        };
        found[found.indexOf(before)] = joined;
      } else {
        found.push({
          ...item,
          start: segment.start,
          end: segment.end,
          text: segment.text,
          at,
          sentences: 1,
          speaker: segment.speaker,
        });
      }
    }
  }
  const all = found.map(({ at: _at, sentences: _sentences, speaker: _speaker, ...suggestion }) => suggestion);
  const kept = all.filter((item) => !options.isRejected?.(item));
  return {
    suggestions: kept.sort((a, b) => a.start - b.start || b.confidence - a.confidence),
    provenance,
    rejectedBefore: all.length - kept.length,
  };
}

async function judgeAll(
  reader: CodeReader,
  sourceId: number,
  segments: readonly (Span & { readonly text: string })[],
  options: SuggestOptions,
  own?: Span,
) {
  if (reader.codes === 0 || segments.length === 0) return { judged: [], provenance: reader.provenance };
  const usable = reader.provenance.method === 'lexical' ? undefined : options.vectors;
  const { vectors, provenance } = await embedIfPossible(
    usable,
    segments.map(({ text }) => text),
    options,
  );
  const judged: Judgement[][] = [];
  for (const [at, segment] of segments.entries()) {
    if (at % 8 === 7) await breathe(undefined, options.signal ? { signal: options.signal } : undefined);
    const place = own ?? segment;
    const without = (example: Example) =>
      example.sourceId === sourceId && example.start < place.end && example.end > place.start;
    judged.push(reader.judge(segment.text, vectors?.[at], without));
  }
  return { judged, provenance: usable ? provenance : reader.provenance };
}

const touches = (text: SourceText, before: Span, next: Segment): boolean =>
  !/\n\s*\n/.test(text.slice(before.end, next.start)) && next.start - before.end <= 3;
