import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { WorkerEmbedder } from './embedder.ts';
import type { VectorCache } from './stores.ts';
import { cosine, Vectors } from './vectors.ts';

const memory = (): VectorCache & { readonly kept: Map<string, Float32Array> } => {
  const kept = new Map<string, Float32Array>();
  return {
    kept,
    get: (keys) =>
      new Map(
        keys.flatMap((key) => {
          const found = kept.get(key);
          return found ? [[key, found] as const] : [];
        }),
      ),
    put: (entries) => {
      for (const [key, vector] of entries) kept.set(key, vector);
    },
  };
};

const folders: string[] = [];
const workerOf = async (code: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-worker-'));
  folders.push(folder);
  const file = join(folder, 'worker.mjs');
  await writeFile(file, code);
  return async () => pathToFileURL(file);
};
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('the bundled model', () => {
  const embedder = new WorkerEmbedder();
  afterAll(() => embedder.close());

  it('puts Anxiety near Anxious and far from Budget, in unit vectors', async () => {
    const [anxiety, anxious, budget] = await embedder.embed(['Anxiety', 'Anxious', 'Budget']);
    if (!anxiety || !anxious || !budget) throw new Error('a vector is missing');
    expect(cosine(anxiety, anxiety)).toBeCloseTo(1, 5);
    expect(cosine(anxiety, anxious)).toBeGreaterThan(0.8);
    expect(cosine(anxiety, budget)).toBeLessThan(0.4);
  });

  it('gives texts without words a zero vector, alone and among others', async () => {
    expect(Math.hypot(...((await embedder.embed(['']))[0] ?? [1]))).toBe(0);
    const [empty, word] = await embedder.embed(['...', 'worry']);
    expect(Math.hypot(...(empty ?? [1]))).toBe(0);
    expect(Math.hypot(...(word ?? []))).toBeCloseTo(1, 5);
  });

  it('leaves the main thread free while it works', async () => {
    const texts = Array.from(
      { length: 40 },
      (_, i) => `Sentence number ${i} about worry, sleep, the exam and what my sister said.`,
    );
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await embedder.embed(texts);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('stops at once when it is cancelled and goes on with other requests', async () => {
    const stop = new AbortController();
    const long = embedder.embed(
      Array.from({ length: 400 }, (_, i) => `A long run, part ${i}.`),
      stop.signal,
    );
    const short = embedder.embed(['Anxiety']);
    stop.abort(new Error('enough'));
    await expect(long).rejects.toThrow('enough');
    expect(await short).toHaveLength(1);
  });
});

describe('the built program', () => {
  it('finds its worker beside the chunk that the bundler put this code into', async () => {
    const folder = await mkdtemp(join(process.cwd(), 'node_modules', '.cache-built-'));
    folders.push(folder);
    const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
    await build({
      entryPoints: {
        main: here('./embedder.ts'),
        other: here('./vectors.ts'),
        'embedding-worker': here('./embedding-worker.ts'),
      },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'silent',
    });
    const { WorkerEmbedder: Built } = (await import(pathToFileURL(join(folder, 'main.js')).href)) as {
      WorkerEmbedder: typeof WorkerEmbedder;
    };
    const embedder = new Built();
    expect((await embedder.embed(['Anxiety']))[0]).toHaveLength(512);
    await embedder.close();
  });
});

describe('the worker', () => {
  const ECHO = `import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', ({ id, texts }) => {
      if (texts.includes('crash')) process.exit(3);
      if (texts.includes('fail')) return parentPort.postMessage({ id, error: 'no model here' });
      parentPort.postMessage({ id, vectors: Float32Array.from(texts.map((t) => (t === 'thread' ? threadId : t.length))), dimensions: 1 });
    });`;

  it('serves a short request between the batches of a long one', async () => {
    const embedder = new WorkerEmbedder({ workerUrl: await workerOf(ECHO) });
    const order: string[] = [];
    const long = embedder.embed(new Array<string>(80).fill('x')).then(() => order.push('long'));
    const short = embedder.embed(['y']).then(() => order.push('short'));
    await Promise.all([long, short]);
    expect(order).toEqual(['short', 'long']);
    await embedder.close();
  });

  it('answers with the fault and works on after it', async () => {
    const embedder = new WorkerEmbedder({ workerUrl: await workerOf(ECHO) });
    await expect(embedder.embed(['fail'])).rejects.toThrow('no model here');
    await expect(embedder.embed(['crash'])).rejects.toThrow('ended');
    expect((await embedder.embed(['four']))[0]).toEqual(Float32Array.of(4));
    await embedder.close();
    await expect(embedder.embed(['late'])).rejects.toThrow('closed');
  });

  it('ends when idle and starts again for the next request', async () => {
    const embedder = new WorkerEmbedder({ workerUrl: await workerOf(ECHO), idleMs: 10 });
    const [first] = await embedder.embed(['thread']);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [second] = await embedder.embed(['thread']);
    expect(second?.[0]).toBeGreaterThan(first?.[0] ?? Number.POSITIVE_INFINITY);
    await embedder.close();
  });
});

describe('cached vectors', () => {
  it('computes each text once, whatever its line breaks', async () => {
    const asked: string[] = [];
    const cache = memory();
    const vectors = new Vectors(
      {
        model: 'm',
        embed: async (texts) => {
          asked.push(...texts);
          return texts.map((text) => Float32Array.of(text.length));
        },
        close: async () => {},
      },
      cache,
    );
    const made = await vectors.of(['one two', 'one\ntwo', 'three', 'one two']);
    expect(made.map((vector) => vector[0])).toEqual([7, 7, 5, 7]);
    await vectors.of(['three', 'four']);
    expect(asked).toEqual(['one two', 'three', 'four']);
    expect(vectors.cached(['three', 'never']).map(Boolean)).toEqual([true, false]);
  });
});
