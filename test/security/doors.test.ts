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

  it('is no page of another site, whatever it sends', async () => {
    const from = (headers: Record<string, string>) =>
      post('/tools/no_such_tool', { 'content-type': 'application/json', ...headers }, { arguments: {} });
    expect(await from({ origin: 'https://evil.example' })).toBe(403);
    expect(await from({ host: 'evil.example' })).toBe(403);
    expect(await from({ origin: 'http://localhost:5173' })).toBe(404);
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

  it('is no web page that writes a message into a request to the TCP port', async () => {
    const before = (await callers()).length;
    const body = `${JSON.stringify(HELLO)}\n${JSON.stringify(CALL)}\n`;
    const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${tcp.port}\r\nOrigin: https://evil.example\r\n`;
    const heard = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(tcp.port, '127.0.0.1', () => {
        socket.write(`${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      });
      socket.setTimeout(3_000, () => socket.destroy(new Error('The server kept the connection.')));
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      socket.on('error', reject).on('close', () => resolve(text));
    });
    expect(heard).not.toContain('"result"');
    expect((await callers()).length).toBe(before);
  });
});
