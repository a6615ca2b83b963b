import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readServerLog } from '../../src/gateway/server-log.ts';
import { EVERYTHING, httpServer, openPlace, type Place, serve, stdioServer } from './support.ts';

const PLAIN = resolve('test/gateway/modern-server.mjs');
const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;

let place: Place | undefined;
const children: ChildProcess[] = [];
afterEach(async () => {
  await place?.close();
  place = undefined;
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startHttp(env: Record<string, string> = {}, ...args: string[]): Promise<number> {
  const child = spawn(process.execPath, [PLAIN, 'http', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(chunk.toString());
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const portServer = (port: number, more = ''): string =>
  `${httpServer('p', `http://127.0.0.1:${port}/mcp`)}${more}`;

describe.each(['stdio', 'http'] as const)('a modern server over %s', (transport) => {
  const open = async (): Promise<Place> => {
    const config =
      transport === 'stdio' ? stdioServer('p', PLAIN, 'modern') : portServer(await startHttp({}, 'modern'));
    const opened = await openPlace(config);
    place = opened;
    await opened.trust('p');
    return opened;
  };

  it.each([
    ['a modern client', MODERN],
    ['a legacy client', {}],
  ])('serves %s with tools, resources, prompts and completion', async (_title, options) => {
    const { app } = await open();
    const gateway = await serve(app, ['p']);
    const client = await gateway.connect(options);
    try {
      const echo = await client.callTool({ name: 'p__echo', arguments: { text: 'hi' } });
      expect(echo).toMatchObject({ content: [{ type: 'text', text: 'hi' }], _meta: { 'example.org/n': 2 } });
      const sum = await client.callTool({ name: 'p__sum', arguments: { a: 1, b: 2 } });
      expect(sum.structuredContent).toEqual({ sum: 3 });
      const era = await client.callTool({ name: 'p__era', arguments: {} });
      expect(era.content).toEqual([{ type: 'text', text: 'modern' }]);
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain('plain://greeting');
      const read = await client.readResource({ uri: 'plain://greeting' });
      expect(read.contents).toEqual([{ uri: 'plain://greeting', text: 'Hello' }]);
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain('p__greet');
      const prompt = await client.getPrompt({ name: 'p__greet', arguments: { name: 'Ada' } });
      expect(prompt.messages[0]?.content).toEqual({ type: 'text', text: 'Greet Ada' });
      await expect(client.readResource({ uri: 'plain://nothing' })).rejects.toThrow();
      const calls = await app.kernel.telemetry.calls({ toolkit: 'p' });
      expect(calls.map(({ tool }) => tool)).toEqual(
        expect.arrayContaining(['p__echo', 'p.resources.read', 'p.prompts.get']),
      );
    } finally {
      await client.close();
      await gateway.close();
    }
  });

  it('stops a call that the client cancels', async () => {
    const { call, dir } = await open();
    const stop = new AbortController();
    const running = call('p__slow', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect((await running).outcome).toMatchObject({ status: 'failed', fault: { code: 'cancelled' } });
    if (transport === 'stdio')
      await expect.poll(() => readServerLog(dir, 'p', 20).join('\n')).toContain('cancelled by the client');
  });

  it('refuses a resource where policy denies it', async () => {
    const { app, dir: _ } = await open();
    await app.policy.setOverrides(
      {
        rules: [
          { id: 'no-reading', enabled: true, priority: 1, tools: ['p.resources.read'], action: 'deny' },
        ],
      },
      app.person,
    );
    const gateway = await serve(app, ['p']);
    const client = await gateway.connect();
    await expect(client.readResource({ uri: 'plain://greeting' })).rejects.toThrow(/Policy denied/);
    await client.close();
    await gateway.close();
  });
});

describe('HTTP', () => {
  it('notices a change that a modern server announces', async () => {
    const port = await startHttp({}, 'modern');
    place = await openPlace(portServer(port));
    await place.trust('p');
    await fetch(`http://127.0.0.1:${port}/add`);
    const upstream = await place.app.gateway?.upstream('p');
    await expect.poll(() => [...(upstream?.live.keys() ?? [])]).toContain('late');
    expect(await place.app.inventory.resolve('p__late')).toBeUndefined();
  });

  it('sends headers with resolved secrets, and a wrong one is refused without an effect', async () => {
    const port = await startHttp({ WANTED_KEY: 'right-key-value' });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written in the file
    const headers = '[servers.p.headers]\nX-Api-Key = "${env:KEY}"\n';
    place = await openPlace(portServer(port, headers), { KEY: 'right-key-value' });
    await place.trust('p');
    expect((await place.call('p__echo', { text: 'hi' })).outcome.status).toBe('ok');
    await place.close();
    place = await openPlace(portServer(port, headers), { KEY: 'wrong-key-value' });
    await expect(place.trust('p')).rejects.toThrow('could not be started or reached');
  });

  it('fails without an effect when nothing listens', async () => {
    const port = await startHttp();
    place = await openPlace(portServer(port));
    await place.trust('p', { echo: 'change' });
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect((await place.call('p__echo', { text: 'x' })).outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'server_unavailable' },
    });
  });
});

it('reaches a server that uses the older HTTP+SSE transport', async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, 'sse'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  await once(child.stderr, 'data');
  place = await openPlace(`${httpServer('p', `http://127.0.0.1:${port}/sse`)}transport = "sse"\n`);
  await expect
    .poll(() => place?.trust('p').then(() => 'trusted', String), { timeout: 20_000 })
    .toBe('trusted');
  expect((await place.call('p__echo', { message: 'hi' })).outcome).toMatchObject({ status: 'ok' });
});

it('opens a new session when a restarted server no longer knows the old one', async () => {
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    await once(child.stderr, 'data');
    return child;
  };
  const first = await start();
  place = await openPlace(portServer(port));
  const trusted = () => place?.trust('p').then(() => 'trusted', String);
  await expect.poll(trusted, { timeout: 60_000 }).toBe('trusted');
  expect((await place.call('p__echo', { message: 'one' })).outcome.status).toBe('ok');
  first.kill('SIGKILL');
  await once(first, 'close');
  await start();
  const again = async () => (await place?.call('p__echo', { message: 'two' }))?.outcome.status;
  await expect.poll(again, { timeout: 60_000 }).toBe('ok');
});

it.each([400, 404])(
  'sends a change once where a server that knows the session answers it with %s',
  async (status) => {
    let sent = 0;
    const answers: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'p', version: '1' },
      },
      'tools/list': { tools: [{ name: 'write', inputSchema: { type: 'object' } }] },
      ping: {},
    };
    const http = createHttpServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      if (id === undefined) return void response.writeHead(method ? 202 : 405).end();
      if (method === 'tools/call') {
        sent += 1;
        return void response.writeHead(status).end('It was written, but there is more to say.');
      }
      const result = answers[method];
      const answer = result ? { result } : { error: { code: -32_601, message: 'Method not found' } };
      response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }).listen(0, '127.0.0.1');
    await once(http, 'listening');
    try {
      place = await openPlace(portServer((http.address() as AddressInfo).port));
      await place.trust('p');
      expect((await place.call('p__write', {})).outcome.status).toBe('failed');
      expect(sent).toBe(1);
    } finally {
      http.close();
      http.closeAllConnections();
    }
  },
);

it('takes a server that is silent about what it does not know for a legacy one', async () => {
  const known = `{
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'shy', version: '1' } },
    'tools/list': { tools: [{ name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] },
    'tools/call': { content: [{ type: 'text', text: 'read' }] },
  }`;
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = (${known})[method];
    if (id !== undefined && result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  })`;
  place = await openPlace(stdioServer('shy', '-e', script));
  await place.trust('shy');
  expect((await place.call('shy__read', {})).outcome).toMatchObject({ status: 'ok' });
});
