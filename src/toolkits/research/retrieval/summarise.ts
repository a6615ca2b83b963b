import { Pace } from '../analysis/pace.ts';
import { segmentsInSlices } from '../analysis/segments.ts';
import { contentStems } from '../analysis/words.ts';
import type { SourceText } from '../project/types.ts';

export interface Cited {
  readonly sourceId: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Part extends Omit<Cited, 'text'> {
  readonly text: SourceText;
}

interface Sentence extends Cited {
  readonly stems: ReadonlyMap<string, number>;
}

const FEWEST_WORDS = 4;
/** More would say nothing else: from a text of many megabytes, every so many sentences are taken. */
const MOST_SENTENCES = 20_000;
/** How much a sentence may repeat what is already chosen before it counts for less. */
const NEW_SHARE = 0.6;

/**
 * The sentences that say what the others say: near to the centre of all, without repeating each other (maximal marginal
 * relevance), in the order of the text. Every sentence is a citation.
 */
export async function centralSentences(
  parts: readonly Part[],
  most: number,
  signal?: AbortSignal,
): Promise<Cited[]> {
  const pace = new Pace(signal);
  const found = await sentencesOf(parts, pace);
  const step = Math.max(1, found.length / MOST_SENTENCES);
  const sentences = found.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const vectors = await weigh(sentences, pace);
  const centre = await sum(vectors, pace);
  const central: number[] = [];
  for (const vector of vectors) {
    central.push(dot(vector, centre));
    if (pace.isDue) await pace.rest();
  }
  /** How much each repeats of what is chosen. */
  const repeated = new Float64Array(vectors.length);
  const chosen: number[] = [];
  const left = new Set(vectors.keys());
  while (chosen.length < most && left.size > 0) {
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const at of left) {
      const score = (central[at] ?? 0) - NEW_SHARE * (repeated[at] ?? 0);
      if (score > bestScore) [best, bestScore] = [at, score];
    }
    left.delete(best);
    chosen.push(best);
    for (const at of left) {
      const shared = dot(vectors[at] ?? new Map(), vectors[best] ?? new Map());
      repeated[at] = Math.max(repeated[at] ?? 0, shared);
      if (pace.isDue) await pace.rest();
    }
  }
  return chosen
    .flatMap((at) => sentences[at] ?? [])
    .sort((a, b) => a.sourceId - b.sourceId || a.start - b.start)
    .map(({ sourceId, start, end, text }) => ({ sourceId, start, end, text }));
}

async function sentencesOf(parts: readonly Part[], pace: Pace): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  const seen = new Set<string>();
  for (const { sourceId, text, start, end } of parts) {
    for await (const segment of segmentsInSlices(text, [{ start, end }], { pace })) {
      const key = `${sourceId} ${segment.start}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const stems = new Map<string, number>();
      for (const stem of contentStems(segment.text)) stems.set(stem, (stems.get(stem) ?? 0) + 1);
      if (stems.size >= FEWEST_WORDS)
        sentences.push({ sourceId, start: segment.start, end: segment.end, text: segment.text, stems });
    }
  }
  return sentences;
}

type Vector = ReadonlyMap<string, number>;

async function weigh(sentences: readonly Sentence[], pace: Pace): Promise<Vector[]> {
  const frequency = new Map<string, number>();
  for (const { stems } of sentences) {
    for (const stem of stems.keys()) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
    if (pace.isDue) await pace.rest();
  }
  const rarity = (stem: string) => Math.log(1 + sentences.length / (frequency.get(stem) ?? 1));
  const vectors: Vector[] = [];
  for (const { stems } of sentences) {
    vectors.push(unit(new Map([...stems].map(([stem, n]) => [stem, (1 + Math.log(n)) * rarity(stem)]))));
    if (pace.isDue) await pace.rest();
  }
  return vectors;
}

async function sum(vectors: readonly Vector[], pace: Pace): Promise<Vector> {
  const total = new Map<string, number>();
  for (const vector of vectors) {
    for (const [stem, weight] of vector) total.set(stem, (total.get(stem) ?? 0) + weight);
    if (pace.isDue) await pace.rest();
  }
  return unit(total);
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt([...vector.values()].reduce((total, weight) => total + weight * weight, 0)) || 1;
  return new Map([...vector].map(([stem, weight]) => [stem, weight / length]));
}

function dot(a: Vector, b: Vector): number {
  let total = 0;
  for (const [stem, weight] of a.size < b.size ? a : b)
    total += weight * ((a.size < b.size ? b : a).get(stem) ?? 0);
  return total;
}
