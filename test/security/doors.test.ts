import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { webPorts } from '../../src/app/web-ports.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { type Listening, serveOnTcp } from '../../src/transports/tcp.ts';
import { createWebApp } from '../../src/web/server.ts';
import { createSignInLink } from '../../src/web/sign-in.ts';

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'get_mode', arguments: {} },
};
const HELLO = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1' } },
};

describe('who stands before the door of a server on this machine', () => {
  let home: string;
  let app: App;
  let http: Listening;
  let tcp: Listening;
  let token: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'countersign-doors-'));
    const env = { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' };
    app = await openApp({ env });
    token = await app.kernel.agents.add('robin', app.person);
    const served = await createServed(app, { toolkits: ['x'], profile: 'write', discovery: false });
    const allowedHosts = ['inbox.example'];
    const web = createWebApp(webPorts(app));
    http = await serveOnHttp(served, { host: '127.0.0.1', port: 0, allowedHosts, web });
    tcp = await serveOnTcp(served, { host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await http.close();
    await tcp.close();
    await app.close();
    rmSync(home, { recursive: true, force: true });
  });

  const callers = async () => {
    await app.kernel.flush();
    return (await app.kernel.telemetry.calls({ tool: 'get_mode', limit: 10 })).map(
      ({ principal }) => principal,
    );
  };
  /** By hand, because fetch does not let the caller choose the Host. */
  const post = (
    path: string,
    headers: Record<string, string>,
    body: object,
    port = http.port,
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end(JSON.stringify(body));
    });

  it('is no page of another site or port, whatever it sends', async () => {
    const json = { 'content-type': 'application/json' };
    const own = `http://127.0.0.1:${http.port}`;
    for (const [path, body] of [
      ['/tools/get_mode', { arguments: {} }],
      ['/mcp', CALL],
    ] as const) {
      const from = (headers: Record<string, string>) => post(path, headers, body);
      for (const headers of [
        { origin: 'https://evil.example' },
        { host: 'evil.example' },
        { origin: 'http://127.0.0.1:5173' },
        { origin: 'http://localhost:5173' },
        { origin: 'null' },
        { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
      ] as Record<string, string>[])
        expect(await from({ ...json, ...headers }), JSON.stringify(headers)).toBe(403);
      // What a page may send without a preflight, here by a program that claims no origin.
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'text/plain;application/json',
        '',
      ])
        expect(await from(type === '' ? {} : { 'content-type': type }), type).toBe(415);
    }
    expect(await callers()).toEqual([]);
    expect(await post('/tools/no_such_tool', { ...json, origin: own }, {})).toBe(404);
    expect(await post('/tools/no_such_tool', { 'content-type': 'application/json; charset=utf-8' }, {})).toBe(
      404,
    );
  });

  it('is the nameless agent only where nothing stands between: through a proxy a token is needed', async () => {
    const json = { 'content-type': 'application/json' };
    const proxied: Record<string, string>[] = [
      { host: 'inbox.example' },
      { 'x-forwarded-for': '203.0.113.7' },
      { forwarded: 'for=203.0.113.7' },
      { 'x-real-ip': '203.0.113.7' },
      { 'x-forwarded-proto': 'https' },
      { 'cf-connecting-ip': '203.0.113.7' },
    ];
    for (const headers of proxied) {
      expect(await post('/tools/get_mode', { ...json, ...headers }, {})).toBe(401);
      expect(await post('/mcp', { ...json, ...headers }, CALL)).toBe(401);
    }
    expect(await callers()).toEqual([]);
    const known = { ...json, authorization: `Bearer ${token}`, host: 'inbox.example' };
    expect(await post('/tools/get_mode', known, {})).toBe(200);
    expect(await post('/tools/get_mode', json, {})).toBe(200);
    expect((await callers()).sort()).toEqual(['agent:local', 'agent:robin']);
  });

  it('is never the nameless agent once the server listens to other machines', async () => {
    const served = await createServed(app, { toolkits: ['x'], profile: 'write', discovery: false });
    const open = await serveOnHttp(served, { host: '0.0.0.0', port: 0 });
    try {
      const before = await callers();
      const json = { 'content-type': 'application/json', host: 'localhost' };
      expect(await post('/tools/get_mode', json, {}, open.port)).toBe(401);
      expect(await post('/mcp', json, CALL, open.port)).toBe(401);
      expect(await callers()).toEqual(before);
      const known = { ...json, authorization: `Bearer ${token}` };
      expect(await post('/tools/get_mode', known, {}, open.port)).toBe(200);
    } finally {
      await open.close();
    }
  });

  it('is a person whose cookie stays on encrypted ways once it came by one', async () => {
    const signIn = async (headers: Record<string, string>): Promise<string> => {
      const origin = `http://127.0.0.1:${http.port}`;
      const link = await createSignInLink(app.database, app.person, origin, app.now());
      const { headers: answered } = await fetch(link, { headers, redirect: 'manual' });
      return answered.get('set-cookie') ?? '';
    };
    expect(await signIn({ 'x-forwarded-proto': 'https' })).toMatch(/HttpOnly; Secure; SameSite=Strict/);
    expect(await signIn({})).toMatch(/HttpOnly; SameSite=Strict/);
  });

  it.each([
    ['a request', 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n\r\n'],
    ['a request whose first line is longer than is kept', `POST /${'x'.repeat(2 ** 20)} HTTP/1.1\r\n\r\n`],
    ['a TLS handshake', '\u0016\u0003\u0001\u0002\n'],
    ['any other text', 'hello\n'],
  ])('is no web page that writes a message into %s to the TCP port', async (_what, head) => {
    const before = (await callers()).length;
    const text = `${head}${JSON.stringify(HELLO)}\n${JSON.stringify(CALL)}\n`;
    const heard = await new Promise<string>((resolve) => {
      let replies = '';
      const socket = connect(tcp.port, '127.0.0.1', () => socket.write(text));
      socket.setTimeout(3_000, () => resolve('The server kept the connection.'));
      socket.on('data', (chunk) => {
        replies += String(chunk);
      });
      socket.on('error', () => {}).on('close', () => resolve(replies));
    });
    expect(heard).toBe('');
    expect((await callers()).length).toBe(before);
  });

  it('hears no more events once its token is revoked', async () => {
    const agent = await app.kernel.agents.add('wren', app.person);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${agent}`,
    };
    const url = `http://127.0.0.1:${http.port}/mcp`;
    const hello = await fetch(url, { method: 'POST', headers, body: JSON.stringify(HELLO) });
    await hello.text();
    const session = { ...headers, 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
    const listen = {
      jsonrpc: '2.0',
      id: 2,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    };
    const modern = {
      ...headers,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    };
    const streams = [
      await fetch(url, { headers: session }),
      await fetch(url, { method: 'POST', headers: modern, body: JSON.stringify(listen) }),
    ];
    for (const stream of streams) expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const ended = Promise.all(streams.map((stream) => stream.text().catch(() => 'ended')));
    await app.kernel.agents.revoke('wren', app.person);
    await ended;
  });
});
