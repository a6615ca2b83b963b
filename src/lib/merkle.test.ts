import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appendLeaf,
  consistencyPlan,
  coverRange,
  EMPTY_ROOT,
  type Frontier,
  foldRange,
  inclusionPlan,
  leafHash,
  type NodeRef,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';

/** The leaves and hashes published with Certificate Transparency's reference implementation of RFC 6962. */
const LEAVES = ['', '\x00', '\x10', '\x20\x21', '\x30\x31', '@ABC', 'PQRSTUVW', '`abcdefghijklmno'];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const PATHS = [
  { index: 0, size: 1, path: [] },
  {
    index: 0,
    size: 8,
    path: [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  },
  {
    index: 5,
    size: 8,
    path: [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  },
  { index: 2, size: 3, path: ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'] },
  {
    index: 1,
    size: 5,
    path: [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  },
];
const GROWTH = [
  { from: 1, to: 1, proof: [] },
  { from: 1, to: 8, proof: PATHS[1]?.path ?? [] },
  {
    from: 6,
    to: 8,
    proof: [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  },
  {
    from: 2,
    to: 5,
    proof: [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  },
];

/** RFC 6962 2.1 word for word: the slow truth everything else is compared with. */
function treeHash(leaves: readonly string[]): string {
  if (leaves.length === 0) return EMPTY_ROOT;
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

const hashesOf = (bodies: readonly string[]) => bodies.map(leafHash);
const bodiesUpTo = (size: number) => Array.from({ length: size }, (_, index) => `entry ${index}`);

function grow(leaves: readonly string[]): { frontier: Frontier; nodes: Map<string, string> } {
  const frontier: Frontier = [];
  const nodes = new Map(leaves.map((leaf, idx) => [`0/${idx}`, leaf]));
  leaves.forEach((leaf, size) => {
    for (const { level, idx, hash } of appendLeaf(frontier, size, leaf)) nodes.set(`${level}/${idx}`, hash);
  });
  return { frontier, nodes };
}

const follow = (plan: readonly NodeRef[][], nodes: Map<string, string>) =>
  plan.map((refs) => foldRange(refs.map(({ level, idx }) => nodes.get(`${level}/${idx}`) ?? 'no such node')));

const flip = (hash: string, at: number) =>
  hash.slice(0, at) + (hash[at] === '0' ? '1' : '0') + hash.slice(at + 1);

describe('the published RFC 6962 vectors', () => {
  const leaves = hashesOf(LEAVES);

  it('give the published roots for every size', () => {
    expect(EMPTY_ROOT).toBe(createHash('sha256').digest('hex'));
    for (let size = 1; size <= 8; size += 1) {
      expect(rootOf(grow(leaves.slice(0, size)).frontier)).toBe(ROOTS[size - 1]);
    }
  });

  it.each(PATHS)('give the published inclusion path of leaf $index in $size', ({ index, size, path }) => {
    const { nodes } = grow(leaves.slice(0, size));
    expect(follow(inclusionPlan(index, size), nodes)).toEqual(path);
    expect(verifyInclusion(leaves[index] ?? '', index, size, path, ROOTS[size - 1] ?? '')).toBe(true);
  });

  it.each(GROWTH)('give the published consistency proof from $from to $to', ({ from, to, proof }) => {
    const { nodes } = grow(leaves.slice(0, to));
    expect(follow(consistencyPlan(from, to), nodes)).toEqual(proof);
    expect(verifyConsistency(from, to, ROOTS[from - 1] ?? '', ROOTS[to - 1] ?? '', proof)).toBe(true);
  });
});

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

  it('rejects nonsense instead of failing on it', () => {
    const leaf = leafHash('x');
    expect(verifyInclusion(leaf, 1, 1, [], leaf)).toBe(false);
    expect(verifyInclusion(leaf, -1, 1, [], leaf)).toBe(false);
    expect(verifyInclusion(leaf, 0, 2, ['zz'], leaf)).toBe(false);
    expect(verifyConsistency(2, 1, leaf, leaf, [])).toBe(false);
    expect(verifyConsistency(3, 5, leaf, leaf, [])).toBe(false);
  });

  it('rejects an empty leaf and root, a proof from nothing, and an empty tree with another root', () => {
    const leaf = leafHash('x');
    expect(verifyInclusion('', 0, 1, [], '')).toBe(false);
    expect(verifyInclusion(leaf.toUpperCase(), 0, 1, [], leaf.toUpperCase())).toBe(false);
    expect(verifyConsistency(0, 1, EMPTY_ROOT, leaf, [])).toBe(false);
    expect(verifyConsistency(0, 7, EMPTY_ROOT, 'anything', [])).toBe(false);
    expect(verifyConsistency(0, 0, 'anything', 'anything', [])).toBe(false);
    expect(verifyConsistency(0, 0, leaf, leaf, [])).toBe(false);
    expect(verifyConsistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [leaf])).toBe(false);
    expect(verifyConsistency(1, 1, '', '', [])).toBe(false);
    expect(verifyConsistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])).toBe(true);
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
