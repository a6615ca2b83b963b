import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineTransport } from '../../src/transports/stdio.ts';
import { cliCommand, createHome, type Home, type Server, spawnCli, startUp } from './support.ts';

type Order = { message: string; sessionKey: string };
type Entry = (order: Order, token: string) => Promise<{ isError: boolean; text: string }>;

let mock: LLMock;
let home: Home;
let server: Server;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' });
  await mock.start();
  mock.onMessage(/.*/, { content: 'Noted.' });
  home = createHome(`toolkits = ["assistant"]
[assistant]
model = "mock/one"
retries = 0
[assistant.providers.mock]
kind = "openai"
api = "chat"
base_url = "${mock.url}/v1"
api_key = "sk-test"
[[mcp_policy.rules]]
id = "nothing-of-mallory"
priority = 10
principals = ["agent:mallory"]
effects = ["read", "change"]
action = "deny"
`);
  for (const name of ['ada', 'bob', 'mallory']) {
    tokens[name] = /cs_\S+/.exec(home.cli('agents', 'add', name))?.[0] ?? '';
  }
  server = await startUp(home);
});

afterAll(async () => {
  await server.stop();
  await mock.stop();
  home.close();
  rmSync(scripts, { recursive: true });
});

const reading = (result: unknown): { isError: boolean; text: string } => {
  const { isError, content } = result as { isError?: boolean; content: { text: string }[] };
  return { isError: isError === true, text: content.map(({ text }) => text).join('\n') };
};

async function callOver(transport: Transport, order: Order, meta?: Record<string, unknown>) {
  const client = new Client({ name: 'identity', version: '1' });
  await client.connect(transport);
  try {
    const _meta = meta as { [key: string]: unknown } | undefined;
    return reading(await client.callTool({ name: 'order_clawdbot', arguments: order, _meta }));
  } finally {
    await client.close();
  }
}

const onStdio =
  (...args: string[]): Entry =>
  (order, token) =>
    callOver(
      new StdioClientTransport({
        ...cliCommand(home, args, { COUNTERSIGN_TOKEN: token }),
        stderr: 'inherit',
      }),
      order,
    );

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

/** Every way in which an agent can call a tool. A new one must be added here. */
const ENTRIES: Record<string, Entry> = {
  'mcp serve': onStdio('mcp', 'serve'),
  'mcp serve --discovery': async (order, token) => {
    const client = new Client({ name: 'identity', version: '1' });
    await client.connect(
      new StdioClientTransport(
        cliCommand(home, ['mcp', 'serve', '--discovery'], { COUNTERSIGN_TOKEN: token }),
      ),
    );
    const args = { name: 'order_clawdbot', arguments: order };
    const result = reading(await client.callTool({ name: 'call_tool', arguments: args }));
    await client.close();
    return result;
  },
  'mcp-server': onStdio('mcp-server'),
  'HTTP /mcp': (order, token) =>
    callOver(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
      order,
    ),
  'HTTP /mcp without a handshake': async (order, token) => {
    const params = { name: 'order_clawdbot', arguments: order };
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { ...bearer(token), accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    return reading(((await response.json()) as { result: unknown }).result);
  },
  'HTTP /tools': async (order, token) => {
    const response = await fetch(`${server.url}/tools/order_clawdbot`, {
      method: 'POST',
      headers: bearer(token),
      body: JSON.stringify({ arguments: order }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return { isError: body.error !== undefined, text: JSON.stringify(body) };
  },
  TCP: (order, token) => {
    const socket = connect(server.tcpPort, '127.0.0.1');
    const transport = new LineTransport(socket, socket) as unknown as Transport;
    return callOver(transport, order, { 'countersign/token': token }).finally(() => socket.destroy());
  },
};

const SERVER = resolve('test/gateway/scripted-server.mjs');

/** The scripted server notes its starts and calls next to its script, so the script stays out of the repository. */
const scripts = mkdtempSync(join(tmpdir(), 'countersign-identity-'));
const SCRIPT = join(scripts, 'script.json');
const LOOK = { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
writeFileSync(SCRIPT, JSON.stringify({ tools: [LOOK] }));

/** Everything that a client starts. */
const STDIO_COMMANDS = [
  ['mcp', 'serve'],
  ['mcp-server'],
  ['wrap', 'third', '--', process.execPath, SERVER, SCRIPT],
];

const sent = (): string => JSON.stringify(mock.getRequests().at(-1)?.body ?? {});

describe.each(Object.entries(ENTRIES))('an agent at %s', (name, call) => {
  const sessionKey = `shared-${name}`;

  it('never sees the session of another agent that chose the same key', async () => {
    const secret = `The word of ada is saffron-${name}.`;
    expect(await call({ message: secret, sessionKey }, tokens.ada ?? '')).toMatchObject({ isError: false });
    expect(sent()).toContain(secret);
    await call({ message: 'Which word?', sessionKey }, tokens.bob ?? '');
    expect(sent()).toContain('Which word?');
    expect(sent()).not.toContain('saffron');
    await call({ message: 'Which word was it?', sessionKey }, tokens.ada ?? '');
    expect(sent()).toContain(secret);
  });

  it('is denied where a rule denies its principal', async () => {
    const before = mock.getRequests().length;
    const { isError, text } = await call({ message: 'Hello', sessionKey }, tokens.mallory ?? '');
    expect({ isError, text }).toMatchObject({
      isError: true,
      text: expect.stringMatching(/denied|not allowed|nothing-of-mallory/i),
    });
    expect(mock.getRequests()).toHaveLength(before);
  });
});

describe.each(STDIO_COMMANDS)('countersign %j', (...args) => {
  it.each(['unknown', 'revoked', 'empty'])('ends with a message when its token is %s', async (kind) => {
    const name = `gone-${args[0]}`;
    let token = kind === 'empty' ? '' : 'cs_unknown';
    if (kind === 'revoked') {
      token = /cs_\S+/.exec(home.cli('agents', 'add', name))?.[0] ?? '';
      home.cli('agents', 'revoke', name);
    }
    const child = spawnCli(home, args, { COUNTERSIGN_TOKEN: token });
    let stderr = '';
    let stdout = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: COUNTERSIGN_TOKEN is (invalid or revoked|set but empty)\./m);
  });
});

describe('countersign wrap', () => {
  it('denies the tools of its server to a principal that a rule denies, and calls them for others', async () => {
    const [, , ...args] = STDIO_COMMANDS[2] ?? [];
    home.cli('servers', 'add', 'third', '--yes', ...args);
    const look = async (token: string) => {
      const client = new Client({ name: 'identity', version: '1' });
      const command = cliCommand(home, STDIO_COMMANDS[2] ?? [], { COUNTERSIGN_TOKEN: token });
      await client.connect(new StdioClientTransport(command));
      const result = reading(await client.callTool({ name: 'look', arguments: {} }));
      await client.close();
      return result;
    };
    expect(await look(tokens.ada ?? '')).toEqual({ isError: false, text: 'done' });
    expect(await look(tokens.mallory ?? '')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/denied/i),
    });
  });
});

describe('an entry point', () => {
  /** The functions that let an agent in, and the files that call them; a new one belongs to ENTRIES or STDIO_COMMANDS. */
  const CALLERS = {
    'serveOnStdio(': [
      'src/cli/command-host.ts',
      'src/cli/commands/mcp-serve.ts',
      'src/cli/commands/wrap.ts',
      // The type of the one in command-host.ts.
      'src/contract/command.ts',
    ],
    'serveOnTcp(': ['src/cli/commands/mcp-serve.ts', 'src/daemon/up.ts'],
    'serveOnHttp(': ['src/cli/commands/doctor.ts', 'src/daemon/up.ts'],
    'createMcpServer(': ['src/transports/http-mcp.ts', 'src/transports/mcp-server.ts'],
    'createConnectionServer(': ['src/transports/stdio.ts'],
    'serveConnection(': ['src/transports/stdio.ts', 'src/transports/tcp.ts'],
    'app.serveOnStdio(': ['src/toolkits/assistant/cli/mcp-server.ts'],
    'resolvePrincipal(': [
      'src/transports/call-tool.ts',
      'src/transports/http-access.ts',
      'src/transports/identity.ts',
    ],
  };

  it.each(Object.entries(CALLERS))('is known wherever %s…) is called', (call, known) => {
    const pattern = new RegExp(`(?<!function |\\.)\\b${call.replace(/[.(]/g, '\\$&')}`);
    expect(sources().filter((file) => pattern.test(readFileSync(file, 'utf8')))).toEqual(known);
  });
});

const sources = (): string[] =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => join('src', file).replaceAll('\\', '/'))
    .filter(
      (file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file) && !/[/\\]test[/\\]/.test(file),
    )
    .sort();

describe('the agent `local`', () => {
  /** These name it without admitting anyone: the definition, an example for a person, a text. */
  const OTHERS = [
    'src/cli/commands/policy.ts',
    'src/contract/principal.ts',
    'src/kernel/agents.ts',
    'src/kernel/views/agents.ts',
    'src/toolkits/x/approval-view.ts',
    'src/web/api/policy.ts',
    'src/web/routes/bodies.ts',
  ];

  it('is given to a caller in one place only', () => {
    const naming = sources().filter((file) => readFileSync(file, 'utf8').includes('LOCAL_AGENT'));
    expect(naming).toEqual([...OTHERS, 'src/transports/identity.ts'].sort());
  });
});
