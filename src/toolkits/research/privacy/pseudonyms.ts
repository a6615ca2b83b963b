import { indexText } from '../lib/source-text.ts';
import type { SourceText } from '../project/types.ts';

export interface Pseudonym {
  readonly original: string;
  readonly pseudonym: string;
}

/** A name in a text, in code points of the original text. */
export interface NameSpan {
  readonly start: number;
  readonly end: number;
  readonly pseudonym: string;
}

/**
 * Where a pseudonym stands in what an agent was shown. Positions of the API are always those of the original text;
 * with this list an agent can turn an offset in the shown text into such a position.
 */
export interface Replacement {
  readonly content_start: number;
  readonly content_end: number;
  readonly start_pos: number;
  readonly end_pos: number;
}

const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Replaces names by pseudonyms, whole words only, in any case and either Unicode form, the longest name first. */
export class Pseudonymiser {
  readonly #forward: Matcher | undefined;
  readonly #back: Matcher | undefined;
  /** Names that whoever sees only pseudonyms has not been told. */
  readonly hidden: readonly string[];

  constructor(names: readonly Pseudonym[]) {
    this.#forward = matcherFor(names.map(({ original, pseudonym }) => [original, pseudonym]));
    const known = new Set(names.map(({ pseudonym }) => fold(pseudonym)));
    // Who has not been shown a name cannot ask for it: otherwise trying names would find out who is who.
    const unknown = names.filter(({ original }) => !known.has(fold(original)));
    this.hidden = unknown.map(({ original }) => original);
    this.#back = matcherFor([
      ...names.map(({ original, pseudonym }) => [pseudonym, original] as const),
      ...unknown.map(({ original }) => [original, NOWHERE] as const),
    ]);
  }

  get active(): boolean {
    return this.#forward !== undefined;
  }

  mask(text: string): string {
    return this.#forward ? replaceAll(this.#forward, text) : text;
  }

  /** A search by an agent names people as it knows them; `other` is what becomes of its other words. */
  unmask(text: string, other: (words: string) => string = (words) => words): string {
    const matcher = this.#back;
    if (!matcher) return text;
    let open = '';
    let at = 0;
    for (const { index, 0: name } of text.matchAll(matcher.pattern)) {
      open += other(text.slice(at, index)) + (matcher.targets.get(fold(name)) ?? NOWHERE);
      at = index + name.length;
    }
    return open + other(text.slice(at));
  }

  /** All names of a text. Found in the whole text, so that a range that cuts a name shows no half of it. */
  spans(text: SourceText): readonly NameSpan[] {
    const matcher = this.#forward;
    if (!matcher) return [];
    return [...text.value.matchAll(matcher.pattern)].map((match) => ({
      start: text.fromUnits(match.index),
      end: text.fromUnits(match.index + match[0].length),
      pseudonym: matcher.targets.get(fold(match[0])) ?? UNKNOWN,
    }));
  }
}

/** A range of a text as an agent may see it. */
export function maskRange(
  text: SourceText,
  spans: readonly NameSpan[],
  start: number,
  end: number,
): { readonly content: string; readonly replacements: readonly Replacement[] } {
  if (spans.length === 0) return { content: text.slice(start, end), replacements: [] };
  const replacements: Replacement[] = [];
  let content = '';
  let shown = 0;
  let at = start;
  const add = (piece: string) => {
    content += piece;
    shown += [...piece].length;
  };
  for (const span of spans) {
    if (span.end <= start || span.start >= end) continue;
    add(text.slice(at, Math.max(at, span.start)));
    const from = shown;
    add(span.pseudonym);
    replacements.push({
      content_start: from,
      content_end: shown,
      start_pos: Math.max(span.start, start),
      end_pos: Math.min(span.end, end),
    });
    at = span.end;
  }
  if (at < end) add(text.slice(at, end));
  return { content, replacements };
}

/** A whole text as an agent may see it, with the way back from places in it. A place inside a pseudonym stands for the whole name. */
export interface ShownText {
  readonly text: SourceText;
  original(range: { readonly start: number; readonly end: number }): {
    readonly start: number;
    readonly end: number;
  };
}

export function showText(text: SourceText, spans: readonly NameSpan[]): ShownText {
  if (spans.length === 0) return { text, original: (range) => range };
  const { content, replacements } = maskRange(text, spans, 0, text.length);
  const back = (position: number, edge: 'start_pos' | 'end_pos') => {
    const before = replacements.findLast(
      ({ content_start }) => content_start < position || (edge === 'start_pos' && content_start === position),
    );
    if (!before) return position;
    const inside = edge === 'start_pos' ? position < before.content_end : position <= before.content_end;
    return inside ? before[edge] : position - before.content_end + before.end_pos;
  };
  return {
    text: indexText(content),
    original: ({ start, end }) => ({ start: back(start, 'start_pos'), end: back(end, 'end_pos') }),
  };
}

interface Matcher {
  readonly pattern: RegExp;
  readonly targets: ReadonlyMap<string, string>;
}

const fold = (text: string) => text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ');

/** A match whose name cannot be looked up, through some rule of upper and lower case, must not show either. */
const UNKNOWN = '[name]';

/** A word that no text holds: who asks for a name they were not told must find what any made-up name finds. */
export const NOWHERE = 'ꙮꙮꙮꙮ';

function matcherFor(pairs: readonly (readonly [from: string, to: string])[]): Matcher | undefined {
  if (pairs.length === 0) return undefined;
  const targets = new Map(pairs.map(([from, to]) => [fold(from), to]));
  const forms = pairs.flatMap(([from]) => [...new Set([from.normalize('NFC'), from.normalize('NFD')])]);
  const parts = forms
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      const escaped = form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, '\\s+');
      return UNSPACED.test(form) ? escaped : `(?<!${LETTER})${escaped}(?!${LETTER})`;
    });
  return { pattern: new RegExp(parts.join('|'), 'giu'), targets };
}

function replaceAll({ pattern, targets }: Matcher, text: string): string {
  return text.replace(pattern, (name) => targets.get(fold(name)) ?? UNKNOWN);
}
