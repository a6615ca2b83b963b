import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../src/app/app.ts';
import { createServed } from '../../src/app/serving.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { createMcpEndpoint } from '../../src/transports/http-mcp.ts';
import type { Served } from '../../src/transports/served.ts';
import { type Listening, serveOnTcp } from '../../src/transports/tcp.ts';

const HELLO = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};
const call = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'get_mode', arguments: {} },
});
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('what one client may occupy', () => {
  let home: string;
  let app: App;
  let served: Served;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'countersign-shares-'));
    writeFileSync(
      join(home, 'config.toml'),
      'toolkits = ["x"]\n[server]\nmax_sessions_per_agent = 3\nmax_connections = 4\nidle_seconds = 1\n',
    );
    app = await openApp({ env: { COUNTERSIGN_HOME: home, HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } });
    served = await createServed(app, { toolkits: ['x'], profile: 'write', discovery: false });
  });
  afterAll(async () => {
    for (const one of open) await one.close();
    await app.close();
    rmSync(home, { recursive: true, force: true });
  });

  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    open.push(one);
    return one;
  };
  const endpointAt = (clock: { now: number }) => kept(createMcpEndpoint(served, undefined, () => clock.now));
  type Endpoint = ReturnType<typeof endpointAt>;
  const agent = (id: string) => ({ kind: 'agent', id }) as const;
  const post = (endpoint: Endpoint, who: string, body: object, session?: string): Promise<Response> =>
    endpoint.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...HEADERS, ...(session ? { 'mcp-session-id': session } : {}) },
        body: JSON.stringify(body),
      }),
      agent(who),
    );
  const openSession = async (endpoint: Endpoint, who: string): Promise<string> => {
    const response = await post(endpoint, who, HELLO);
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };

  it('is its share of sessions; another agent keeps its own', async () => {
    const clock = { now: 0 };
    const endpoint = endpointAt(clock);
    const other = await openSession(endpoint, 'other');
    for (let at = 0; at < 3; at += 1) await openSession(endpoint, 'greedy');
    for (let at = 0; at < 20; at += 1) {
      const refused = await post(endpoint, 'greedy', HELLO);
      expect(refused.status).toBe(429);
      expect(await refused.text()).toContain('server.max_sessions_per_agent');
    }
    expect((await post(endpoint, 'other', call(1), other)).status).toBe(200);
  });

  it('gives an agent room by closing its own session that it left longest', async () => {
    const clock = { now: 0 };
    const endpoint = endpointAt(clock);
    const other = await openSession(endpoint, 'other');
    const first = await openSession(endpoint, 'greedy');
    clock.now += 1_000;
    for (let at = 0; at < 2; at += 1) await openSession(endpoint, 'greedy');
    clock.now += 11 * 60_000;
    const fresh = await openSession(endpoint, 'greedy');
    expect((await post(endpoint, 'greedy', call(1), first)).status).toBe(404);
    expect((await post(endpoint, 'greedy', call(1), fresh)).status).toBe(200);
    expect((await post(endpoint, 'other', call(1), other)).status).toBe(200);
  });

  it('closes a session that was idle for an hour when the next one is opened', async () => {
    const clock = { now: 0 };
    const endpoint = endpointAt(clock);
    const old = await openSession(endpoint, 'a');
    clock.now += 61 * 60_000;
    await openSession(endpoint, 'b');
    expect((await post(endpoint, 'a', call(1), old)).status).toBe(404);
  });

  const dial = (to: Listening): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(to.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', reject);
    });
  const closed = (socket: Socket): Promise<void> =>
    new Promise((resolve) => {
      socket.on('error', () => {}).on('close', () => resolve());
      socket.resume();
    });
  /** Sends lines and collects what comes back until the wanted text does. */
  const answer = (socket: Socket, wanted: string): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.includes(wanted)) resolve(text);
      });
      socket.on('close', () => resolve(text));
    });

  it('is one megabyte of a TCP line before it is known, and long lines afterwards', async () => {
    const tcp = kept(
      await serveOnTcp(
        { ...served, shares: { ...served.shares, idleMs: 60_000 } },
        { host: '127.0.0.1', port: 0 },
      ),
    );
    const socket = await dial(tcp);
    const long = (id: number): string =>
      `${JSON.stringify({ ...call(id), params: { name: 'get_mode', arguments: { text: 'x'.repeat(2 * 1024 * 1024) } } })}\n`;
    const refused = answer(socket, 'larger than 1 MB');
    socket.write(long(1));
    expect(await refused).toContain('larger than 1 MB');
    const known = answer(socket, '"id":2');
    socket.write(`${JSON.stringify(HELLO)}\n${JSON.stringify(call(2))}\n`);
    await known;
    const taken = answer(socket, '"id":3');
    socket.write(long(3));
    expect(await taken).toContain('"id":3');
    socket.destroy();
  });

  it('is no connection beyond the limit, which is said before it is closed', async () => {
    const shares = { ...served.shares, idleMs: 60_000 };
    const tcp = kept(await serveOnTcp({ ...served, shares }, { host: '127.0.0.1', port: 0 }));
    const first = await Promise.all(Array.from({ length: 4 }, () => dial(tcp)));
    const fifth = await dial(tcp);
    expect(await answer(fifth, 'never')).toContain('server.max_connections');
    first[0]?.destroy();
    await expect
      .poll(async () => {
        const next = await dial(tcp);
        const text = answer(next, '"id":0');
        next.write(`${JSON.stringify(HELLO)}\n`);
        const said = await text;
        next.destroy();
        return said;
      })
      .toContain('serverInfo');
    for (const socket of first) socket.destroy();
  });

  it('is closed over TCP when it sends nothing, or a line without end', async () => {
    const tcp = kept(await serveOnTcp(served, { host: '127.0.0.1', port: 0, slowMs: 200 }));
    const silent = await dial(tcp);
    const slow = await dial(tcp);
    const dribble = setInterval(() => slow.write('x'), 50);
    await Promise.all([closed(silent), closed(slow)]);
    clearInterval(dribble);
  });

  it('is closed over HTTP when a request does not arrive; one that takes long to answer is not', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slowly: Served = {
      ...served,
      async invoke(request) {
        await held;
        return served.invoke(request);
      },
    };
    const http = kept(await serveOnHttp(slowly, { host: '127.0.0.1', port: 0, slowMs: 200 }));
    const answered = fetch(`http://127.0.0.1:${http.port}/tools/get_mode`, {
      method: 'POST',
      headers: HEADERS,
      body: '{}',
    });
    const headers = await dial(http);
    headers.write('POST /mcp HTTP/1.1\r\nhost: localhost\r\n');
    const body = await dial(http);
    body.write(
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    await Promise.all([closed(headers), closed(body)]);
    release();
    expect((await answered).status).toBe(200);
  });

  it('gets an error about the unavailable database, not an internal error', async () => {
    const away: Served = {
      ...served,
      authenticate: () => Promise.reject(new Error('Connection terminated unexpectedly')),
    };
    const http = kept(await serveOnHttp(away, { host: '127.0.0.1', port: 0 }));
    const headers = { ...HEADERS, authorization: 'Bearer cs_x' };
    const reply = await fetch(`http://127.0.0.1:${http.port}/tools/get_mode`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect([reply.status, await reply.json()]).toEqual([
      503,
      { success: false, error: expect.stringContaining('PostgreSQL was lost'), error_code: 'DB_ERROR' },
    ]);
  });

  it('learns from /health whether evidence can be written, and nothing about calls', async () => {
    const http = kept(await serveOnHttp(served, { host: '127.0.0.1', port: 0 }));
    const fine = await fetch(`http://127.0.0.1:${http.port}/health`);
    expect([fine.status, await fine.json()]).toEqual([
      200,
      { status: 'ok', evidence: { writable: true, waiting: expect.any(Number), full: false, unwritten: 0 } },
    ]);
    const broken: Served = {
      ...served,
      health: async () => ({
        status: 'degraded',
        evidence: { writable: false, waiting: 9, message: 'full' },
      }),
    };
    const other = kept(await serveOnHttp(broken, { host: '127.0.0.1', port: 0 }));
    expect((await fetch(`http://127.0.0.1:${other.port}/health`)).status).toBe(503);
  });
});
