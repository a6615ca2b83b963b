import type { Span } from '../statistics/spans.ts';
import { rootOf } from './likeness.ts';
import { isStopWord } from './stop-words.ts';
import { contentStems, normalize, stemsOf, wordsOf } from './words.ts';

/** An earlier coding that shows what a code means in practice. */
export interface Example extends Span {
  readonly codingId: number;
  readonly sourceId: number;
  readonly sourceName: string;
  readonly text: string;
}

export interface CodeWithExamples {
  readonly id: number;
  readonly name: string;
  /** Only the part of the memo that may be shown. */
  readonly memo: string;
  readonly examples: readonly Example[];
}

/** A code as the scorer sees it. */
export interface CodeProfile {
  readonly code: CodeWithExamples;
  /** Content words of the name: stem and word family each. */
  readonly name: readonly { readonly stem: string; readonly root: string }[];
  readonly namePhrase: readonly string[];
  readonly memo: ReadonlyMap<string, number>;
  /** Stems that are typical of this code's codings beside those of the others, with their weight. */
  readonly typical: ReadonlyMap<string, number>;
}

/** A memo is a paragraph of definition; only its rarer words tell codes apart. */
const MEMO_WORDS = 40;
const TYPICAL_WORDS = 60;

export function profileCodes(codes: readonly CodeWithExamples[]): CodeProfile[] {
  const exampleStems = codes.map((code) => code.examples.map(({ text }) => new Set(contentStems(text))));
  const everywhere = countIn(exampleStems.flat());
  const total = exampleStems.reduce((sum, list) => sum + list.length, 0);
  const memoUse = countIn(codes.map((code) => new Set(contentStems(code.memo))));
  return codes.map((code, at) => ({
    code,
    name: nameWords(code.name),
    namePhrase: stemsOf(code.name),
    memo: memoWeights(code, memoUse, codes.length),
    typical: typicalStems(exampleStems[at] ?? [], everywhere, total),
  }));
}

function nameWords(name: string): { stem: string; root: string }[] {
  const words = wordsOf(name);
  const telling = words.filter((word) => !isStopWord(normalize(word.text)));
  return (telling.length ? telling : words).map((word) => ({
    stem: word.stem,
    root: rootOf(normalize(word.text)),
  }));
}

function memoWeights(
  code: CodeWithExamples,
  use: ReadonlyMap<string, number>,
  codes: number,
): Map<string, number> {
  const inName = new Set(stemsOf(code.name));
  const weights = [...new Set(contentStems(code.memo))]
    .filter((stem) => !inName.has(stem) && stem.length > 2)
    .map((stem) => [stem, Math.log(1 + codes / (use.get(stem) ?? 1))] as const)
    .sort((a, b) => b[1] - a[1]);
  return new Map(weights.slice(0, MEMO_WORDS));
}

/** Log odds of a stem in this code's codings against all the others, with half a count added so that nothing is infinite. */
function typicalStems(
  own: readonly Set<string>[],
  everywhere: ReadonlyMap<string, number>,
  total: number,
): Map<string, number> {
  if (own.length === 0) return new Map();
  const counts = countIn(own);
  // While hardly anything else is coded, a handful of unseen codings without these words stands for it.
  const others = Math.max(5, total - own.length);
  const found: [string, number][] = [];
  for (const [stem, count] of counts) {
    // A word seen once in many codings is chance; in one or two codings it is all there is.
    if (count < 2 && own.length > 3) continue;
    const elsewhere = (everywhere.get(stem) ?? 0) - count;
    const odds = Math.log((count + 0.5) / (own.length + 1)) - Math.log((elsewhere + 0.5) / (others + 1));
    const spread = Math.log(1 + count) / Math.log(2 + own.length);
    if (odds > 0.5) found.push([stem, odds * Math.max(0.4, spread)]);
  }
  return new Map(found.sort((a, b) => b[1] - a[1]).slice(0, TYPICAL_WORDS));
}

function countIn(sets: readonly Set<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const set of sets) for (const item of set) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
