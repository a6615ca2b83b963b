import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model that answers when the test lets it, so that a client can leave while its order is being worked on. */
export interface HeldModel {
  readonly url: string;
  /** Bodies of all requests so far. */
  readonly requests: readonly string[];
  /** Requests whose client hung up before it was answered. */
  dropped(): number;
  /** Resolves once this many requests have come. */
  asked(count: number): Promise<void>;
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

export async function startHeldModel(answer = 'The answer.'): Promise<HeldModel> {
  const requests: string[] = [];
  const watchers = new Set<() => void>();
  let dropped = 0;
  let open = (): void => {};
  let gate = Promise.resolve();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(body);
    for (const watch of watchers) watch();
    response.once('close', () => {
      if (!response.writableEnded) dropped += 1;
    });
    await gate;
    if (response.destroyed) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.end(
      `${chunk({ role: 'assistant', content: answer }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    dropped: () => dropped,
    asked: (count) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (requests.length < count) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
    hold() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => open(),
    async stop() {
      open();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
