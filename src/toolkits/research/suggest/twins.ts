import { Centroids } from './centroids.ts';
import type { SuggestionModel } from './model.ts';
import type { Twins } from './protocol.ts';

/** Fewer passages do not show how a code is used. */
const PASSAGES = 10;
/** As near to the other code as to its own other half, less a little for chance. */
const AS_NEAR = 0.9;
const LEAST = 0.3;

/**
 * Codes whose segments are as like each other as the segments of one code are among themselves. Each code is split in two by source;
 * its halves say how near the same code is to itself, which two codes about one subject do not reach.
 */
export function twinsOf(model: SuggestionModel): Twins {
  const { codes, vocabulary } = model;
  const sources = new Map(
    [...new Set(codes.flatMap((_, code) => model.passagesOf(code).map(({ sourceId }) => sourceId)))].map(
      (id, at) => [id, at % 2],
    ),
  );
  const members = codes.flatMap((_, code) =>
    model.passagesOf(code).map(({ sourceId, features }) => ({
      vector: features.words,
      cls: 2 * code + (sources.get(sourceId) ?? 0),
    })),
  );
  const halves = new Centroids(2 * codes.length, vocabulary.size, members);
  const cosines = codes.map((_, code) =>
    [0, 1].map((half) => halves.cosines(halves.centroidOf(2 * code + half))),
  );
  const between = (a: number, b: number) =>
    ((cosines[a]?.[0]?.[2 * b + 1] ?? 0) + (cosines[a]?.[1]?.[2 * b] ?? 0)) / 2;
  const pairs: Twins['pairs'][number][] = [];
  for (const [a, { id }] of codes.entries()) {
    if (model.passagesOf(a).length < PASSAGES) continue;
    for (let b = a + 1; b < codes.length; b += 1) {
      const other = codes[b];
      if (!other || model.passagesOf(b).length < PASSAGES) continue;
      const similarity = between(a, b);
      const within = Math.min(between(a, a), between(b, b));
      if (similarity >= LEAST && similarity >= AS_NEAR * within)
        pairs.push({ a: id, b: other.id, similarity, within });
    }
  }
  return { pairs };
}
