import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { appendLeaf, EMPTY_ROOT, type Frontier, leafHash, nodeHash, rootOf } from '../../../lib/merkle.ts';
import { Problems } from './report.ts';
import { TreeCheck } from './tree.ts';

const LEAVES = Array.from({ length: 2_700 }, (_, seq) => leafHash(String(seq)));
const OTHER = leafHash('other');

function frontierOf(size: number): Frontier {
  const frontier: Frontier = [];
  for (const [seq, leaf] of LEAVES.slice(0, size).entries()) appendLeaf(frontier, seq, leaf);
  return frontier;
}

describe('the tree of the log', () => {
  let store: TestStore;
  let problems: Problems;
  let tree: TreeCheck;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    problems = new Problems();
    tree = new TreeCheck(problems);
  });
  afterEach(() => store.database.db.deleteFrom('audit_nodes').execute());

  /** Stores what a log of this size has; the head as it would be stored. */
  async function storeTree(size: number): Promise<{ frontier: Frontier; nodes: number }> {
    const frontier: Frontier = [];
    const nodes = LEAVES.slice(0, size)
      .flatMap((leaf, seq) => appendLeaf(frontier, seq, leaf))
      .filter(({ level }) => level >= 8);
    if (nodes.length > 0) await store.database.db.insertInto('audit_nodes').values(nodes).execute();
    return { frontier, nodes: nodes.length };
  }
  const append = (from: number, to: number) => {
    for (let seq = from; seq < to; seq += 1) tree.append(seq, LEAVES[seq] ?? '');
  };
  const checkAll = () => tree.checkNodes(store.database, true);
  const node = (level: number, idx: number) =>
    store.database.db.updateTable('audit_nodes').where('level', '=', level).where('idx', '=', idx);
  const ranges = () => problems.list.map(({ code, seq, to }) => [code, seq, to]);

  describe('is rebuilt', () => {
    it('from its leaves', () => {
      expect(tree.rootAt(0)).toBe(EMPTY_ROOT);
      append(0, 3);
      expect(tree.root).toBe(nodeHash(nodeHash(LEAVES[0] ?? '', LEAVES[1] ?? ''), LEAVES[2] ?? ''));
      expect(tree.rootAt(3)).toBe(tree.root);
      expect(tree.rootAt(2)).toBeUndefined();
      expect(tree.rootAt(4)).toBeUndefined();
    });

    it('from whole subtrees as from their leaves', async () => {
      const { frontier } = await storeTree(1_024);
      for (let at = 0; at < 1_024; at += 256) {
        const part: Frontier = [];
        for (let seq = 0; seq < 256; seq += 1) appendLeaf(part, seq, LEAVES[at + seq] ?? '');
        tree.appendSubtree(8, rootOf(part));
      }
      expect(tree.rootAt(1_024)).toBe(rootOf(frontier));
      tree.checkHead(JSON.stringify(frontier), 7);
      expect(problems.list).toEqual([]);
      // What lies in the given subtrees was compared before, what they complete was not.
      await node(8, 0).set({ hash: OTHER }).execute();
      await node(9, 1).set({ hash: OTHER }).execute();
      await checkAll();
      expect(ranges()).toEqual([['tree', 512, 1_023]]);
    });

    it('up to the first missing entry', () => {
      append(0, 3);
      const { root } = tree;
      tree.append(4, LEAVES[4] ?? '');
      tree.append(3, LEAVES[3] ?? '');
      tree.appendSubtree(8, OTHER);
      expect(tree.rootAt(3)).toBeUndefined();
      expect(tree.root).toBe(root);
      tree.checkHead('[]', 99);
      expect(problems.list).toEqual([]);
    });
  });

  describe('has stored nodes', () => {
    it('that are compared as they are completed, wherever one begins', async () => {
      const { frontier, nodes } = await storeTree(2_700);
      for (const [from, to] of [
        [0, 100],
        [100, 700],
        [700, 1_024],
        [1_024, 2_700],
      ] as const) {
        append(from, to);
        await checkAll();
      }
      tree.checkHead(JSON.stringify(frontier), nodes);
      expect(problems.list).toEqual([]);
    });

    it('that are compared at the end of a stretch', async () => {
      await storeTree(512);
      await node(8, 1).set({ hash: OTHER }).execute();
      append(0, 512);
      await tree.checkNodes(store.database, false);
      expect(problems.list).toEqual([]);
      await checkAll();
      expect(problems.list).toEqual([
        {
          code: 'tree',
          seq: 256,
          to: 511,
          message: 'Entries 256 to 511 do not match the hash of the stored node at level 8.',
        },
      ]);
      await checkAll();
      expect(problems.list).toHaveLength(1);
    });

    it('of which every wrong one is named, and what lies above it is not', async () => {
      await storeTree(2_048);
      await node(8, 0).set({ hash: OTHER }).execute();
      await node(9, 0).set({ hash: OTHER }).execute();
      await node(8, 5).set({ hash: OTHER }).execute();
      await node(11, 0).set({ hash: OTHER }).execute();
      await node(9, 3).set({ hash: OTHER }).execute();
      append(0, 2_048);
      await checkAll();
      expect(ranges()).toEqual([
        ['tree', 0, 255],
        ['tree', 1_280, 1_535],
        ['tree', 1_536, 2_047],
      ]);
    });

    it('of which one above is named when only those before and after it are known as wrong', async () => {
      await storeTree(2_048);
      await node(8, 0).set({ hash: OTHER }).execute();
      await node(8, 7).set({ hash: OTHER }).execute();
      await node(9, 1).set({ hash: OTHER }).execute();
      append(0, 2_048);
      await checkAll();
      expect(ranges()).toEqual([
        ['tree', 0, 255],
        ['tree', 1_792, 2_047],
        ['tree', 512, 1_023],
      ]);
    });

    it('of which a lost one is named', async () => {
      await storeTree(600);
      await store.database.db.deleteFrom('audit_nodes').where('idx', '=', 1).execute();
      append(0, 600);
      await checkAll();
      expect(problems.list.map(({ message }) => message)).toEqual([
        'Entries 256 to 511 have lost the stored node at level 8.',
      ]);
    });

    it.each([
      [255, 0],
      [256, 1],
      [512, 3],
      [2_700, 18],
    ])('in the number that %i entries make', async (size, expected) => {
      const { frontier } = await storeTree(size);
      append(0, size);
      tree.checkHead(JSON.stringify(frontier), expected);
      expect(problems.list).toEqual([]);
      tree.checkHead(JSON.stringify(frontier), expected + 1);
      expect(problems.list).toEqual([
        {
          code: 'tree',
          seq: undefined,
          message: `The tree has ${expected + 1} stored nodes, but ${size} entries make ${expected}.`,
        },
      ]);
    });
  });

  describe('has a head', () => {
    const MESSAGE = 'The head of the log does not match its entries: one of the two was changed.';
    const checkHead = async (size: number, change: (frontier: Frontier) => string) => {
      const { frontier, nodes } = await storeTree(size);
      append(0, size);
      tree.checkHead(change(frontier), nodes);
      return problems.list;
    };
    const wrongAt = (level: number) => (frontier: Frontier) =>
      JSON.stringify(frontier.map((peak, at) => (at === level ? OTHER : peak)));

    it.each([
      [3, 0, 7],
      [1, 8, 9],
      [0, 10, 10],
    ])('whose wrong peak at level %i limits the damage to entries %i to %i', async (level, first, last) => {
      expect(await checkHead(11, wrongAt(level))).toEqual([
        { code: 'head', seq: first, to: last, message: MESSAGE },
      ]);
    });

    it.each([
      ['is no text of peaks', () => 'nonsense'],
      ['is no list', () => '{}'],
      ['is that of a longer log', () => JSON.stringify(frontierOf(13))],
      ['has the peaks in another form', (frontier: Frontier) => JSON.stringify(frontier, null, 1)],
    ])('that is named without a range when it %s', async (_what, change) => {
      expect(await checkHead(11, change)).toEqual([{ code: 'head', seq: undefined, message: MESSAGE }]);
    });

    it('that is named without a range when nodes are known to be wrong', async () => {
      const { frontier, nodes } = await storeTree(256);
      await node(8, 0).set({ hash: OTHER }).execute();
      append(0, 256);
      await checkAll();
      tree.checkHead(wrongAt(8)(frontier), nodes);
      expect(problems.list.at(-1)).toEqual({ code: 'head', seq: undefined, message: MESSAGE });
    });
  });
});
