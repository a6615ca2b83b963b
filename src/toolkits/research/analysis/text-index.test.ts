import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { indexText } from '../project/source-text.ts';
import type { Source } from '../project/types.ts';
import { Pace } from './pace.ts';
import { textHash } from './text-hash.ts';
import { FileTextIndex } from './text-index.ts';
import { FileVectorCache } from './vector-file.ts';
import { cosine } from './vectors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-index-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sourcesOf = (texts: Map<number, string>) => ({
  sources: () =>
    [...texts].map(
      ([id, value]): Source => ({
        id,
        name: `${id}.txt`,
        type: 'text',
        mediaPath: null,
        memo: '',
        owner: '',
        date: '',
        hasText: true,
        bytes: Buffer.byteLength(value),
        transcriptId: null,
        risId: null,
      }),
    ),
  text: (id: number) => indexText(texts.get(id) ?? ''),
  loadText: async () => undefined,
});

describe('the text index', () => {
  it('finds stemmed words and ranks the passage that holds more of them first', async () => {
    const texts = new Map([
      [1, 'The weather was fine and we worried little.'],
      [2, 'She worries about the exams, worrying every night.'],
      [3, 'Nothing to see.'],
    ]);
    const index = new FileTextIndex(join(folder, 'i.sqlite'), sourcesOf(texts));
    const hits = await index.search(['worry', 'exam']);
    expect(hits.map(({ sourceId }) => sourceId)).toEqual([2, 1]);
    expect(index.frequencies(['worri', 'exam', 'none'])).toEqual({
      passages: 3,
      found: new Map([
        ['worri', 2],
        ['exam', 1],
        ['none', 0],
      ]),
    });
    index.close();
  });

  it('finds phrases of any script, and only in order', async () => {
    const texts = new Map([
      [1, 'I could not sleep. 試験の前は不安でした。'],
      [2, 'Sleep could I not.'],
    ]);
    const index = new FileTextIndex(join(folder, 'i.sqlite'), sourcesOf(texts));
    const phrase = async (words: string) =>
      (await index.search([words], { phrase: true })).map(({ sourceId }) => sourceId);
    expect(await phrase('could not sleep')).toEqual([1]);
    expect(await phrase('不安')).toEqual([1]);
    expect(await phrase('安不')).toEqual([]);
    index.close();
  });

  it('takes words with quotes and operators as words', async () => {
    const index = new FileTextIndex(
      join(folder, 'i.sqlite'),
      sourcesOf(new Map([[1, "I don't know OR care NEAR it."]])),
    );
    expect(await index.search(['"don\'t" OR NOT NEAR( *'])).toHaveLength(1);
    expect(await index.search(['" ) ('])).toEqual([]);
    index.close();
  });

  it('follows edits, additions and removals, and is there after a restart', async () => {
    const texts = new Map([
      [1, 'The old harbour.'],
      [2, 'A quiet village.'],
    ]);
    const path = join(folder, 'i.sqlite');
    let index = new FileTextIndex(path, sourcesOf(texts));
    expect(await index.search(['harbour'])).toHaveLength(1);
    texts.set(1, 'The old lighthouse.');
    texts.delete(2);
    texts.set(3, 'A busy harbour.');
    expect((await index.search(['harbour'])).map(({ sourceId }) => sourceId)).toEqual([3]);
    expect(await index.search(['village'])).toEqual([]);
    index.close();

    let read = 0;
    const reader = sourcesOf(texts);
    index = new FileTextIndex(path, {
      ...reader,
      text: (id) => {
        read += 1;
        return reader.text(id);
      },
    });
    expect(await index.search(['lighthouse'])).toHaveLength(1);
    expect(read).toBe(0);
    index.close();
  });

  it('sees an edit that keeps the length when it is asked to verify', async () => {
    const texts = new Map([[1, 'The red door.']]);
    const index = new FileTextIndex(join(folder, 'i.sqlite'), sourcesOf(texts));
    await index.update();
    texts.set(1, 'The tan door.');
    await index.update({ verify: true });
    expect(await index.search(['tan'])).toHaveLength(1);
    index.close();
  });

  it('knows a long text by the hash of all of it, wherever a step ends', async () => {
    // The same hash as of the whole: an index that is there is not made again.
    for (const before of ['', 'a']) {
      const value = `${before}${'😀'.repeat(1_200_000)}“end”`;
      const whole = createHash('sha256').update(value).digest('hex').slice(0, 32);
      expect(await textHash(value, new Pace())).toBe(whole);
    }
  });

  it('gives positions in code points that hold the word, also after emoji', async () => {
    const value = `${'😀 nothing here. '.repeat(200)}The lighthouse 😀 keeper. ${'More text. '.repeat(200)}`;
    const index = new FileTextIndex(join(folder, 'i.sqlite'), sourcesOf(new Map([[1, value]])));
    const [hit] = await index.search(['lighthouse']);
    expect(hit && indexText(value).slice(hit.start, hit.end)).toContain('lighthouse');
    index.close();
  });

  it('leaves the old passages in place when an update is cancelled, and finishes the next time', async () => {
    const texts = new Map([[1, 'Old words. '.repeat(20)]]);
    const index = new FileTextIndex(join(folder, 'i.sqlite'), sourcesOf(texts));
    await index.update();
    texts.set(1, 'New sentence with a lighthouse. '.repeat(5000));
    const stop = new AbortController();
    const update = index.update({ signal: stop.signal });
    stop.abort();
    await expect(update).rejects.toThrow();
    expect((await index.search(['lighthouse'])).length).toBeGreaterThan(0);
    expect(await index.search(['old'])).toEqual([]);
    index.close();
  });
});

describe('the vector file', () => {
  it('gives back what was put in, nearly, also after it was closed', () => {
    const vector = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i * 7.3));
    const size = Math.hypot(...vector);
    const unit = vector.map((value) => value / size);
    const path = join(folder, 'v.sqlite');
    const first = new FileVectorCache(path);
    first.put(
      new Map([
        ['a', unit],
        ['zero', new Float32Array(512)],
      ]),
    );
    first.close();
    const second = new FileVectorCache(path);
    const found = second.get(['a', 'zero', 'missing']);
    expect(found.size).toBe(2);
    expect(cosine(found.get('a') ?? new Float32Array(512), unit)).toBeGreaterThan(0.999);
    expect(Math.hypot(...(found.get('zero') ?? [1]))).toBe(0);
    second.close();
  });
});

describe('a shared index', () => {
  it('is finished for one caller when another stops', async () => {
    const index = new FileTextIndex(
      join(folder, 'i.sqlite'),
      sourcesOf(new Map([[1, 'A lighthouse. '.repeat(3000)]])),
    );
    const stop = new AbortController();
    const stopped = index.update({ signal: stop.signal });
    const other = index.search(['lighthouse']);
    stop.abort();
    await expect(stopped).rejects.toThrow();
    expect((await other).length).toBeGreaterThan(0);
    index.close();
  });

  it('is rebuilt when its file is damaged', async () => {
    const path = join(folder, 'i.sqlite');
    writeFileSync(path, 'this is no database at all '.repeat(100));
    const index = new FileTextIndex(path, sourcesOf(new Map([[1, 'A lighthouse.']])));
    expect(await index.search(['lighthouse'])).toHaveLength(1);
    index.close();
  });
});
