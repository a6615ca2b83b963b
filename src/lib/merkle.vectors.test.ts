import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { flip, follow, grow, hashesOf } from './merkle.fixture.ts';
import {
  appendLeaf,
  consistencyPlan,
  coverRange,
  EMPTY_ROOT,
  foldRange,
  inclusionPlan,
  leafHash,
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

describe('the published RFC 6962 vectors', () => {
  let leaves: string[];
  beforeEach(() => {
    leaves = hashesOf(LEAVES);
  });

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

/** All of them, because a check that is a little too weak may hold for most. */
describe('every proof in a tree of up to 8 leaves', () => {
  let leaves: string[];
  let nodes: Map<string, string>;
  beforeEach(() => {
    leaves = hashesOf(LEAVES);
    nodes = grow(leaves).nodes;
  });

  const SIZES = [1, 2, 3, 4, 5, 6, 7, 8];
  const rootAt = (size: number) => ROOTS[size - 1] ?? '';
  const pathOf = (index: number, size: number) => follow(inclusionPlan(index, size), nodes);
  const proofOf = (from: number, to: number) => follow(consistencyPlan(from, to), nodes);
  const indexes = (size: number) => Array.from({ length: size }, (_, index) => index);

  it('says which subtrees become complete with each leaf', () => {
    const completed = leaves.map((leaf, size) =>
      appendLeaf(grow(leaves.slice(0, size)).frontier, size, leaf).map(({ level, idx }) => `${level}/${idx}`),
    );
    expect(completed).toEqual([[], ['1/0'], [], ['1/1', '2/0'], [], ['1/2'], [], ['1/3', '2/1', '3/0']]);
  });

  it('covers a range with the largest complete subtrees', () => {
    const cover = (start: number, end: number) =>
      coverRange(start, end).map(({ level, idx }) => `${level}/${idx}`);
    expect(cover(0, 8)).toEqual(['3/0']);
    expect(cover(0, 7)).toEqual(['2/0', '1/2', '0/6']);
    expect(cover(1, 8)).toEqual(['0/1', '1/1', '2/1']);
    expect(cover(3, 3)).toEqual([]);
    expect(foldRange([])).toBe(EMPTY_ROOT);
  });

  it('includes each leaf at its own place, and with nothing added, left out or changed', () => {
    for (const size of SIZES) {
      for (const index of indexes(size)) {
        const leaf = leaves[index] ?? '';
        const path = pathOf(index, size);
        const root = rootAt(size);
        const holds = (at: number, count: number, given: readonly string[], top = root) =>
          verifyInclusion(leaf, at, count, given, top);
        expect(holds(index, size, path)).toBe(true);
        for (const other of indexes(size)) expect(holds(other, size, path)).toBe(other === index);
        expect(holds(index, size, [...path, leaf])).toBe(false);
        expect(holds(index, size, [leaf, ...path])).toBe(false);
        if (path.length > 0) expect(holds(index, size, path.slice(0, -1))).toBe(false);
        expect(holds(index, size, path, flip(root, 5))).toBe(false);
        for (const at of path.keys())
          expect(holds(index, size, path.with(at, flip(path[at] ?? '', 9)))).toBe(false);
      }
    }
  });

  it('is consistent with each smaller tree, and with nothing added, left out or changed', () => {
    for (const to of SIZES) {
      for (const from of SIZES.filter((size) => size <= to)) {
        const proof = proofOf(from, to);
        const holds = (given: readonly string[], older = rootAt(from), newer = rootAt(to)) =>
          verifyConsistency(from, to, older, newer, given);
        expect(holds(proof)).toBe(true);
        expect(holds([...proof, EMPTY_ROOT])).toBe(false);
        if (proof.length > 0) expect(holds(proof.slice(0, -1))).toBe(false);
        expect(holds(proof, flip(rootAt(from), 5))).toBe(false);
        expect(holds(proof, rootAt(from), flip(rootAt(to), 5))).toBe(false);
        for (const at of proof.keys()) expect(holds(proof.with(at, flip(proof[at] ?? '', 9)))).toBe(false);
        for (const size of SIZES)
          if (size !== from && size <= to)
            expect(verifyConsistency(size, to, rootAt(from), rootAt(to), proof)).toBe(false);
      }
    }
  });

  it('needs no proof from nothing or from itself', () => {
    expect(consistencyPlan(0, 8)).toEqual([]);
    expect(consistencyPlan(8, 8)).toEqual([]);
  });
});

describe('a proof that no tree can have', () => {
  let leaf: string;
  let other: string;
  let root: string;
  beforeEach(() => {
    [leaf, other] = [leafHash('x'), leafHash('y')];
    root = rootOf(grow([leaf, other]).frontier);
  });

  it.each([
    ['a fraction', 0.5],
    ['negative', -1],
    ['not a number', Number.NaN],
    ['too large', 2 ** 53],
  ])('is rejected when a position or size is %s', (_, wrong) => {
    expect(verifyInclusion(leaf, wrong, 2, [other], root)).toBe(false);
    expect(verifyInclusion(leaf, 0, wrong, [other], root)).toBe(false);
    expect(verifyConsistency(wrong, 2, leaf, root, [other])).toBe(false);
    expect(verifyConsistency(1, wrong, leaf, root, [other])).toBe(false);
  });

  it.each([
    ['in capitals', (hash: string) => hash.toUpperCase()],
    ['too long', (hash: string) => `${hash}00`],
    ['after something else', (hash: string) => `00${hash}`],
    ['too short', (hash: string) => hash.slice(0, -1)],
    ['empty', () => ''],
  ])('is rejected when a hash is %s', (_, bend) => {
    expect(verifyInclusion(bend(leaf), 0, 2, [other], root)).toBe(false);
    expect(verifyInclusion(leaf, 0, 2, [bend(other)], root)).toBe(false);
    expect(verifyInclusion(leaf, 0, 2, [other], bend(root))).toBe(false);
    expect(verifyInclusion(bend(leaf), 0, 1, [], bend(leaf))).toBe(false);
    expect(verifyConsistency(1, 2, bend(leaf), root, [other])).toBe(false);
    expect(verifyConsistency(1, 2, leaf, bend(root), [other])).toBe(false);
    expect(verifyConsistency(1, 2, leaf, root, [bend(other)])).toBe(false);
    expect(verifyConsistency(1, 1, bend(leaf), bend(leaf), [])).toBe(false);
  });

  it('is rejected when it is too long or too short, although its hashes lead to the root', () => {
    const top = nodeHash(other, leaf);
    expect(verifyInclusion(leaf, 0, 1, [other], top)).toBe(false);
    expect(verifyInclusion(leaf, 0, 2, [], leaf)).toBe(false);
    expect(verifyConsistency(2, 4, root, root, [])).toBe(false);
    const [a, b, c, d] = [leafHash('a'), leafHash('b'), leafHash('c'), leafHash('d')];
    const left = nodeHash(a, b);
    const [older, newer] = [nodeHash(left, c), nodeHash(left, nodeHash(c, d))];
    expect(verifyConsistency(3, 4, older, newer, [c, d, left])).toBe(true);
    expect(verifyConsistency(3, 4, nodeHash(other, older), nodeHash(other, newer), [c, d, left, other])).toBe(
      false,
    );
    expect(verifyConsistency(3, 4, c, nodeHash(c, d), [c, d])).toBe(false);
  });

  it('is rejected when it starts from nothing, although its hashes lead to the root', () => {
    const newer = nodeHash(EMPTY_ROOT, leaf);
    expect(verifyConsistency(0, 2, EMPTY_ROOT, newer, [EMPTY_ROOT, leaf])).toBe(false);
  });

  it('is rejected when a hash is not a text', () => {
    const path = JSON.parse(JSON.stringify([[other]]));
    expect(verifyInclusion(leaf, 0, 2, path, root)).toBe(false);
    expect(verifyConsistency(1, 2, leaf, root, path)).toBe(false);
  });

  it('rejects nonsense instead of failing on it', () => {
    expect(verifyInclusion(leaf, 1, 1, [], leaf)).toBe(false);
    expect(verifyInclusion(leaf, -1, 1, [], leaf)).toBe(false);
    expect(verifyInclusion(leaf, 0, 2, ['zz'], leaf)).toBe(false);
    expect(verifyConsistency(2, 1, leaf, leaf, [])).toBe(false);
    expect(verifyConsistency(3, 5, leaf, leaf, [])).toBe(false);
  });

  it('rejects an empty leaf and root, a proof from nothing, and an empty tree with another root', () => {
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
