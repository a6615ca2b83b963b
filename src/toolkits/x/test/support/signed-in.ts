import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../../../contract/json.ts';
import { openXKit, type XKit, type XKitOptions } from './kit.ts';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: JsonValue;
}

export interface Interference {
  /** `drop` cuts the connection before X gets the request; a delivery answers in place of X. */
  before?(exchange: Exchange): 'drop' | Delivery | undefined;
  /** X has acted: `drop` cuts the connection, `late` never answers, a delivery replaces X's answer. */
  after?(exchange: Exchange, answer: Delivery): 'drop' | 'late' | Delivery | undefined;
}

export interface SignedInKit {
  readonly kit: XKit;
  /** `GET /2/users/me`, in order of arrival. */
  readonly sent: string[];
  close(): Promise<void>;
}

/** The toolkit signed in to an X at the other end of a line with which a test may interfere. */
export async function openSignedInKit(
  interference: Interference,
  options: XKitOptions = {},
): Promise<SignedInKit> {
  let target = '';
  const sent: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://x');
    const body = await textOf(incoming);
    const { method = 'GET' } = incoming;
    const exchange = { method, path: url.pathname, query: url.searchParams, body };
    sent.push(`${method} ${url.pathname}`);
    const instead = interference.before?.(exchange);
    if (instead === 'drop') return void incoming.socket.destroy();
    const answer = instead ?? (await forward(incoming, body, target));
    const changed = instead ? undefined : interference.after?.(exchange, answer);
    if (changed === 'drop') return void incoming.socket.destroy();
    // The client gives up first; what would come after that is never read.
    if (changed === 'late') return;
    const { status, headers, json } = changed ?? answer;
    outgoing.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const x_api: JsonObject = {
    provider_backend: 'x_api',
    api_base_url: base,
    client_id: 'c',
    ...options.config?.x_api,
  };
  const kit = await openXKit({ ...options, config: { ...options.config, x_api } });
  target = kit.sandbox.url;
  await signIn(kit);
  return {
    kit,
    sent,
    async close() {
      await kit[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function signIn({ sandbox, dataDir }: XKit): Promise<void> {
  const tokens = {
    access_token: sandbox.credentials.user_token,
    expires_at: '2030-01-01T00:00:00.000Z',
    scopes: sandbox.credentials.scopes?.split(' '),
    client_id: 'c',
    authorized_at: '2026-02-25T12:00:00.000Z',
  };
  await writeFile(join(dataDir, 'x-tokens.json'), JSON.stringify(tokens), { mode: 0o600 });
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

async function forward(incoming: IncomingMessage, body: string, target: string): Promise<Delivery> {
  const headers: Record<string, string> = { 'x-sandbox-host': 'api.x.com' };
  for (const name of ['authorization', 'content-type']) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const answer = await fetch(new URL(incoming.url ?? '/', target), {
    method: incoming.method ?? 'GET',
    headers,
    ...(body === '' ? {} : { body: Buffer.from(body, 'latin1') }),
  });
  const limits = [...answer.headers].filter(([name]) => name.startsWith('x-rate-limit-'));
  return {
    status: answer.status,
    headers: Object.fromEntries(limits),
    json: (await answer.json()) as JsonValue,
  };
}
