import type { ProjectReader } from '../../src/toolkits/research/project/types.ts';
import type { RankedCode } from './measures.ts';
import type { Item } from './project.ts';

type Vector = Map<string, number>;
type Baseline = (item: Item) => RankedCode[];

/** The most frequent codes of the other documents; the passage is not read. */
export function majority(codeIds: readonly number[], known: readonly Item[]): Baseline {
  const counts = new Map<number, number>();
  for (const item of known) for (const id of item.codeIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  const ranked = [...codeIds]
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
    .map((codeId) => ({ codeId }));
  return () => ranked;
}

/** What a few lines achieve: TF-IDF centroids of the coded passages and, at 0.7, of the codes' names. */
export function tfIdf(project: ProjectReader, known: readonly Item[], all: readonly Item[]): Baseline {
  const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const textOf = ({ sourceId, start, end }: Item) => project.text(sourceId)?.slice(start, end) ?? '';
  const frequency = new Map<string, number>();
  for (const item of all)
    for (const word of new Set(wordsOf(textOf(item)))) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const vectorOf = (text: string): Vector => {
    const counts: Vector = new Map();
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts)
      counts.set(
        word,
        (1 + Math.log(count)) * Math.log((all.length + 1) / ((frequency.get(word) ?? 0) + 0.5)),
      );
    return unit(counts);
  };
  const centroids = new Map<number, Vector>();
  for (const item of known) {
    const vector = vectorOf(textOf(item));
    for (const id of item.codeIds) {
      const sum = centroids.get(id) ?? new Map<string, number>();
      for (const [word, weight] of vector) sum.set(word, (sum.get(word) ?? 0) + weight);
      centroids.set(id, sum);
    }
  }
  const codes = project.codes().map(({ id, name }) => ({
    id,
    name: vectorOf(name),
    centroid: unit(centroids.get(id) ?? new Map()),
  }));
  return (item) => {
    const vector = vectorOf(textOf(item));
    return codes
      .map(({ id, name, centroid }) => ({
        codeId: id,
        score: dot(vector, centroid) + 0.7 * dot(vector, name),
      }))
      .sort((a, b) => b.score - a.score)
      .map(({ codeId }) => ({ codeId }));
  };
}

function unit(vector: Vector): Vector {
  const size = Math.sqrt([...vector.values()].reduce((sum, weight) => sum + weight * weight, 0)) || 1;
  return new Map([...vector].map(([word, weight]) => [word, weight / size]));
}

function dot(a: Vector, b: Vector): number {
  let sum = 0;
  for (const [word, weight] of a) sum += weight * (b.get(word) ?? 0);
  return sum;
}
