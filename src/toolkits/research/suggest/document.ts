import { questioners } from '../analysis/questioners.ts';
import { speakerTurns } from '../analysis/speakers.ts';
import type { SourceText } from '../project/types.ts';
import type { Span } from '../statistics/frequencies.ts';

/** A source as the model reads it. Ranges below are UTF-16 indices, in order and without overlap. */
export interface ReadDocument {
  readonly id: number;
  readonly name: string;
  readonly text: SourceText;
  /** Speaker labels and time stamps. */
  readonly marks: readonly Span[];
  /** What interviewers say. */
  readonly asked: readonly Span[];
  /** Questions and numbered headings of the guide: they say what the talk after them is about. */
  readonly prompts: readonly Span[];
  /** Where those begin that are numbered headings. */
  readonly headings: ReadonlySet<number>;
}

/** What counts of a passage, and what stands around it. */
export interface PassageText {
  readonly body: string;
  readonly before: string;
  readonly question: string;
  /** Place in the document, 0 to 1. */
  readonly place: number;
}

const STAMP = /[[({#<]?\b\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?\b[\])}#>]?(?:\s*-->\s*[\d:.,]+)?/gu;
const NUMBERED = /^\s*\d{1,2}(?:\.[\p{L}\d]{1,2})*[.)]?\s+\p{Lu}/u;
const ASKS = /[?？؟][\s"”’')\]]*$/u;
const LONGEST_PROMPT = 400;
const BEFORE = 300;

export function readDocument(id: number, name: string, text: SourceText): ReadDocument {
  const { value } = text;
  const turns = speakerTurns(text);
  const asking = questioners(text, turns);
  const labels: Span[] = [];
  const asked: Span[] = [];
  for (const { speaker, start, textStart, end } of turns) {
    labels.push({ start: text.toUnits(start), end: text.toUnits(textStart) });
    if (asking.has(speaker)) asked.push({ start: text.toUnits(textStart), end: text.toUnits(end) });
  }
  const stamps = [...value.matchAll(STAMP)].map(({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));
  const prompts: Span[] = [];
  const headings = new Set<number>();
  for (const { index, 0: line } of value.matchAll(/[^\n\r\u2028\u2029]+/gu)) {
    const span = { start: index, end: index + line.length };
    if (line.length > LONGEST_PROMPT) continue;
    if (NUMBERED.test(line)) {
      prompts.push(span);
      headings.add(index + line.length - line.trimStart().length);
      if (ASKS.test(line)) asked.push(span);
    } else if (ASKS.test(line)) prompts.push(span);
  }
  return { id, name, text, marks: inOrder([...labels, ...stamps]), asked: inOrder(asked), prompts, headings };
}

/** Reads a passage given in code points. What an interviewer says counts only where there is nothing else. */
export function readPassage(document: ReadDocument, passage: Span): PassageText {
  const { text, marks, asked, prompts } = document;
  const span = { start: text.toUnits(passage.start), end: text.toUnits(passage.end) };
  const answers = without(text.value, span, inOrder([...within(marks, span), ...within(asked, span)]));
  const body = answers.trim() ? answers : without(text.value, span, within(marks, span));
  const near = { start: Math.max(0, span.start - BEFORE), end: span.start };
  const prompt = prompts[countStartingBefore(prompts, span.start) - 1];
  return {
    body,
    before: without(text.value, near, within(marks, near)),
    question: prompt ? without(text.value, prompt, within(marks, prompt)) : '',
    place: text.value.length ? (span.start + span.end) / 2 / text.value.length : 0,
  };
}

/** True where a passage holds nothing but what never counts. */
export function isOnlyAsked(document: ReadDocument, passage: Span): boolean {
  const { text, marks, asked } = document;
  const span = { start: text.toUnits(passage.start), end: text.toUnits(passage.end) };
  return !/[\p{L}\p{N}]/u.test(
    without(text.value, span, inOrder([...within(marks, span), ...within(asked, span)])),
  );
}

/** The question or heading that a position lies in. */
export function promptAt({ prompts }: ReadDocument, position: number): Span | undefined {
  const prompt = prompts[countStartingBefore(prompts, position + 1) - 1];
  return prompt && prompt.end > position ? prompt : undefined;
}

function countStartingBefore(spans: readonly Span[], limit: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.start ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function within(spans: readonly Span[], range: Span): readonly Span[] {
  const found: Span[] = [];
  for (let at = Math.max(0, countStartingBefore(spans, range.start) - 1); at < spans.length; at += 1) {
    const span = spans[at];
    if (!span || span.start >= range.end) break;
    if (span.end > range.start) found.push(span);
  }
  return found;
}

function without(value: string, range: Span, cut: readonly Span[]): string {
  let rest = '';
  let at = range.start;
  for (const { start, end } of cut) {
    if (start > at) rest += `${value.slice(at, start)} `;
    at = Math.max(at, end);
  }
  return at < range.end ? rest + value.slice(at, range.end) : rest;
}

function inOrder(spans: readonly Span[]): Span[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}
