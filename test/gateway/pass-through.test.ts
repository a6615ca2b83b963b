import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import type { Client, Transport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { createServed } from '../../src/app/serving.ts';
import { LineTransport, serveConnection } from '../../src/transports/stdio.ts';
import { connect, httpServer, openPlace, type Place, serve, stdioServer } from './support.ts';

const PLAIN = resolve('test/gateway/conformance/server.mjs');
const WATCHED = 'test://watched-resource';
const CLIENTS = {
  modern: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  legacy: {},
} as const;
type Era = keyof typeof CLIENTS;

let place: Place | undefined;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await place?.close();
  place = undefined;
});

async function startHttp(...args: string[]): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [PLAIN, 'http', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing.push(() => child.kill('SIGKILL'));
  const [chunk] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer];
  return httpServer('c', `http://127.0.0.1:${Number(chunk.toString())}/mcp`);
}

async function openWith(table: string): Promise<Place> {
  const opened = await openPlace(table);
  place = opened;
  await opened.trust('c');
  return opened;
}

/** A client on the stdio framing: two ends of a socket in this process, both generations as on real pipes. */
async function stdioClient({ app }: Place, era: Era): Promise<Client> {
  const served = await createServed(app, { toolkits: ['c'], profile: 'write', discovery: false });
  const server = createServer((socket) => {
    const handle = serveConnection(new LineTransport(socket, socket), served, { transport: 'stdio' });
    socket.once('close', () => void handle.close());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const { Socket } = await import('node:net');
  const socket = new Socket();
  const address = server.address();
  socket.connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  await once(socket, 'connect');
  closing.push(() => socket.destroy());
  // The SDK's client and ours share the framing.
  return connect(new LineTransport(socket, socket) as Transport, CLIENTS[era]);
}

async function httpClient({ app }: Place, era: Era): Promise<Client> {
  const gateway = await serve(app, ['c']);
  closing.push(() => gateway.close());
  const client = await gateway.connect(CLIENTS[era]);
  closing.push(() => client.close());
  return client;
}

async function follow(client: Client, era: Era): Promise<string[]> {
  const heard: string[] = [];
  for (const list of ['prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void heard.push(list));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  );
  if (era === 'legacy') await client.subscribeResource({ uri: WATCHED });
  else
    await client.listen({
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [WATCHED],
    });
  return heard;
}

describe.each([
  ['stdio', 'modern'],
  ['stdio', 'legacy'],
  ['http', 'modern'],
  ['http', 'legacy'],
] as const)('a server on %s, %s', (transport, generation) => {
  it.each([
    ['stdio', 'modern'],
    ['stdio', 'legacy'],
    ['http', 'modern'],
    ['http', 'legacy'],
  ] as const)('is heard by a client on %s, %s: lists and a followed resource', async (kind, era) => {
    const table = transport === 'stdio' ? stdioServer('c', PLAIN, generation) : await startHttp(generation);
    const opened = await openWith(table);
    const client = await (kind === 'stdio' ? stdioClient : httpClient)(opened, era);
    const heard = await follow(client, era);
    await client.callTool({ name: 'c__test_trigger_prompt_change', arguments: {} });
    await client.callTool({ name: 'c__test_trigger_resource_change', arguments: {} });
    await expect.poll(() => [...new Set(heard)].sort()).toEqual(['prompts', 'resources', WATCHED]);
    const calls = await opened.app.kernel.telemetry.calls({ toolkit: 'c' });
    expect(calls.map(({ tool }) => tool)).toContain('c.resources.subscribe');
    if (era === 'modern') return;
    await client.unsubscribeResource({ uri: WATCHED });
    heard.length = 0;
    await client.callTool({ name: 'c__test_trigger_resource_change', arguments: {} });
    await expect.poll(() => heard).toEqual(['resources']);
  });
});

describe('log messages of a server', () => {
  it.each([
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'modern'],
  ] as const)('reach a %s client from a %s server, from its level on', async (era, generation) => {
    const opened = await openWith(stdioServer('c', PLAIN, generation));
    const client = await httpClient(opened, era);
    const heard: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data));
    const call = (level?: string) =>
      client.callTool({
        name: 'c__test_tool_with_logging',
        arguments: {},
        ...(level ? { _meta: { 'io.modelcontextprotocol/logLevel': level } } : {}),
      } as never);
    if (era === 'legacy') await client.setLoggingLevel('info');
    await call(era === 'modern' ? 'info' : undefined);
    await expect.poll(() => heard).toHaveLength(3);
    if (era === 'legacy') await client.setLoggingLevel('error');
    await call(era === 'modern' ? 'error' : undefined);
    if (era === 'modern') await call();
    expect(heard).toHaveLength(3);
  });
});
