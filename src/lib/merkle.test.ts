import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodiesUpTo, flip, follow, grow, hashesOf } from './merkle.fixture.ts';
import {
  consistencyPlan,
  coverRange,
  EMPTY_ROOT,
  inclusionPlan,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';

/** RFC 6962 2.1 word for word: the slow truth everything else is compared with. */
function treeHash(leaves: readonly string[]): string {
  if (leaves.length === 0) return EMPTY_ROOT;
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

const size = fc.integer({ min: 1, max: 300 });

describe('a growing tree', () => {
  it('has the root that RFC 6962 defines, at every size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), (count) => {
        const leaves = hashesOf(bodiesUpTo(count));
        expect(rootOf(grow(leaves).frontier)).toBe(treeHash(leaves));
      }),
    );
  });

  it('knows an earlier root from its complete subtrees', () => {
    fc.assert(
      fc.property(size, fc.nat(), (count, pick) => {
        const leaves = hashesOf(bodiesUpTo(count));
        const earlier = pick % (count + 1);
        const hashes = follow([coverRange(0, earlier)], grow(leaves).nodes);
        expect(hashes).toEqual([treeHash(leaves.slice(0, earlier))]);
      }),
    );
  });

  it('proves every leaf, and the proof fails for any other leaf, place, size, path or root', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat({ max: 63 }), (count, pick, digit) => {
        const leaves = hashesOf(bodiesUpTo(count));
        const { nodes, frontier } = grow(leaves);
        const index = pick % count;
        const leaf = leaves[index] ?? '';
        const root = rootOf(frontier);
        const path = follow(inclusionPlan(index, count), nodes);
        expect(verifyInclusion(leaf, index, count, path, root)).toBe(true);
        expect(verifyInclusion(flip(leaf, digit), index, count, path, root)).toBe(false);
        expect(verifyInclusion(leaf, index, count, path, flip(root, digit))).toBe(false);
        expect(verifyInclusion(leaf, index, count, [...path, leaf], root)).toBe(false);
        if (count > 1) {
          expect(verifyInclusion(leaf, (index + 1) % count, count, path, root)).toBe(false);
          expect(verifyInclusion(leaf, index, count, path.slice(1), root)).toBe(false);
          const at = pick % path.length;
          const bent = path.map((hash, position) => (position === at ? flip(hash, digit) : hash));
          expect(verifyInclusion(leaf, index, count, bent, root)).toBe(false);
        }
      }),
    );
  });

  it('proves that it only grew, and the proof fails for any other past', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat({ max: 63 }), (count, pick, digit) => {
        const leaves = hashesOf(bodiesUpTo(count));
        const from = 1 + (pick % count);
        const { nodes, frontier } = grow(leaves);
        const older = treeHash(leaves.slice(0, from));
        const newer = rootOf(frontier);
        const proof = follow(consistencyPlan(from, count), nodes);
        expect(verifyConsistency(from, count, older, newer, proof)).toBe(true);
        expect(verifyConsistency(from, count, flip(older, digit), newer, proof)).toBe(false);
        expect(verifyConsistency(from, count, older, flip(newer, digit), proof)).toBe(false);
        expect(verifyConsistency(from, count, older, newer, [...proof, older])).toBe(false);
        if (proof.length > 0) {
          const at = pick % proof.length;
          const bent = proof.map((hash, position) => (position === at ? flip(hash, digit) : hash));
          expect(verifyConsistency(from, count, older, newer, bent)).toBe(false);
          expect(verifyConsistency(from, count, older, newer, proof.slice(1))).toBe(false);
        }
      }),
    );
  });
});

describe('every tree of 0 to 300 leaves', () => {
  const LARGEST = 300;
  const leaves = hashesOf(bodiesUpTo(LARGEST));
  /** RFC 6962 2.1 over any range, each computed once. */
  const known = new Map<string, string>();
  const naive = (start: number, end: number): string => {
    const key = `${start}-${end}`;
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    let split = 1;
    while (split * 2 < end - start) split *= 2;
    const made =
      end === start
        ? EMPTY_ROOT
        : end - start === 1
          ? (leaves[start] ?? '')
          : nodeHash(naive(start, start + split), naive(start + split, end));
    known.set(key, made);
    return made;
  };
  const { nodes } = grow(leaves);
  /** Every place of a small tree; of a larger one the ends, and so many between that all paths have their turn. */
  const places = (count: number): number[] =>
    Array.from({ length: count }, (_, index) => index).filter(
      (index) => count <= 48 || index < 2 || index > count - 3 || index % 11 === count % 11,
    );

  it('has the naive root, and includes every leaf at its own place only', () => {
    for (let count = 0; count <= LARGEST; count += 1) {
      const root = rootOf(grow(leaves.slice(0, count)).frontier);
      expect(root).toBe(naive(0, count));
      for (const index of places(count)) {
        const path = follow(inclusionPlan(index, count), nodes);
        const leaf = leaves[index] ?? '';
        if (!verifyInclusion(leaf, index, count, path, root)) expect.fail(`${index} of ${count}`);
        if (count > 1 && verifyInclusion(leaf, (index + 1) % count, count, path, root))
          expect.fail(`${index} of ${count} at another place`);
      }
    }
  });

  it('is consistent with every earlier one and with no other', () => {
    for (let count = 1; count <= LARGEST; count += 1) {
      for (const from of [...places(count), count]) {
        const proof = follow(consistencyPlan(from, count), nodes);
        const holds = verifyConsistency(from, count, naive(0, from), naive(0, count), proof);
        if (holds !== from > 0) expect.fail(`from ${from} to ${count}`);
        if (from > 1 && verifyConsistency(from, count, naive(0, from - 1), naive(0, count), proof))
          expect.fail(`from ${from} to ${count} with the root of ${from - 1}`);
      }
    }
  });
});
