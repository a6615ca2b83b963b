import type { SourceText } from '../project/types.ts';
import type { Span } from '../statistics/frequencies.ts';
import { Pace } from './pace.ts';
import { answersIn, type Segment, segmentsInSlices } from './segments.ts';
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

/** Phrases held while a text is read; beyond this, those that came up once so far are forgotten. */
const MOST_HELD = 200_000;
/** The most frequent ones are weighed; only in texts of many megabytes are there more. */
const MOST_WEIGHED = 2_000;
/** Stems looked up in the index between two chances for other work; a common one takes milliseconds in a long text. */
const LOOKED_UP = 4;

interface Found {
  readonly forms: Map<string, number>;
  readonly stems: readonly string[];
  readonly speakers: Set<string>;
  readonly examples: (Span & { readonly text: string })[];
  /** Segments that hold it. */
  count: number;
  last: number;
}

/** Recurring words and phrases of the uncoded ranges that no code is named after, most telling first. */
export async function contentPatterns(
  text: SourceText,
  uncoded: readonly Span[],
  context: PatternContext,
  signal?: AbortSignal,
): Promise<ContentPattern[]> {
  const pace = new Pace(signal);
  const found = new Map<string, Found>();
  let answers: ReturnType<typeof answersIn> | undefined;
  for await (const segment of segmentsInSlices(text, uncoded, { pace })) {
    answers ??= answersIn(text);
    if (!answers(segment)) continue;
    for (const words of phrases(segment.text)) count(found, segment, words);
    if (found.size > MOST_HELD) await forgetSingle(found, pace);
  }
  const named = new Set(context.codeNames.flatMap((name) => stemsOf(name)));
  const telling = [...found.values()]
    .filter(({ stems, count: times }) => times >= 2 && !stems.every((stem) => named.has(stem)))
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, MOST_WEIGHED);
  const rarity = await rarityOf(telling, context, pace);
  const ranked = telling
    .map((entry) => ({ entry, weight: weight(entry, rarity) }))
    .sort((a, b) => b.weight - a.weight);
  return withoutParts(ranked.map(({ entry }) => entry)).map(toPattern);
}

function count(found: Map<string, Found>, segment: Segment, words: readonly Word[]): void {
  const stems = words.map((word) => word.stem);
  const key = stems.join(' ');
  const entry: Found = found.get(key) ?? {
    forms: new Map(),
    stems,
    speakers: new Set(),
    examples: [],
    count: 0,
    last: -1,
  };
  const form = segment.text.slice(words[0]?.start, words.at(-1)?.end).toLowerCase();
  entry.forms.set(form, (entry.forms.get(form) ?? 0) + 1);
  found.set(key, entry);
  if (entry.last === segment.start) return;
  entry.last = segment.start;
  entry.count += 1;
  if (segment.speaker !== undefined) entry.speakers.add(segment.speaker);
  const { start, end, text } = segment;
  if (entry.examples.length < EXAMPLES) entry.examples.push({ start, end, text });
}

async function forgetSingle(found: Map<string, Found>, pace: Pace): Promise<void> {
  for (const [key, entry] of found) {
    if (entry.count < 2) found.delete(key);
    if (pace.isDue) await pace.rest();
  }
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

async function rarityOf(
  found: readonly Found[],
  { frequencies }: PatternContext,
  pace: Pace,
): Promise<(stem: string) => number> {
  const stems = [...new Set(found.flatMap((entry) => entry.stems))];
  const times = new Map<string, number>();
  const { passages } = frequencies?.([]) ?? { passages: 0 };
  if (!frequencies || passages < 20) return () => 1;
  for (let from = 0; from < stems.length; from += LOOKED_UP) {
    for (const [stem, n] of frequencies(stems.slice(from, from + LOOKED_UP)).found) times.set(stem, n);
    if (pace.isDue) await pace.rest();
  }
  return (stem) => Math.log(1 + passages / (1 + (times.get(stem) ?? 0)));
}

function weight({ stems, count: times }: Found, rarity: (stem: string) => number = () => 1): number {
  const mean = stems.reduce((sum, stem) => sum + rarity(stem), 0) / stems.length;
  return times * mean * (1 + 0.6 * (stems.length - 1));
}

/** "night" says nothing more where "night shift" is already listed and accounts for most of it. */
function withoutParts(ranked: readonly Found[]): Found[] {
  const kept: Found[] = [];
  for (const entry of ranked) {
    const key = ` ${entry.stems.join(' ')} `;
    const covered = kept.some((other) => {
      const whole = ` ${other.stems.join(' ')} `;
      return (whole.includes(key) && other.count * 2 > entry.count) || key.includes(whole);
    });
    if (!covered) kept.push(entry);
    if (kept.length === MOST) break;
  }
  return kept;
}

function toPattern({ forms, count: occurrences, speakers, examples }: Found): ContentPattern {
  const [phrase = ''] = [...forms].sort((a, b) => b[1] - a[1])[0] ?? [];
  return { phrase, occurrences, speakers: [...speakers], examples };
}
