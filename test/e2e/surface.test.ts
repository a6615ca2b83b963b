import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  connectStdio,
  createHome,
  type Home,
  type Server,
  type Session,
  spawnCli,
  startUp,
  TRANSPORTS,
} from './support.ts';

const CONFIG = `toolkits = ["x", "dev"]
[approvals]
agents_may_approve = true
`;

const ENVELOPE = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}}`;
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}';

let home: Home;
let server: Server;
const tokens: Record<string, string> = {};
const sessions: Session[] = [];

beforeAll(async () => {
  home = createHome(CONFIG);
  for (const name of ['ada', 'bob']) tokens[name] = /cs_\S+/.exec(home.cli('agents', 'add', name))?.[0] ?? '';
  server = await startUp(home);
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});
afterAll(async () => {
  await server.stop();
  home.close();
});

type Result = { isError?: boolean; structuredContent?: Record<string, unknown> };

async function as(name: string): Promise<Session['client']> {
  const session = await server.connect('http', { token: tokens[name] });
  sessions.push(session);
  return session.client;
}

const call = async (client: Session['client'], name: string, args: object = {}): Promise<Result> =>
  (await client.callTool({ name, arguments: args as Record<string, unknown> })) as Result;

/** One `tools/call` whose arguments are this very text: a client library would change or refuse it. */
type Send = (tool: string, args: string) => Promise<string>;

const line = (method: string, params: string, id = 1): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}`;
const toolCall = (tool: string, args: string, meta = ''): string =>
  line('tools/call', `"name":"${tool}","arguments":${args}${meta}`);

const post = async (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });

function answerOf(
  out: NodeJS.ReadableStream,
  inp: NodeJS.WritableStream,
  lines: string[],
  id = 1,
): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: out }).on('line', (text) => {
      const { id: got } = JSON.parse(text) as { id: unknown };
      if (got === id || got === null) resolve(text);
    });
    inp.write(`${lines.join('\n')}\n`);
  });
}

const SENDERS: Record<string, Send> = {
  stdio: async (tool, args) => {
    const child = spawnCli(home, ['mcp', 'serve']);
    child.stderr.resume();
    const answer = await answerOf(child.stdout, child.stdin, [
      INITIALIZE,
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      toolCall(tool, args),
    ]);
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin.end();
    await ended;
    return answer;
  },
  tcp: async (tool, args) => {
    const socket = connect(server.tcpPort, '127.0.0.1');
    const answer = await answerOf(socket, socket, [toolCall(tool, args, `,${ENVELOPE}`)]);
    socket.destroy();
    return answer;
  },
  'HTTP of 2026': async (tool, args) =>
    (
      await post(toolCall(tool, args, `,${ENVELOPE}`), {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': tool,
      })
    ).text(),
  'HTTP of 2025': async (tool, args) => {
    const opened = await post(INITIALIZE);
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    return (await post(toolCall(tool, args), headers)).text();
  },
  'HTTP without a handshake': async (tool, args) =>
    (await post(toolCall(tool, args), { accept: 'application/json' })).text(),
  REST: async (tool, args) =>
    (
      await fetch(`${server.url}/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"arguments":${args}}`,
      })
    ).text(),
  'the command line': async (tool, args) => {
    const { stdout, stderr } = home.failing('call', tool, '--args', args);
    return stdout + stderr;
  },
};

function codesOf(tool: string): (string | null)[] {
  const database = new Database(join(home.dir, 'countersign.db'), { readonly: true });
  try {
    const rows = database.prepare('select code from calls where tool = ? order by call_id').all(tool);
    return (rows as { code: string | null }[]).map(({ code }) => code);
  } finally {
    database.close();
  }
}

describe.each(Object.entries(SENDERS))('over %s', (_name, send) => {
  it.each([
    ['a number beyond every range', '1e999'],
    ['an integer that JSON does not carry exactly', '9007199254740993'],
  ])('refuses %s as invalid input and leaves evidence', async (_what, number) => {
    const before = codesOf('approval_request').length;
    const args = `{"tool":"x_post_tweet","arguments":{"n":${number}},"reason":"why"}`;
    const answer = await send('approval_request', args);
    expect(answer).toContain('invalid_input');
    expect(answer).toContain('arguments.n');
    expect(answer).not.toMatch(/\\?"retryable\\?": ?true/);
    await expect.poll(() => codesOf('approval_request').slice(before)).toEqual(['invalid_input']);
  });

  it('refuses a prototype key that is spelt with escapes like a plain one', async () => {
    const plain = await send('get_mode', '{"__proto__":{"a":1}}');
    const escaped = await send('get_mode', String.raw`{"\u005f_proto_\u005F":{"a":1}}`);
    expect(plain).toMatch(/is not allowed/);
    expect(escaped.replace(VARYING, '')).toBe(plain.replace(VARYING, ''));
  });
});

/** What differs between two equal refusals. */
const VARYING = /[0-9a-f]{8}-[0-9a-f-]{27}|"?(elapsed_ms|evidence_hash)\\?":[^,}]+/g;

describe('a list', () => {
  it.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])(
    'refuses a cursor that it never gave (%s)',
    async (method) => {
      for (const transport of TRANSPORTS) {
        const session = await server.connect(transport);
        sessions.push(session);
        const request = { method, params: { cursor: 'made-up' } } as { method: 'tools/list' };
        await expect(session.client.request(request), transport).rejects.toMatchObject({ code: -32602 });
      }
    },
  );
});

describe('pending approvals', () => {
  const listed = async (client: Session['client']): Promise<number[]> => {
    const { structuredContent } = await call(client, 'list_pending_approvals');
    const { data } = structuredContent as { data: { items: { id: number }[] } };
    return data.items.map(({ id }) => id);
  };
  const inResource = async (client: Session['client']): Promise<{ id: number; tool: string }[]> => {
    const { contents } = await client.readResource({ uri: 'countersign://approvals/pending' });
    return JSON.parse((contents[0] as { text: string }).text) as { id: number; tool: string }[];
  };

  it('are the same in the resource and in the list, with permits and what the agent may decide', async () => {
    const [ada, bob] = [await as('ada'), await as('bob')];
    const text = 'A permit of ada';
    const { structuredContent: permit } = await call(ada, 'approval_request', {
      tool: 'x_delete_tweet',
      arguments: { tweet_id: '1890000000057000171' },
      reason: text,
    });
    const id = permit?.approval_queue_id as number;
    await call(bob, 'x_delete_tweet', { tweet_id: '1890000000057000171' });
    expect(await listed(ada)).toContain(id);
    expect(await listed(bob)).toContain(id);
    for (const client of [ada, bob]) {
      const own = (await inResource(client)).filter(({ tool }) => tool.startsWith('x_'));
      expect(own.map((one) => one.id)).toEqual(await listed(client));
    }
    const { structuredContent: shown } = await call(ada, 'list_pending_approvals');
    const { items } = (shown as { data: { items: { id: number; kind: string }[] } }).data;
    expect(items.find((one) => one.id === id)?.kind).toBe('permit');
  });
});

describe('audit_get', () => {
  it('shows an agent its own calls and reports those of others as not found', async () => {
    const [ada, bob] = [await as('ada'), await as('bob')];
    const { structuredContent } = await call(ada, 'get_mode');
    const id = (structuredContent as { meta: { correlation_id: string } }).meta.correlation_id;
    expect(await call(ada, 'audit_get', { call_id: id })).toMatchObject({
      structuredContent: { call: id },
    });
    expect(await call(bob, 'audit_get', { call_id: id })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'not_found' } },
    });
  });
});

describe('prompts', () => {
  /** Everything a prompt says to a session with these options. */
  const said = async (...args: string[]): Promise<Record<string, string>> => {
    const session = await connectStdio(home, args);
    sessions.push(session);
    const { client } = session;
    const { prompts } = await client.listPrompts();
    const texts: Record<string, string> = {};
    for (const prompt of prompts) {
      const given = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, 'value']));
      const { messages } = await client.getPrompt({ name: prompt.name, arguments: given });
      texts[prompt.name] = JSON.stringify([prompt, messages, client.getInstructions()]);
    }
    return texts;
  };
  const ALL = /\b[a-z]+(_[a-z]+)+\b/g;

  it.each([
    [['--toolkits', 'x,dev', '--profile', 'readonly']],
    [['--toolkits', 'x', '--profile', 'write']],
    [['--toolkits', 'dev', '--profile', 'admin']],
  ])('mention only tools that this session offers (%j)', async (args) => {
    const manifest = (...more: string[]): string[] =>
      (
        JSON.parse(home.cli('mcp', 'manifest', '--format', 'json', ...more)) as { tools: { name: string }[] }
      ).tools.map(({ name }) => name);
    const every = new Set(manifest('--toolkits', 'x,dev,research,assistant', '--profile', 'admin'));
    const offered = new Set(manifest(...args));
    for (const [name, text] of Object.entries(await said(...args))) {
      const named = [...text.matchAll(ALL)].map(([word]) => word).filter((word) => every.has(word));
      expect(
        named.filter((word) => !offered.has(word)),
        name,
      ).toEqual([]);
    }
  });

  it('send a session in discovery mode through call_tool', async () => {
    const { plan_week_of_posts: plan } = await said('--discovery', '--profile', 'admin');
    expect(plan).toMatch(/through call_tool[^"]*compose_tweet|compose_tweet[^"]*through call_tool/s);
  });
});

describe('search_tools', () => {
  it('reports the tools that match, not all of them', async () => {
    const session = await connectStdio(home, ['--discovery', '--profile', 'admin']);
    sessions.push(session);
    const search = async (query: string) => {
      const { structuredContent } = await call(session.client, 'search_tools', { query, limit: 50 });
      return structuredContent as { total: number; tools: { name: string }[] };
    };
    const found = await search('I want to delete a tweet for me');
    expect(found.tools[0]?.name).toBe('x_delete_tweet');
    expect(found.total).toBeLessThan(20);
    expect((await search('the a of to')).total).toBe(0);
    expect((await search('open a pull request')).tools.map(({ name }) => name)).toContain(
      'code_branch_pr_create',
    );
  });
});
