import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HeldModel, startHeldModel } from './held-model.ts';
import {
  type Child,
  DEPARTURES,
  ENVELOPE,
  type Generation,
  INITIALIZE,
  type Json,
  openRecorded,
  outcomesOf,
} from './recorded-client.ts';
import { createHome, type Home, type Server, startUp } from './support.ts';

const ORDER = { message: 'Count the sheep.', sessionKey: 'flock' };

let model: HeldModel;
let home: Home;
const children: Child[] = [];

beforeEach(async () => {
  model = await startHeldModel();
  home = createHome(`toolkits = ["assistant"]
[assistant]
model = "mock/one"
retries = 0
[assistant.providers.mock]
kind = "openai"
api = "chat"
base_url = "${model.url}/v1"
api_key = "sk-test"
`);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await model.stop();
  home.close();
});

async function open(command: readonly string[], generation: Generation) {
  const client = await openRecorded(home, command, generation);
  children.push(client.child);
  const call = (id: number, args: Json = ORDER, meta?: Json) => client.call(id, 'order_clawdbot', args, meta);
  return { ...client, call };
}

const outcomes = (): string[] => outcomesOf(home, 'order_clawdbot');

const dataOf = (result: Json) =>
  result.structuredContent as { text: string; notices: string[]; storedAt: string | null };

const COMMANDS = [['mcp', 'serve'], ['mcp-server']] as const;
const ways = COMMANDS.flatMap((command) =>
  Object.entries(DEPARTURES).map(([name, leave], index) => {
    // Every way in one generation with one command and in the other with the other.
    const isFirst = index % 2 === 0 ? command.length === 1 : command.length === 2;
    return { command, name, leave, generation: isFirst ? ('2025' as const) : ('2026' as const) };
  }),
);

describe.each(ways)('$command of $generation ended by $name', ({ command, leave, generation }) => {
  it('exits with 0, loses no order and keeps the evidence', async () => {
    model.hold();
    const first = await open(command, generation);
    void first.call(1);
    await model.asked(1);
    await leave(first.child);
    expect(await first.ended).toBe(0);
    expect(outcomes()).toEqual(['timeout']);
    expect(home.cli('audit', 'verify')).toContain('No problems found');

    model.release();
    const second = await open(command, generation === '2025' ? '2026' : '2025');
    const { text, notices } = dataOf(await second.call(1));
    expect(text).toBe('The answer.');
    expect(notices.join(' ')).toMatch(/has been resumed/);
    second.child.stdin.end();
    expect(await second.ended).toBe(0);
  });
});

describe('a client that closes stdin right after its order', () => {
  it.each(['2025', '2026'] as const)(
    'loses nothing: the order is placed and kept (%s)',
    async (generation) => {
      model.hold();
      const first = await open(['mcp-server'], generation);
      void first.call(1);
      first.child.stdin.end();
      expect(await first.ended).toBe(0);
      expect(outcomes()).toEqual(['timeout']);
      model.release();
      const second = await open(['mcp-server'], generation);
      const { text, notices } = dataOf(await second.call(1));
      expect(text).toBe('The answer.');
      expect(notices.join(' ')).toMatch(/has been resumed/);
    },
  );
});

describe('a server that has ended', () => {
  it('does not hold up the next message of its session when it was killed', async () => {
    model.hold();
    const first = await open(['mcp-server'], '2025');
    void first.call(1);
    await model.asked(1);
    first.child.kill('SIGKILL');
    expect(await first.ended).toBe('SIGKILL');
    model.release();
    const second = await open(['mcp-server'], '2025');
    const other = dataOf(await second.call(1, { ...ORDER, message: 'Something else.' }));
    expect(other.text).toBe('The answer.');
    expect(other.notices.join(' ')).toMatch(/was interrupted before it was answered/);
  });

  it('leaves its order to `countersign up`', async () => {
    model.hold();
    const first = await open(['mcp-server'], '2025');
    void first.call(1);
    await model.asked(1);
    first.child.stdin.end();
    expect(await first.ended).toBe(0);
    const server = await startUp(home);
    await model.asked(2);
    model.release();
    const second = await open(['mcp-server'], '2025');
    expect(dataOf(await second.call(1)).text).toBe('The answer.');
    expect(model.requests).toHaveLength(2);
    await server.stop();
  });
});

describe('`countersign up` that runs already', () => {
  it('takes over the order of a client that leaves, and no one need ask for it', async () => {
    const server = await startUp(home);
    model.hold();
    const first = await open(['mcp', 'serve'], '2026');
    void first.call(1);
    await model.asked(1);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await model.asked(2);
    model.release();
    const second = await open(['mcp', 'serve'], '2025');
    expect(dataOf(await second.call(1)).text).toBe('The answer.');
    expect(model.requests).toHaveLength(2);
    await server.stop();
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'keeps the order that it works on itself when it ends by %s',
    async (signal) => {
      const server = await startUp(home);
      model.hold();
      const url = `${server.url}/tools/order_clawdbot`;
      const post = () =>
        fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ arguments: ORDER }),
        });
      const first = post().catch(() => undefined);
      await model.asked(1);
      expect(await server.end(signal)).toBe(0);
      await first;
      expect(home.cli('audit', 'verify')).toContain('No problems found');
      model.release();
      const second = await open(['mcp-server'], '2025');
      expect(dataOf(await second.call(1)).text).toBe('The answer.');
    },
  );
});

describe('an order that failed', () => {
  it('returns its generated key, also to a client that sends null for none', async () => {
    await model.stop();
    const { call } = await open(['mcp-server'], '2025');
    const result = await call(1, { message: 'Hello', sessionKey: null });
    expect(result).toMatchObject({ isError: true, _meta: { sessionKey: expect.stringMatching(/^mcp-/) } });
  });
});

describe.each(['2025', '2026'] as const)('a client of %s that gives up over stdio', (generation) => {
  it.each([
    'McpError: MCP error -32001: Request timed out',
    'MCP response future dropped',
    'context deadline exceeded',
    undefined,
  ])('gets the answer with the next call after “%s”', async (reason) => {
    model.hold();
    const { call, send, child, ended } = await open(['mcp', 'serve'], generation);
    void call(1);
    await model.asked(1);
    send({ method: 'notifications/cancelled', params: { requestId: 1, reason } });
    const again = call(2);
    model.release();
    expect(dataOf(await again).text).toBe('The answer.');
    expect(model.requests).toHaveLength(1);
    child.stdin.end();
    expect(await ended).toBe(0);
  });

  it('counts its progress 1, 2, 3', async () => {
    const { call, notices } = await open(['mcp', 'serve'], generation);
    await call(1, { message: 'Hello' }, { progressToken: 'p' });
    const steps = notices.map(({ params }) => (params as { progress: number }).progress);
    expect(steps.length).toBeGreaterThan(1);
    expect(steps).toEqual(steps.map((_step, index) => index + 1));
  });

  it('stops the work when a person cancelled it', async () => {
    model.hold();
    const { call, send } = await open(['mcp', 'serve'], generation);
    void call(1);
    await model.asked(1);
    send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'User cancelled' } });
    await expect.poll(() => model.dropped(), { timeout: 30_000 }).toBe(1);
    model.release();
    expect(dataOf(await call(2)).text).toBe('The answer.');
    expect(model.requests).toHaveLength(2);
  });
});

describe('a client that drops its HTTP stream', () => {
  let server: Server;
  beforeEach(async () => {
    server = await startUp(home);
  });
  afterEach(() => server.stop());

  const post = (body: Json, headers: Record<string, string>, signal?: AbortSignal) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });

  const params = { name: 'order_clawdbot', arguments: ORDER };
  const modern = (id: number, signal?: AbortSignal) =>
    post(
      { id, method: 'tools/call', params: { ...params, _meta: ENVELOPE } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'order_clawdbot' },
      signal,
    );
  const legacy = async () => {
    const opened = await post({ id: 0, method: 'initialize', params: INITIALIZE }, {});
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await post({ method: 'notifications/initialized' }, headers);
    return (id: number, signal?: AbortSignal) => post({ id, method: 'tools/call', params }, headers, signal);
  };
  const plain = (id: number, signal?: AbortSignal) =>
    post({ id, method: 'tools/call', params }, { accept: 'application/json' }, signal);
  const rest = (_id: number, signal?: AbortSignal) =>
    fetch(`${server.url}/tools/order_clawdbot`, {
      method: 'POST',
      signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: ORDER }),
    });

  it.each([
    ['2026', async () => modern],
    ['2025', legacy],
    ['no handshake', async () => plain],
    ['REST', async () => rest],
  ] as const)('gets the answer with the next call (%s)', async (_name, opening) => {
    model.hold();
    const call = await opening();
    const drop = new AbortController();
    const first = call(1, drop.signal)
      .then((response) => response.text())
      .catch(() => 'dropped');
    await model.asked(1);
    drop.abort();
    expect(await first).toBe('dropped');
    // The server learns of it through the connection; an identical call before that would be a second order.
    await expect.poll(outcomes, { timeout: 30_000 }).toEqual(['timeout']);
    const again = call(2);
    model.release();
    expect(await (await again).text()).toContain('The answer.');
    expect(model.requests).toHaveLength(1);
  });

  it.each([
    ['Request timed out', 1, 'timeout'],
    ['User cancelled', 2, 'cancelled'],
  ])('tells a cancel with the reason “%s” of 2025 for what it is', async (reason, requests, outcome) => {
    model.hold();
    const opened = await post({ id: 0, method: 'initialize', params: INITIALIZE }, {});
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await post({ method: 'notifications/initialized' }, headers);
    const stop = new AbortController();
    void post({ id: 1, method: 'tools/call', params }, headers, stop.signal).catch(() => {});
    await model.asked(1);
    await post({ method: 'notifications/cancelled', params: { requestId: 1, reason } }, headers);
    await expect.poll(outcomes, { timeout: 30_000 }).toEqual([outcome]);
    stop.abort();
    model.release();
    expect(await (await post({ id: 2, method: 'tools/call', params }, headers)).text()).toContain(
      'The answer.',
    );
    expect(model.requests).toHaveLength(requests);
  });

  it.each(['2025', '2026'] as const)('gets the answer over TCP too (%s)', async (generation) => {
    const dial = () => {
      const socket = connect(server.tcpPort, '127.0.0.1');
      const answer = new Promise<string>((resolve) => {
        createInterface({ input: socket }).on('line', (line) => line.includes('"id":1') && resolve(line));
      });
      const write = (message: Json) => socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      if (generation === '2025') {
        write({ id: 0, method: 'initialize', params: INITIALIZE });
        write({ method: 'notifications/initialized' });
      }
      const _meta = generation === '2026' ? ENVELOPE : undefined;
      write({ id: 1, method: 'tools/call', params: { ...params, _meta } });
      return { socket, answer };
    };
    model.hold();
    const first = dial();
    await model.asked(1);
    first.socket.destroy();
    await expect.poll(outcomes, { timeout: 30_000 }).toEqual(['timeout']);
    const second = dial();
    model.release();
    expect(await second.answer).toContain('The answer.');
    expect(model.requests).toHaveLength(1);
    second.socket.destroy();
  });
});
