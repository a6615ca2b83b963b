import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type EmbeddingServer, startEmbeddings } from '../../../../test/support/embeddings.ts';
import { EndpointEmbedder } from './embedder.ts';
import { cosine, Vectors } from './vectors.ts';

let server: EmbeddingServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe('an embeddings endpoint', () => {
  it('gives one unit vector per text, in their order, also beyond one request', async () => {
    server = await startEmbeddings();
    const embedder = new EndpointEmbedder({ baseUrl: `${server.baseUrl}/`, model: 'test-embed' });
    const texts = Array.from({ length: 70 }, (_, at) => (at === 69 ? 'anxiety' : `word${at}`));
    const vectors = await embedder.embed(texts);
    expect(vectors).toHaveLength(70);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    const [nervous] = await embedder.embed(['nervous']);
    expect(cosine(vectors[69] ?? new Float32Array(0), nervous ?? new Float32Array(0))).toBeCloseTo(1, 5);
  });

  it.each([
    ['an error status', 500, '{}', /answered with status 500/],
    ['too few vectors', 200, '{"data":[{"index":0,"embedding":[1,0]}]}', /without one vector per text/],
    ['no vectors', 200, '{"hello":1}', /without one vector per text/],
    ['no numbers', 200, '{"data":[{"embedding":["x"]},{"embedding":["y"]}]}', /not numbers/],
  ])('reports %s', async (_, status, body, message) => {
    const broken = createServer((_request, response) => {
      response.statusCode = status;
      response.end(body);
    });
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(broken.address() as AddressInfo).port}/v1`;
    await expect(new EndpointEmbedder({ baseUrl, model: 'm' }).embed(['a', 'b'])).rejects.toThrow(message);
    broken.close();
  });

  it('is asked once per text, and sees pseudonyms instead of names', async () => {
    server = await startEmbeddings();
    const kept = new Map<string, Float32Array>();
    const cache = {
      get: (keys: readonly string[]) => new Map([...kept].filter(([key]) => keys.includes(key))),
      put: (entries: ReadonlyMap<string, Float32Array>) => {
        for (const [key, vector] of entries) kept.set(key, vector);
      },
    };
    const embedder = new EndpointEmbedder({ baseUrl: server.baseUrl, model: 'test-embed' });
    const vectors = new Vectors(embedder, cache, async () => (text) => text.replaceAll('Carla', 'P9'));
    await vectors.of(['Carla was worried', 'Carla  was worried', 'the bus']);
    await vectors.of(['the bus']);
    expect(server.texts).toEqual(['P9 was worried', 'the bus']);
  });
});
