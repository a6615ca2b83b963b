import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Kysely } from 'kysely';
import { type Sandbox, startSandbox } from '../../emulator/start.ts';
import type { SandboxTables } from '../../emulator/stored-state.ts';
import { openXStore } from './sandbox.ts';

/** One request as X got it. Signatures and boundaries differ from one to the next and are left out. */
export interface Sent {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

export interface XWire {
  readonly sandbox: Sandbox;
  /** Everything that came over the wire since the last `sent.length = 0`, in order. */
  readonly sent: Sent[];
  /** `[x_api]` of a signed-in account whose X is at the other end of this wire. */
  readonly settings: string;
  /** What `x-tokens.json` holds. */
  readonly tokens: string;
  /** No server listens any more, until `reconnect`. */
  cut(): Promise<void>;
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** X as a server of its own, seen by the product as the real one: signed in, over HTTP, with every request overheard. */
export async function startXWire(): Promise<XWire> {
  const store = await openXStore();
  const sandbox = await startSandbox({
    db: store.db as unknown as Kysely<SandboxTables>,
    now: () => new Date(),
  });
  const sent: Sent[] = [];
  const api = await listen(forward('api.x.com', sandbox.url, sent));
  const ads = await listen(forward('ads-api.x.com', sandbox.url, sent));
  const both = [api, ads];
  const { credentials } = sandbox;
  return {
    sandbox,
    sent,
    settings: [
      '[x_api]',
      `api_base_url = "http://127.0.0.1:${api.port}"`,
      `ads_base_url = "http://127.0.0.1:${ads.port}"`,
      'client_id = "client"',
      `bearer_token = "${credentials.app_token}"`,
      ...['consumer_key', 'consumer_secret', 'access_token', 'access_token_secret'].map(
        (name) => `${name} = "${credentials[name]}"`,
      ),
    ].join('\n'),
    tokens: JSON.stringify({
      access_token: credentials.user_token,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      scopes: credentials.scopes?.split(' '),
      client_id: 'client',
      authorized_at: '2026-02-25T12:00:00.000Z',
    }),
    cut: async () => void (await Promise.all(both.map(({ server }) => stop(server)))),
    reconnect: async () => void (await Promise.all(both.map(({ server, port }) => start(server, port)))),
    async close() {
      for (const { server } of both) await stop(server);
      await sandbox.close();
      await store.close();
    },
  };
}

function forward(host: string, target: string, sent: Sent[]): Server {
  return createServer(async (incoming, outgoing) => {
    const body = await bytesOf(incoming);
    const { method = 'GET', url: path = '/' } = incoming;
    sent.push({ method, host, path, body: readable(body, incoming.headers['content-type']) });
    const headers = { ...incoming.headers, host: new URL(target).host, 'x-sandbox-host': host };
    const onward = httpRequest(new URL(path, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    // A connection X dropped is dropped here too.
    onward.on('error', () => incoming.socket.destroy());
    onward.end(body);
  });
}

const readable = (body: Buffer, type = ''): string => {
  const boundary = /boundary=(\S+)/.exec(type)?.[1];
  const text = body.toString('latin1');
  return boundary ? text.replaceAll(boundary, 'BOUNDARY') : text;
};

async function listen(server: Server) {
  await start(server, 0);
  return { server, port: (server.address() as AddressInfo).port };
}

const start = (server: Server, port: number): Promise<void> =>
  new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));

const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
