import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { appendLeaf, type Frontier, leafHash, rootOf } from '../../../lib/merkle.ts';
import type { Entry } from '../entry.ts';
import { signNote } from '../signing/note.ts';
import { CHUNK, type Chunk } from './chunks.ts';
import { Problems } from './report.ts';
import { Scan } from './scan.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATEST = '2026-01-01T01:00:00.000Z';
const LEAVES = Array.from({ length: CHUNK }, (_, seq) => leafHash(String(seq)));

const FRONTIER: Frontier = [];
/** Of a log that has the chunk twice. */
const NODES = [...LEAVES, ...LEAVES]
  .flatMap((leaf, seq) => appendLeaf(FRONTIER, seq, leaf))
  .filter(({ level }) => level >= 8);

const roots = new Map<number, string>();
function rootAt(size: number): string {
  const known = roots.get(size);
  if (known !== undefined) return known;
  const frontier: Frontier = [];
  for (const [seq, leaf] of LEAVES.slice(0, size).entries()) appendLeaf(frontier, seq, leaf);
  const root = rootOf(frontier);
  roots.set(size, root);
  return root;
}

describe('a chunk that was found in order', () => {
  let store: TestStore;
  let scribe: LogScribe;
  let problems: Problems;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
    await store.database.db.insertInto('audit_nodes').values(NODES).execute();
    problems = new Problems();
  });
  afterEach(() => store.close());

  const chunk = (others: Chunk['others'] = []): Chunk => ({
    leaves: LEAVES.join(''),
    root: rootAt(CHUNK),
    plain: CHUNK - others.length,
    verified: 7,
    unkept: 5,
    earliest: AT,
    latest: LATEST,
    others,
  });
  const entry = (kind: Entry['kind'], more: Partial<Entry> = {}): Entry => ({ v: 1, kind, at: AT, ...more });
  const announced = (): Entry =>
    entry('checkpoint-key', { extra: { action: 'add', key: scribe.signer.key.text } });
  const note = (size: number, root = rootAt(size)) =>
    signNote(
      `${scribe.signer.key.name}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\ntime ${AT}\n`,
      scribe.signer,
    );

  async function open(outside: string[] = [], rows = false): Promise<Scan> {
    const scan = new Scan(store.database, problems, {
      publicKeys: [scribe.signer.key.text],
      outside,
      largestStored: 0,
      artifacts: undefined,
      rows,
      signers: [],
      receipts: [],
    });
    await scan.begin();
    return scan;
  }

  it('is added to the tree and to the counts', async () => {
    const scan = await open();
    expect(await scan.takeChunk(0, chunk())).toBe(true);
    expect(scan.tree.rootAt(CHUNK)).toBe(rootAt(CHUNK));
    expect(scan.payloads.counts).toEqual({ verified: 7, unkept: 5, erased: 0 });
    expect(scan.story.calls).toBe(CHUNK);
    expect(scan.clock.skip(AT, AT)).toBe(false);
  });

  it('is left to be read entry by entry when its times go back', async () => {
    const scan = await open();
    await scan.takeChunk(0, chunk());
    expect(await scan.takeChunk(1, chunk())).toBe(false);
    expect(scan.tree.rootAt(CHUNK)).toBe(rootAt(CHUNK));
    expect(scan.story.calls).toBe(CHUNK);
  });

  it('hands its other entries to the checks, each with its leaf', async () => {
    const scan = await open();
    const taken = vi.spyOn(scan.passkeys, 'take');
    const others = [
      { seq: CHUNK + 3, entry: entry('intent', { call: 'a' }) },
      { seq: CHUNK + 4, entry: entry('config') },
    ];
    await scan.takeChunk(0, chunk());
    await scan.takeChunk(1, { ...chunk(others), earliest: LATEST });
    expect(taken.mock.calls).toEqual(others.map(({ seq, entry }) => [seq, LEAVES[seq - CHUNK], entry]));
    expect(scan.story.openIntents).toBe(1);
  });

  it.each([1, 100, CHUNK - 1, CHUNK])('is compared with a checkpoint at size %i', async (size) => {
    const scan = await open([note(size)]);
    const others = [
      { seq: 0, entry: announced() },
      { seq: 9, entry: entry('intent', { call: 'a' }) },
    ];
    const taken = vi.spyOn(scan.passkeys, 'take');
    await scan.takeChunk(0, chunk(others));
    await scan.end(CHUNK);
    expect(scan.checkpoints.verified).toBe(1);
    expect(scan.tree.rootAt(CHUNK)).toBe(rootAt(CHUNK));
    expect(taken.mock.calls.map(([seq, leaf]) => [seq, leaf])).toEqual([
      [0, LEAVES[0]],
      [9, LEAVES[9]],
    ]);
    expect(problems.list.map(({ message }) => message)).toEqual([
      'The checkpoint at size 1 is missing, although the log announced the key that signed it.',
    ]);
  });

  it.each([1, 100, CHUNK])('is named when a checkpoint at size %i has another root', async (size) => {
    const scan = await open([note(size, leafHash('other'))]);
    await scan.takeChunk(0, chunk());
    await scan.end(CHUNK);
    expect(problems.list).toEqual([expect.objectContaining({ code: 'checkpoint', seq: 0, to: size - 1 })]);
  });

  it('is compared with a checkpoint between it and the next', async () => {
    const scan = await open([note(CHUNK)]);
    await scan.takeChunk(0, chunk());
    await scan.takeChunk(1, { ...chunk(), earliest: LATEST });
    expect(scan.checkpoints.verified).toBe(1);
    await scan.end(2 * CHUNK);
    expect(problems.list).toEqual([]);
  });

  it.each([1, 100, CHUNK])('gives the root that a signature at size %i refers to', async (size) => {
    await scribe.write({ kind: 'signature', extra: { statement: { head: { size } } } });
    const scan = await open();
    const told = vi.spyOn(scan.passkeys, 'root');
    await scan.takeChunk(0, chunk());
    await scan.end(CHUNK);
    expect(told.mock.calls).toEqual([[size, rootAt(size)]]);
  });

  it('counts as read where rows are compared', async () => {
    const scan = await open([], true);
    await store.database.db.insertInto('settings').values({ key: 'paused', value: 'person:ada' }).execute();
    const logged = entry('config', { principal: 'person:ada', extra: { paused: true } });
    await scribe.write({ kind: 'config', principal: 'person:ada', extra: { paused: false } });
    await scan.takeChunk(0, chunk([{ seq: 3, entry: logged }]));
    await scan.rows?.finish();
    expect(problems.list.map(({ message }) => message).join()).not.toContain('paused');
  });

  it('completes nodes together with those before it, which are compared', async () => {
    await store.database.db.deleteFrom('audit_nodes').where('level', '=', 13).execute();
    const scan = await open();
    await scan.takeChunk(0, chunk());
    await scan.takeChunk(1, { ...chunk(), earliest: LATEST });
    expect(problems.list).toEqual([expect.objectContaining({ code: 'tree', seq: 0, to: 2 * CHUNK - 1 })]);
  });
});
