import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestModel {
  /** For `[llm]`. */
  readonly settings: {
    readonly provider: string;
    readonly base_url: string;
    readonly model: string;
    readonly api_key: string;
  };
  /** Everything that was asked, as sent. */
  readonly requests: { system: string; prompt: string }[];
  answerOnce(text: string): void;
  failOnce(status: number): void;
  /** Fails every request with this status until changed. */
  fail(status: number | undefined): void;
  close(): Promise<void>;
}

/** A language model over real HTTP that says what the test sets: OpenAI's chat completions. */
export async function startModel(answer: (prompt: string) => string): Promise<TestModel> {
  const queued: (string | number)[] = [];
  let broken: number | undefined;
  const requests: TestModel['requests'] = [];
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await bodyOf(request)) as {
      messages: { role: string; content: unknown }[];
    };
    const system = textOf(messages.find(({ role }) => role === 'system')?.content);
    const prompt = textOf(messages.findLast(({ role }) => role === 'user')?.content);
    requests.push({ system, prompt });
    const next = broken ?? queued.shift() ?? answer(prompt);
    const failed = typeof next === 'number';
    response.writeHead(failed ? next : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(failed ? { error: { message: 'no', type: 'test' } } : completion(next)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      provider: 'compatible',
      base_url: `http://127.0.0.1:${port}/v1`,
      model: 'test-model',
      api_key: 'k',
    },
    requests,
    answerOnce: (text) => queued.push(text),
    failOnce: (status) => queued.push(status),
    fail: (status) => {
      broken = status;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const completion = (content: string) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'test-model',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
});

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => part.text ?? '').join('')
      : '';

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
