import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Words that mean about the same share a place in the vector; all others are spread by their letters. */
const MEANINGS = [
  /^(sleep|slept|awake|lying|night|tired|rest)/,
  /^(exam|test|school)/,
  /^(worr|nervous|anxi|fright|fear|afraid|panic)/,
  /^(emotion|feeling|mood)/,
  /^(money|financ|bill|rent|debt|trouble|bank|income)/,
  /^(sister|mother|friend|neighbour|help|support)/,
];
const OTHERS = 24;

export interface EmbeddingServer {
  readonly baseUrl: string;
  /** Texts that were sent, in order. */
  readonly texts: string[];
  close(): Promise<void>;
}

/** An OpenAI-compatible `/v1/embeddings` endpoint on loopback; `embed` replaces how texts become vectors. */
export async function startEmbeddings(
  embed: (text: string) => readonly number[] = vectorOf,
): Promise<EmbeddingServer> {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(await bodyOf(request)) as { input: string[] };
    texts.push(...input);
    response.setHeader('content-type', 'application/json');
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) }));
    response.statusCode = request.url === '/v1/embeddings' ? 200 : 404;
    response.end(JSON.stringify({ object: 'list', model: 'test-embed', data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    texts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function vectorOf(text: string): number[] {
  const vector = new Array<number>(MEANINGS.length + OTHERS).fill(0);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    const meaning = MEANINGS.findIndex((pattern) => pattern.test(word));
    let hash = 0;
    for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % OTHERS;
    const at = meaning === -1 ? MEANINGS.length + hash : meaning;
    vector[at] = (vector[at] ?? 0) + (meaning === -1 ? 0.3 : 1.5);
  }
  return vector;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
