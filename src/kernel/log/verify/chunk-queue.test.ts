import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ChunkQueue } from './chunk-queue.ts';
import type { Chunk } from './chunks.ts';

const chunk = (root: string): Chunk => ({
  leaves: '',
  root,
  plain: 0,
  verified: 0,
  unkept: 0,
  earliest: '',
  latest: '',
  others: [],
});

/** A reader that answers at once and remembers what it was asked. */
function reader(name: string) {
  const asked: number[] = [];
  const read = async (index: number) => {
    asked.push(index);
    return chunk(`${name} ${index}`);
  };
  return { asked, read };
}

/** A reader that answers when it is told to. */
function slowReader() {
  const asked: number[] = [];
  const waiting = new Map<number, { resolve(): void; reject(error: Error): void }>();
  const read = (index: number) => {
    asked.push(index);
    return new Promise<Chunk>((resolve, reject) => {
      waiting.set(index, { resolve: () => resolve(chunk(`slow ${index}`)), reject });
    });
  };
  const answer = (index: number) => waiting.get(index)?.resolve();
  const fail = (index: number) => waiting.get(index)?.reject(new Error('gone'));
  return { asked, read, answer, fail };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await setImmediate();
}

describe('the queue of chunks', () => {
  it('reads each chunk once and in order without a helper', async () => {
    const own = reader('own');
    const queue = new ChunkQueue(3, own.read, undefined);
    for (const index of [0, 1, 2]) expect((await queue.take(index))?.root).toBe(`own ${index}`);
    expect(own.asked).toEqual([0, 1, 2]);
  });

  it('has nothing beyond the last chunk, and nothing twice', async () => {
    const own = reader('own');
    const queue = new ChunkQueue(1, own.read, undefined);
    expect(await queue.take(0)).toBeDefined();
    expect(await queue.take(0)).toBeUndefined();
    expect(await queue.take(1)).toBeUndefined();
    expect(own.asked).toEqual([0]);
  });

  it('hands over that a chunk has to be read the slow way, without reading it again', async () => {
    const asked: number[] = [];
    const own = async (index: number) => {
      asked.push(index);
      return undefined;
    };
    const queue = new ChunkQueue(2, own, undefined);
    expect(await queue.take(0)).toBeUndefined();
    expect(asked).toEqual([0]);
  });

  it('reads no chunk of a gap in the log', async () => {
    const own = reader('own');
    const queue = new ChunkQueue(6, own.read, undefined);
    await queue.take(0);
    expect((await queue.take(4))?.root).toBe('own 4');
    expect(own.asked).toEqual([0, 4]);
  });

  it('forgets chunks that lie ready before a gap', async () => {
    const own = reader('own');
    const helper = slowReader();
    const queue = new ChunkQueue(30, own.read, helper.read);
    const first = queue.take(0);
    await settle();
    expect(own.asked).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    helper.answer(0);
    await first;
    // With chunks 2 to 9 still in place there would be no room to read on.
    const next = queue.take(20);
    helper.answer(20);
    expect((await next)?.root).toBe('slow 20');
  });

  it('lets a helper work on one chunk while one waits for it, and continues reading', async () => {
    const own = reader('own');
    const helper = slowReader();
    const queue = new ChunkQueue(4, own.read, helper.read);
    const first = queue.take(0);
    await settle();
    expect(helper.asked).toEqual([0, 1]);
    expect(own.asked).toEqual([2, 3]);
    helper.answer(0);
    helper.answer(1);
    expect((await first)?.root).toBe('slow 0');
    const rest = [await queue.take(1), await queue.take(2), await queue.take(3)];
    expect(rest.map((one) => one?.root)).toEqual(['slow 1', 'own 2', 'own 3']);
    expect(helper.asked).toEqual([0, 1]);
  });

  it('asks the helper for the next chunk as soon as it has answered', async () => {
    const helper = reader('helper');
    const queue = new ChunkQueue(9, reader('own').read, helper.read);
    await queue.take(0);
    expect(helper.asked.length).toBeGreaterThan(2);
  });

  it('keeps at most eight chunks ready, regardless of who reads them', async () => {
    const own = reader('own');
    const helper = slowReader();
    const queue = new ChunkQueue(30, own.read, helper.read);
    const first = queue.take(0);
    await settle();
    expect(own.asked).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    helper.answer(1);
    await settle();
    helper.answer(0);
    await first;
    await queue.take(1);
    await queue.take(2);
    expect(helper.asked).toEqual([0, 1]);
    await queue.take(3);
    expect(helper.asked).toEqual([0, 1, 10, 11]);
    expect(own.asked).toHaveLength(8);
  });

  it('reads what a lost helper was asked for, and asks it no more', async () => {
    const own = reader('own');
    const helper = slowReader();
    const queue = new ChunkQueue(5, own.read, helper.read);
    const first = queue.take(0);
    helper.fail(0);
    helper.answer(1);
    expect((await first)?.root).toBe('own 0');
    for (const index of [1, 2, 3, 4]) expect(await queue.take(index)).toBeDefined();
    expect(helper.asked).toEqual([0, 1]);
  });
});
