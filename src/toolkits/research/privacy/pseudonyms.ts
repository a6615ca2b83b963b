import type { Pace } from '../analysis/pace.ts';
import { TextBuilder } from '../project/source-text.ts';
import type { SourceText } from '../project/types.ts';
import { fold, type NameFinder, nameFinder, partsOf } from './name-forms.ts';

export interface Pseudonym {
  readonly original: string;
  readonly pseudonym: string;
  /** Further forms of the name, such as a nickname. */
  readonly variants?: readonly string[];
  /** Replace only the name as it is written: it is also an ordinary word. */
  readonly exact?: boolean;
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

/** No name and no address is longer. */
const AROUND = 500;
/** Code points searched for names between two chances for other work; a few milliseconds. */
const SLICE = 100_000;

/**
 * Replaces names by pseudonyms, in any case and either Unicode form, the longest name first: inflected forms, parts of full
 * names and names in addresses too.
 */
export class Pseudonymiser {
  readonly #find: NameFinder | undefined;
  readonly #back: ReadonlyMap<string, string>;
  readonly #backPattern: RegExp | undefined;
  /** Names and parts of names that are hidden from those who see only pseudonyms. */
  readonly hidden: readonly string[];

  constructor(names: readonly Pseudonym[]) {
    this.#find = nameFinder(names);
    const known = new Set(names.map(({ pseudonym }) => fold(pseudonym)));
    this.hidden = names
      .flatMap((name) => [name.original, ...(name.variants ?? []), ...partsOf(name)])
      // Who has not been shown a name cannot ask for it: otherwise trying names would find out who is who.
      .filter((name) => !known.has(fold(name)));
    this.#back = new Map(names.map(({ original, pseudonym }) => [fold(pseudonym), original]));
    const shown = [...new Set(names.map(({ pseudonym }) => pseudonym))].sort((x, y) => y.length - x.length);
    this.#backPattern = shown.length > 0 ? wordsPattern(shown) : undefined;
  }

  get active(): boolean {
    return this.#find !== undefined;
  }

  mask(text: string): string {
    return this.#replace(text, (pseudonym) => pseudonym);
  }

  /** A search by an agent names people as it knows them; `other` is what becomes of its other words. */
  unmask(text: string, other: (words: string) => string = (words) => words): string {
    if (!this.#backPattern) return other(text);
    const open = (words: string) => other(this.#replace(words, () => NOWHERE));
    let found = '';
    let at = 0;
    for (const { index, 0: name } of text.matchAll(this.#backPattern)) {
      found += open(text.slice(at, index)) + (this.#back.get(fold(name)) ?? NOWHERE);
      at = index + name.length;
    }
    return found + open(text.slice(at));
  }

  /** The names that touch a range. Found with the words around it, so that a range that cuts a name shows no half of it. */
  spansNear(text: SourceText, start: number, end: number): readonly NameSpan[] {
    if (!this.#find) return [];
    const from = text.toUnits(Math.max(0, start - AROUND));
    const to = text.toUnits(Math.min(text.length, end + AROUND));
    const spans: NameSpan[] = [];
    for (const { index, length, to: pseudonym } of this.#find(text.value.slice(from, to))) {
      const span = {
        start: text.fromUnits(from + index),
        end: text.fromUnits(from + index + length),
        pseudonym,
      };
      if (span.end > start && span.start < end) spans.push(span);
    }
    return spans;
  }

  /** All names of a text, without keeping other work waiting. */
  async spansInSlices(text: SourceText, pace: Pace): Promise<readonly NameSpan[]> {
    const spans: NameSpan[] = [];
    for (let start = 0; this.#find && start < text.length; start += SLICE) {
      // One that lies across two slices is found in both.
      for (const span of this.spansNear(text, start, start + SLICE))
        if (span.start >= (spans.at(-1)?.end ?? 0)) spans.push(span);
      if (pace.isDue) await pace.rest();
    }
    return spans;
  }

  #replace(text: string, by: (pseudonym: string) => string): string {
    let shown = '';
    let at = 0;
    for (const { index, length, to } of this.#find?.(text) ?? []) {
      shown += text.slice(at, index) + by(to);
      at = index + length;
    }
    return shown + text.slice(at);
  }
}

/** A range of a text as an agent may see it. */
export function maskRange(
  text: SourceText,
  spans: readonly NameSpan[],
  start: number,
  end: number,
): { readonly content: string; readonly replacements: readonly Replacement[] } {
  const replacements: Replacement[] = [];
  let content = '';
  for (const { words, replacement } of maskedPieces(text, spans, start, end)) {
    content += words;
    if (replacement) replacements.push(replacement);
  }
  return { content, replacements };
}

/** The text between names and the pseudonyms, one after the other. */
function* maskedPieces(
  text: SourceText,
  spans: readonly NameSpan[],
  start: number,
  end: number,
): Generator<{ readonly words: string; readonly replacement?: Replacement }> {
  let shown = 0;
  let at = start;
  for (const span of spans) {
    if (span.end <= start || span.start >= end) continue;
    const next = Math.max(at, span.start);
    const from = shown + next - at;
    shown = from + [...span.pseudonym].length;
    yield {
      words: text.slice(at, next) + span.pseudonym,
      replacement: {
        content_start: from,
        content_end: shown,
        start_pos: Math.max(span.start, start),
        end_pos: Math.min(span.end, end),
      },
    };
    at = span.end;
  }
  yield { words: text.slice(at, end) };
}

/**
 * A whole text as an agent may see it, with the way back from places in it. A place inside a pseudonym stands for the
 * whole name.
 */
export interface ShownText {
  readonly text: SourceText;
  original(range: { readonly start: number; readonly end: number }): {
    readonly start: number;
    readonly end: number;
  };
}

export async function showText(text: SourceText, spans: readonly NameSpan[], pace: Pace): Promise<ShownText> {
  if (spans.length === 0) return { text, original: (range) => range };
  const replacements: Replacement[] = [];
  const building = new TextBuilder();
  for (const { words, replacement } of maskedPieces(text, spans, 0, text.length)) {
    building.add(words);
    if (replacement) replacements.push(replacement);
    if (pace.isDue) await pace.rest();
  }
  // Putting a long text together takes the time of several steps.
  await pace.rest();
  const shown = building.text();
  await pace.rest();
  const back = (position: number, edge: 'start_pos' | 'end_pos') => {
    const before = replacements[countStartingBefore(replacements, position) - 1];
    if (!before) return position;
    return position < before.content_end ? before[edge] : position - before.content_end + before.end_pos;
  };
  return {
    text: shown,
    original: ({ start, end }) => ({ start: back(start, 'start_pos'), end: back(end, 'end_pos') }),
  };
}

function countStartingBefore(sorted: readonly Replacement[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.content_start ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A word that no text holds: who asks for a name hidden from them must find what any made-up name finds. */
export const NOWHERE = 'ꙮꙮꙮꙮ';

const LETTER = '[\\p{L}\\p{M}\\p{N}_]';

function wordsPattern(words: readonly string[]): RegExp {
  const parts = words.map((word) => {
    const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, '\\s+');
    return `(?<!${LETTER})${escaped}(?!${LETTER})`;
  });
  return new RegExp(parts.join('|'), 'giu');
}
