import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../app/app.ts';
import { createServed } from '../app/serving.ts';
import { serveOnHttp } from './http.ts';
import type { Listening } from './tcp.ts';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const HELLO = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};
const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

/** Handlers that wait tell the test when they have begun, and when their client has left. */
const seen: string[] = [];
const HANDLERS: Readonly<Record<string, (context: ServerContext) => Promise<void>>> = {
  quick: async () => {},
  chatty: ({ mcpReq }) =>
    mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: 7, progress: 1, message: 'é' },
    }),
  waiting: ({ http }) =>
    new Promise((resolve) => {
      seen.push('begun');
      http?.req?.signal.addEventListener('abort', () => {
        seen.push('left');
        resolve();
      });
    }),
};

function serverFor(): Server {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    await HANDLERS[params.name]?.(context);
    return { content: [{ type: 'text', text: `${params.name} é` }] };
  });
  return server;
}

describe('a request within an HTTP session', () => {
  let home: string;
  let app: App;
  let listening: Listening;
  let session: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'countersign-session-'));
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } });
    const served = await createServed(app, { toolkits: ['x'], profile: 'write', discovery: false });
    listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0, serverFor });
    session = await openSession();
  });
  afterAll(async () => {
    await listening?.close();
    await app?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const send = (method: string, body?: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${listening.port}/mcp`, {
      method,
      headers: { ...HEADERS, ...headers },
      body,
      signal,
    });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send('POST', typeof body === 'string' ? body : JSON.stringify(body), {
      'mcp-session-id': session,
      ...headers,
    });
  async function openSession(): Promise<string> {
    const response = await send('POST', JSON.stringify(HELLO));
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  }

  it('is answered as JSON when nothing comes before the result', async () => {
    const response = await post(call(1, 'quick'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('mcp-session-id')).toBe(session);
    const result = { content: [{ type: 'text', text: 'quick é' }] };
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result });
  });

  it('is answered as a stream of events when something does', async () => {
    const response = await post(call(2, 'chatty'));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text.match(/^event: message\ndata: /gm)).toHaveLength(2);
    expect(text.indexOf('"progressToken":7')).toBeLessThan(text.indexOf('chatty é'));
  });

  it('gets the error of its method, also with an ID that is text', async () => {
    const response = await post({ jsonrpc: '2.0', id: 'a', method: 'no/such' });
    expect(await response.json()).toMatchObject({ id: 'a', error: { code: -32_601 } });
  });

  it.each([
    ['a batch', [call(3, 'quick'), call(4, 'chatty')], 200, 'chatty é'],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }, 202, ''],
    ['no JSON', '{', 400, '-32700'],
    ['no message', { id: 1 }, 400, '-32600'],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}', 400, '__proto__'],
    ['a second handshake', HELLO, 400, 'already initialized'],
  ])('is answered as before when it is %s', async (_what, body, status, text) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
  });

  it.each([
    ['an unknown session', { 'mcp-session-id': 'none' }, 404],
    ['an unknown token', { authorization: 'Bearer none' }, 401],
    ['a proxy without a token', { 'x-forwarded-for': '10.0.0.1' }, 401],
    ['another site', { origin: 'https://example.com' }, 403],
    ['an unknown version', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a client that takes no events', { accept: 'application/json' }, 406],
    ['another media type', { 'content-type': 'text/plain' }, 415],
  ])('is refused with %s', async (_what, headers, status) => {
    expect((await post(call(5, 'quick'), headers)).status).toBe(status);
  });

  /** As `fetch` cannot send it: with these headers, and in parts where no length is among them. */
  const sendRaw = (headers: string[], ...parts: string[]): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const all = [...Object.entries(HEADERS).flat(), 'mcp-session-id', session, ...headers];
      const to = { port: listening.port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: all };
      const sent = request(to, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on('error', reject);
      for (const part of parts) sent.write(part);
      sent.end();
    });

  it('is refused when it names another host, also as the second of two', async () => {
    const body = JSON.stringify(call(6, 'quick'));
    const own = ['host', `127.0.0.1:${listening.port}`];
    const sized = ['content-length', String(body.length)];
    expect(await sendRaw([...own, ...sized], body)).toBe(200);
    expect(await sendRaw(['host', 'example.com', ...sized], body)).toBe(403);
    expect(await sendRaw([...own, 'host', 'example.com', ...sized], body)).toBeGreaterThanOrEqual(400);
  });

  it('may come in parts, up to the size of any other', async () => {
    const headers = ['host', `127.0.0.1:${listening.port}`, 'transfer-encoding', 'chunked'];
    const body = JSON.stringify(call(6, 'quick'));
    expect(await sendRaw(headers, body.slice(0, 20), body.slice(20))).toBe(200);
    expect(await sendRaw(headers, ...Array.from({ length: 17 }, () => ' '.repeat(2 ** 20)), body)).toBe(413);
  });

  it('learns that its client has left', async () => {
    seen.length = 0;
    const left = new AbortController();
    const headers = { 'mcp-session-id': session };
    const sent = send('POST', JSON.stringify(call(7, 'waiting')), headers, left.signal).catch(
      () => 'dropped',
    );
    await expect.poll(() => seen).toEqual(['begun']);
    left.abort();
    expect(await sent).toBe('dropped');
    await expect.poll(() => seen).toEqual(['begun', 'left']);
    expect((await post(call(7, 'quick'))).status).toBe(200);
  });

  it('ends without a result when its session is closed', async () => {
    seen.length = 0;
    const other = { 'mcp-session-id': await openSession() };
    const sent = send('POST', JSON.stringify(call(8, 'waiting')), other);
    await expect.poll(() => seen).toEqual(['begun']);
    expect((await send('DELETE', undefined, other)).status).toBe(200);
    expect(await (await sent).text()).toBe('');
    expect((await send('POST', JSON.stringify(call(9, 'quick')), other)).status).toBe(404);
  });
});
