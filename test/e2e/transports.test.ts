import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, type Server, startUp, TRANSPORTS } from './support.ts';

const CONFIG = 'toolkits = ["x", "dev"]\n[mcp_policy]\nblocked_tools = ["x_like_tweet"]\n';

/** What differs from call to call and says nothing about the answer. */
const stable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, item) =>
      [
        'elapsed_ms',
        'correlation_id',
        'approval_queue_id',
        'approval_uuid',
        'approval_id',
        'uptime_seconds',
        'expires_at',
        'how_to_approve',
      ].includes(key)
        ? undefined
        : item,
    ),
  );

describe('the same server over three transports', () => {
  let home: Home;
  let server: Server;

  beforeAll(async () => {
    home = createHome(CONFIG);
    server = await startUp(home);
  });
  afterAll(async () => {
    await server.stop();
    home.close();
  });

  it('gives the same answers to the same calls', async () => {
    const calls = [
      ['get_mode', {}],
      ['get_policy_status', {}],
      ['x_post_tweet', { text: 'Hello' }],
      ['x_like_tweet', { tweet_id: '1' }],
      ['get_mode', { surprise: true }],
      ['approve_item', { id: 1 }],
      ['approval_get', { approval_id: 'nothing' }],
      ['x_post_tweet', { text: 'x'.repeat(300) }],
    ] as const;
    const answers: Record<string, unknown> = {};
    for (const transport of TRANSPORTS) {
      const session = await server.connect(transport);
      const { tools } = await session.client.listTools();
      const results = [];
      for (const [name, args] of calls) {
        const { isError, structuredContent } = await session.client.callTool({ name, arguments: args });
        results.push({ name, isError, structuredContent });
      }
      answers[transport] = stable({ tools, results });
      await session.close();
    }
    expect(answers.http).toEqual(answers.stdio);
    expect(answers.tcp).toEqual(answers.stdio);
    expect(JSON.stringify(answers.stdio)).toContain('routed_to_approval');
    expect(JSON.stringify(answers.stdio)).toContain('policy_denied_blocked');
  });

  it('speaks both generations of the protocol on every transport', async () => {
    for (const transport of TRANSPORTS) {
      for (const mode of ['legacy', 'auto'] as const) {
        const session = await server.connect(transport, { versionNegotiation: { mode } });
        const { structuredContent } = await session.client.callTool({ name: 'get_mode', arguments: {} });
        expect(structuredContent, `${transport} ${mode}`).toMatchObject({ success: true });
        await session.close();
      }
    }
  });

  it('calls an unknown tool an error of the protocol over MCP and TOOL_NOT_FOUND over REST', async () => {
    for (const transport of TRANSPORTS) {
      const session = await server.connect(transport);
      await expect(session.client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toMatchObject({
        code: -32602,
      });
      await session.close();
    }
    const response = await fetch(`${server.url}/tools/no_such_tool`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await response.json()).toMatchObject({ success: false, error_code: 'TOOL_NOT_FOUND' });
  });

  it('answers the plain requests of the QualCoder document as JSON', async () => {
    const info = await (await fetch(`${server.url}/`)).json();
    expect(info).toMatchObject({
      name: 'countersign',
      mcp_endpoint: 'POST /mcp',
      tools_endpoint: 'GET /tools',
    });
    const rpc = async (method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      const response = await fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect(response.headers.get('content-type')).toContain('application/json');
      return (await response.json()) as {
        id: number;
        result: { tools: { name: string }[]; structuredContent: unknown };
      };
    };
    const list = await rpc('tools/list', {});
    expect(list.id).toBe(7);
    expect(list.result.tools.map(({ name }) => name)).toContain('get_mode');
    const call = await rpc('tools/call', { name: 'get_mode', arguments: {} });
    expect(call.result.structuredContent).toMatchObject({ success: true });
    const rest = await fetch(`${server.url}/tools/get_mode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"arguments": {}}',
    });
    expect(await rest.json()).toMatchObject({ success: true, data: { mode: 'autopilot' } });
  });

  it('explains to a program what is wrong with a plain request instead of showing it the web page', async () => {
    const answer = async (method: string, path: string, body?: string) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${server.url}${path}`, { method, headers, ...(body ? { body } : {}) });
      const { error } = (await response.json()) as { error: string };
      return { status: response.status, allow: response.headers.get('allow'), error };
    };
    expect(await answer('POST', '/tools/get_mode', '{"text":"a"}')).toMatchObject({
      status: 400,
      error: expect.stringContaining('{"arguments": {…}}'),
    });
    expect(await answer('GET', '/tools/get_mode')).toMatchObject({ status: 405, allow: 'POST' });
    expect(await answer('POST', '/tools', '{}')).toMatchObject({ status: 405, allow: 'GET' });
    expect(await answer('GET', '/tools/no_such_tool')).toMatchObject({ status: 404 });
    expect(await answer('GET', '/tools/get_mode/more')).toMatchObject({ status: 404 });
  });

  it('refuses foreign hosts and pages, and unknown tokens', async () => {
    const { request } = await import('node:http');
    const status = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        request(`${server.url}/tools`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .once('error', reject)
          .end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ authorization: 'Bearer cs_wrong' })).toBe(401);
  });

  it('knows an agent by its token on every transport', async () => {
    const token = /cs_\S+/.exec(home.cli('agents', 'add', 'robin'))?.[0] ?? '';
    const meta = { 'countersign/token': token };
    for (const transport of TRANSPORTS) {
      const session = await server.connect(transport, { token });
      const request = { name: 'x_post_tweet', arguments: { text: `by token over ${transport}` } };
      await session.client.callTool(transport === 'tcp' ? { ...request, _meta: meta } : request);
      await session.close();
    }
    const waiting = JSON.parse(home.cli('approvals', 'list', '--json')) as {
      gist: string;
      requester: string;
    }[];
    const mine = waiting.filter(({ gist }) => gist.includes('by token'));
    expect(mine.map(({ requester }) => requester)).toEqual(['agent:robin', 'agent:robin', 'agent:robin']);
  });

  it.each([
    ['not JSON', 'this is not json', -32700],
    ['half of JSON', '{"jsonrpc":"2.0","id":1,', -32700],
    ['an array', '[]', -32600],
    ['no version', '{"id":1,"method":"ping"}', -32600],
    ['params that are no object', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}', -32600],
    [
      'a prototype key',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_mode","arguments":{"__proto__":{"a":1}}}}',
      -32600,
    ],
  ])('answers %s with an error on a line and continues', async (_name, line, code) => {
    const socket = connect(server.tcpPort, '127.0.0.1');
    const lines: string[] = [];
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => lines.push(...chunk.split('\n').filter(Boolean)));
    const call = (id: string): string =>
      `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"get_mode","arguments":{}}}\n`;
    socket.write(`${call('before')}${line}\n${call('after')}`);
    await expect.poll(() => lines.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    socket.destroy();
    const answers = lines.map(
      (text) => JSON.parse(text) as { id: unknown; error?: { code: number }; result?: unknown },
    );
    expect(answers.find(({ error }) => error)?.error?.code).toBe(code);
    expect(answers.find(({ id }) => id === 'after')?.result).toBeDefined();
  });

  it.each([
    ['deep nesting', { text: 'x', more: JSON.parse('['.repeat(300) + ']'.repeat(300)) }],
    ['10 MB of text', { text: 'x'.repeat(10 * 1024 * 1024) }],
    ['an unknown field', { text: 'x', unknown: 1 }],
    ['a wrong type', { text: 42 }],
    ['a NUL', { text: 'a\u0000b' }],
    ['a lone surrogate', { text: '\ud800' }],
  ])('refuses %s with a clear error on every transport and stays up', async (_name, args) => {
    for (const transport of TRANSPORTS) {
      const session = await server.connect(transport);
      const { isError, structuredContent } = await session.client.callTool({
        name: 'x_post_tweet',
        arguments: args,
      });
      expect(isError, transport).toBe(true);
      expect(structuredContent, transport).toMatchObject({
        success: false,
        error: { code: 'invalid_input' },
      });
      const after = await session.client.callTool({ name: 'get_mode', arguments: {} });
      expect(after.isError, transport).toBe(false);
      await session.close();
    }
  });

  it('survives a message nested a hundred thousand levels deep', async () => {
    const socket = connect(server.tcpPort, '127.0.0.1');
    const lines: string[] = [];
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => lines.push(...chunk.split('\n').filter(Boolean)));
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    socket.write(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"get_mode","arguments":{"a":${nested}}}}\n`,
    );
    socket.write(
      '{"jsonrpc":"2.0","id":"after","method":"tools/call","params":{"name":"get_mode","arguments":{}}}\n',
    );
    await expect.poll(() => lines.some((line) => line.includes('"after"')), { timeout: 10_000 }).toBe(true);
    socket.destroy();
    expect(lines.some((line) => line.includes('"deep"'))).toBe(true);
  });

  it('refuses a prototype key over HTTP', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_mode","arguments":{"__proto__":{"polluted":1}}}}';
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await response.json()).toMatchObject({ error: { code: -32600 } });
    const rest = await fetch(`${server.url}/tools/get_mode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"arguments":{"constructor":{"prototype":1}}}',
    });
    expect(await rest.json()).toMatchObject({ success: false });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each(['/mcp', '/tools/get_mode', '/api/sign-out'])(
    'answers 60 strangers at %s before their bodies arrive, and closes their connections',
    async (path) => {
      const port = Number(new URL(server.url).port);
      // Through a proxy, so a token is needed; none of these bodies ends.
      const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: 203.0.113.7\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
      const said = await Promise.all(
        Array.from(
          { length: 60 },
          () =>
            new Promise<string>((resolve) => {
              let text = '';
              const socket = connect(port, '127.0.0.1', () => socket.write(`${head}1\r\n{\r\n`));
              socket.setTimeout(20_000, () => socket.destroy());
              socket.on('timeout', () => resolve(`still open: ${text}`));
              socket.setEncoding('utf8').on('data', (chunk: string) => {
                text += chunk;
              });
              socket.on('error', () => {}).on('close', () => resolve(text));
            }),
        ),
      );
      for (const text of said) expect(text).toMatch(/^HTTP\/1\.1 401 /);
    },
  );
});
