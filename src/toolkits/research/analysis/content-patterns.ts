import type { SourceText } from '../project/types.ts';
import type { Span } from '../statistics/spans.ts';
import { answersOnly, sentenceSegments } from './segments.ts';
import { isMeasure, isStopWord } from './stop-words.ts';
import { normalize, stemsOf, type Word, wordsOf } from './words.ts';

/** A word or phrase that keeps coming up in text no code covers. */
export interface ContentPattern {
  readonly phrase: string;
  readonly occurrences: number;
  readonly speakers: readonly string[];
  readonly examples: readonly (Span & { readonly text: string })[];
}

export interface PatternContext {
  readonly codeNames: readonly string[];
  /** In how many passages of the whole project a stem occurs; common words are no finding. */
  readonly frequencies?: (stems: readonly string[]) => {
    readonly passages: number;
    readonly found: ReadonlyMap<string, number>;
  };
}

const MOST = 12;
const LONGEST_PHRASE = 3;
const EXAMPLES = 3;

interface Found {
  readonly forms: Map<string, number>;
  readonly stems: readonly string[];
  readonly places: {
    readonly span: Span & { readonly text: string };
    readonly speaker: string | undefined;
  }[];
}

/** Recurring words and phrases of the uncoded ranges that no code is named after, most telling first. */
export function contentPatterns(
  text: SourceText,
  uncoded: readonly Span[],
  context: PatternContext,
): ContentPattern[] {
  const found = new Map<string, Found>();
  for (const range of uncoded) {
    for (const segment of answersOnly(text, sentenceSegments(text, range))) {
      for (const words of phrases(segment.text)) {
        const stems = words.map((word) => word.stem);
        const entry: Found = found.get(stems.join(' ')) ?? { forms: new Map(), stems, places: [] };
        const form = segment.text.slice(words[0]?.start, words.at(-1)?.end).toLowerCase();
        entry.forms.set(form, (entry.forms.get(form) ?? 0) + 1);
        if (entry.places.at(-1)?.span.start !== segment.start)
          entry.places.push({ span: segment, speaker: segment.speaker });
        found.set(stems.join(' '), entry);
      }
    }
  }
  const named = new Set(context.codeNames.flatMap((name) => stemsOf(name)));
  const telling = [...found.values()].filter(
    ({ stems, places }) => places.length >= 2 && !stems.every((stem) => named.has(stem)),
  );
  const rarity = rarityOf(telling, context);
  const ranked = telling
    .map((entry) => ({ entry, weight: weight(entry, rarity) }))
    .sort((a, b) => b.weight - a.weight);
  return withoutParts(ranked.map(({ entry }) => entry))
    .slice(0, MOST)
    .map(toPattern);
}

/** Runs of telling words, alone and up to three together: "night shift", "waiting list". */
function* phrases(text: string): Generator<Word[]> {
  let run: Word[] = [];
  const words = wordsOf(text);
  for (const [i, word] of words.entries()) {
    const gap = text.slice(words[i - 1]?.end ?? word.start, word.start);
    if (/[^\s-]/.test(gap)) run = [];
    const plain = normalize(word.text);
    if (isStopWord(plain) || /^\d+$/.test(plain) || (plain.length < 3 && /^[a-z]+$/.test(plain))) {
      run = [];
      continue;
    }
    run = [...run, word].slice(-LONGEST_PHRASE);
    for (let from = 0; from < run.length; from += 1) {
      const phrase = run.slice(from);
      // "Two years" comes up in every interview and is no theme of any.
      if (!phrase.every(({ text: part }) => isMeasure(normalize(part)))) yield phrase;
    }
  }
}

function rarityOf(found: readonly Found[], context: PatternContext): (stem: string) => number {
  const known = context.frequencies?.([...new Set(found.flatMap(({ stems }) => stems))]);
  if (!known || known.passages < 20) return () => 1;
  return (stem) => Math.log(1 + known.passages / (1 + (known.found.get(stem) ?? 0)));
}

function weight({ stems, places }: Found, rarity: (stem: string) => number): number {
  const mean = stems.reduce((sum, stem) => sum + rarity(stem), 0) / stems.length;
  return places.length * mean * (1 + 0.6 * (stems.length - 1));
}

/** "night" says nothing more where "night shift" is already listed and accounts for most of it. */
function withoutParts(ranked: readonly Found[]): Found[] {
  const kept: Found[] = [];
  for (const entry of ranked) {
    const key = ` ${entry.stems.join(' ')} `;
    const covered = kept.some((other) => {
      const whole = ` ${other.stems.join(' ')} `;
      return (whole.includes(key) && other.places.length * 2 > entry.places.length) || key.includes(whole);
    });
    if (!covered) kept.push(entry);
  }
  return kept;
}

function toPattern({ forms, places }: Found): ContentPattern {
  const [phrase = ''] = [...forms].sort((a, b) => b[1] - a[1])[0] ?? [];
  return {
    phrase,
    occurrences: places.length,
    speakers: [...new Set(places.flatMap(({ speaker }) => (speaker ? [speaker] : [])))],
    examples: places.slice(0, EXAMPLES).map(({ span: { start, end, text } }) => ({ start, end, text })),
  };
}
