import type { CodeProfile, Example } from './evidence.ts';
import { isMisspelling, rootOf } from './likeness.ts';
import { isStopWord } from './stop-words.ts';
import { cosine } from './vectors.ts';
import { normalize, type Word, wordsOf } from './words.ts';

/** What speaks for a code on a segment, each kind with the words or codings that say so. */
export interface Evidence {
  readonly name: { readonly share: number; readonly words: readonly string[]; readonly whole: boolean };
  readonly memo: { readonly weight: number; readonly words: readonly string[] };
  readonly typical: { readonly weight: number; readonly words: readonly string[] };
  /** Cosine of segment and code, undefined without a sentence model. */
  readonly meaning: number | undefined;
  /** By how many standard deviations the meaning is nearer to this code than to the codes on average; undefined for few codes. */
  readonly contrast: number | undefined;
  readonly nearest: readonly { readonly example: Example; readonly similarity: number }[];
}

export interface ReadSegment {
  readonly words: readonly Word[];
  readonly vector: Float32Array | undefined;
}

export interface CodeVectors {
  /** Of the code's name and definition together. */
  readonly code: Float32Array | undefined;
  readonly examples: readonly (Float32Array | undefined)[];
}

/** How near a segment is to codes in general: only against that does it show which one it stands out for. */
export interface Field {
  readonly mean: number;
  readonly deviation: number;
}

const FEWEST_CODES = 5;

export function fieldOf(segment: ReadSegment, vectors: readonly CodeVectors[]): Field | undefined {
  const { vector } = segment;
  if (!vector || vectors.length < FEWEST_CODES) return undefined;
  const all = vectors.map(({ code }) => (code ? cosine(vector, code) : 0));
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const deviation = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length);
  return deviation > 0 ? { mean, deviation } : undefined;
}

export const readSegment = (text: string, vector: Float32Array | undefined): ReadSegment => ({
  words: wordsOf(text).filter((word) => !isStopWord(normalize(word.text))),
  vector,
});

/** `without`: codings that must not testify, because they are the very segment that is judged. */
export function gather(
  segment: ReadSegment,
  profile: CodeProfile,
  vectors: CodeVectors,
  field: Field | undefined,
  without: (example: Example) => boolean = () => false,
): Evidence {
  const meaning = segment.vector && vectors.code ? cosine(segment.vector, vectors.code) : undefined;
  return {
    name: nameEvidence(segment, profile),
    memo: weigh(segment, profile.memo),
    typical: weigh(segment, profile.typical),
    meaning,
    contrast: meaning !== undefined && field ? (meaning - field.mean) / field.deviation : undefined,
    nearest: nearestExamples(segment, profile, vectors, without),
  };
}

function nameEvidence(segment: ReadSegment, profile: CodeProfile): Evidence['name'] {
  const matched = new Set<string>();
  let sum = 0;
  for (const { stem, root } of profile.name) {
    const exact = segment.words.find((word) => word.stem === stem);
    const family =
      exact ?? segment.words.find((word) => root.length >= 4 && rootOf(normalize(word.text)) === root);
    const typo = family ?? segment.words.find((word) => isMisspelling(word.stem, stem));
    if (!typo) continue;
    matched.add(typo.text);
    sum += exact ? 1 : family ? 0.85 : 0.6;
  }
  const share = profile.name.length ? sum / profile.name.length : 0;
  return { share, words: [...matched], whole: share === 1 };
}

function weigh(
  segment: ReadSegment,
  weights: ReadonlyMap<string, number>,
): { weight: number; words: string[] } {
  const found = new Map<string, { text: string; weight: number }>();
  for (const word of segment.words) {
    const weight = weights.get(word.stem);
    if (weight !== undefined) found.set(word.stem, { text: word.text, weight });
  }
  const sorted = [...found.values()].sort((a, b) => b.weight - a.weight);
  return {
    weight: sorted.reduce((sum, item) => sum + item.weight, 0),
    words: sorted.slice(0, 4).map((item) => item.text),
  };
}

function nearestExamples(
  segment: ReadSegment,
  profile: CodeProfile,
  vectors: CodeVectors,
  without: (example: Example) => boolean,
): Evidence['nearest'] {
  const { vector } = segment;
  if (!vector) return [];
  return profile.code.examples
    .flatMap((example, at) => {
      const other = vectors.examples[at];
      return other && !without(example) ? [{ example, similarity: cosine(vector, other) }] : [];
    })
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, 3);
}

/**
 * All evidence on one scale, as log odds before calibration. The weights are set so that the name of the code in the text is
 * good evidence alone, a typical word or a near meaning is a hint, and two kinds of hint together make a suggestion.
 */
export function logOdds(evidence: Evidence): number {
  const spoken =
    3.6 * evidence.name.share ** 1.5 +
    2 * saturate(evidence.memo.weight, 2.5) +
    2.6 * saturate(evidence.typical.weight, 3);
  // Without a sentence model words have to carry it alone.
  if (evidence.meaning === undefined) return BASE + 1.25 * spoken;
  const [first, second] = evidence.nearest;
  const examples = first
    ? 0.65 * first.similarity + 0.35 * (second?.similarity ?? first.similarity * 0.9)
    : 0;
  return (
    BASE +
    spoken +
    7 * above(evidence.meaning, 0.22, 0.65) +
    // Where words already speak, standing out among the codes says little more.
    1.2 * above(evidence.contrast ?? 0, 1, 2.5) * Math.exp(-2 * spoken) +
    9 * above(examples, 0.38, 0.85)
  );
}

/** Most codes do not fit most segments. */
const BASE = -3;

const saturate = (weight: number, scale: number): number => 1 - Math.exp(-weight / scale);
const above = (value: number, from: number, to: number): number => Math.max(0, Math.min(value, to) - from);
