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

  const mode = (to: Listening, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${to.port}/tools/get_mode`, {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: '{}',
    });
  const dial = (to: Listening): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(to.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', reject);
    });
  const closed = (socket: Socket): Promise<void> =>
    new Promise((resolve) => {
      if (socket.closed) resolve();
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

  const roomy = (): Served => ({ ...served, shares: { ...served.shares, idleMs: 60_000 } });
  /** A TCP client whose call was answered. */
  const caller = async (to: Listening, token?: string): Promise<{ socket: Socket; said: string }> => {
    const socket = await dial(to);
    const { params, ...rest } = call(1);
    const meta = token === undefined ? {} : { _meta: { 'countersign/token': token } };
    const text = answer(socket, '"id":1');
    socket.write(
      `${JSON.stringify(HELLO)}\n${JSON.stringify({ ...rest, params: { ...params, ...meta } })}\n`,
    );
    return { socket, said: await text };
  };

  it('is half of the TCP connections, and those that wait make room', async () => {
    const tcp = kept(await serveOnTcp(roomy(), { host: '127.0.0.1', port: 0 }));
    const token = await app.kernel.agents.add('other', app.person);
    const silent = await Promise.all(Array.from({ length: 4 }, () => dial(tcp)));
    const gone = Promise.all(silent.map(closed));
    const mine = [await caller(tcp), await caller(tcp)];
    for (const { said } of mine) expect(said).toContain('"result"');
    const third = await caller(tcp);
    expect(third.said).toContain('agent:local already has 2 connections, half of server.max_connections');
    const others = [await caller(tcp, token), await caller(tcp, token)];
    for (const { said } of others) expect(said).toContain('"result"');
    await Promise.all([gone, closed(third.socket)]);
    // All are in use now: one more is told so before it is closed.
    expect(await answer(await dial(tcp), 'never')).toContain('server.max_connections');
    mine[0]?.socket.destroy();
    await expect
      .poll(async () => {
        const { socket, said } = await caller(tcp);
        socket.destroy();
        return said;
      })
      .toContain('"result"');
    for (const { socket } of [...mine, ...others]) socket.destroy();
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

  it('keeps no one out over HTTP by connections that send nothing or ever half a request', async () => {
    const http = kept(await serveOnHttp(served, { host: '127.0.0.1', port: 0 }));
    const half = [
      '',
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\n',
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    ];
    const sockets = await Promise.all(
      half.map(async (text) => {
        const socket = await dial(http);
        socket.on('error', () => {}).write(text);
        return socket;
      }),
    );
    expect((await mode(http)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('is half of the requests in service over HTTP; another agent keeps its own', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    const slowly: Served = {
      ...served,
      async invoke(request) {
        calls += 1;
        if (request.principal.id === 'local') await held;
        return served.invoke(request);
      },
    };
    const http = kept(await serveOnHttp(slowly, { host: '127.0.0.1', port: 0 }));
    const token = await app.kernel.agents.add('patient', app.person);
    const first = [mode(http), mode(http)];
    await expect.poll(() => calls).toBe(2);
    const refused = await mode(http);
    expect([refused.status, await refused.text()]).toEqual([
      429,
      expect.stringContaining(
        'agent:local already has 2 requests in progress, half of server.max_connections',
      ),
    ]);
    expect((await mode(http, { authorization: `Bearer ${token}` })).status).toBe(200);
    release();
    for (const reply of first) expect((await reply).status).toBe(200);
    await expect.poll(async () => (await mode(http)).status).toBe(200);
  });

  it('is 64 MB of large requests that have not ended; small ones are still served', async () => {
    const http = kept(
      await serveOnHttp(
        { ...served, shares: { ...served.shares, connections: 64 } },
        { host: '127.0.0.1', port: 0 },
      ),
    );
    const part = Buffer.alloc(15 * 1024 * 1024, ' ');
    const head = `POST /tools/get_mode HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n`;
    /** Sends a body that never ends, until it is taken or refused. */
    const send = async (): Promise<{ socket: Socket; said: Promise<string> }> => {
      const socket = await dial(http);
      socket.on('error', () => {});
      const said = answer(socket, '\r\n\r\n{');
      socket.write(head);
      await Promise.race([new Promise((sent) => socket.write(part, sent)), said]);
      return { socket, said };
    };
    const large = [];
    for (let at = 0; at < 6; at += 1) large.push(await send());
    const refusal = await Promise.race(large.map(({ said }) => said));
    expect(refusal).toContain('429 Too Many Requests');
    expect(refusal).toContain('agent:local already has 64 MB of requests in progress');
    expect((await mode(http)).status).toBe(200);
    const endless = await dial(http);
    endless.on('error', () => {});
    const tooLarge = answer(endless, '413 Payload Too Large');
    for (const { socket } of large) socket.destroy();
    endless.write(head);
    endless.write(part);
    endless.write(`\r\n${part.length.toString(16)}\r\n`);
    endless.write(part);
    expect(await tooLarge).toContain('413 Payload Too Large');
    await closed(endless);
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
