import { createInterface } from 'node:readline';
import type { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, spawnCli } from '../../../../test/e2e/support.ts';
import { startModel } from './support/assistant.ts';

type Json = Record<string, unknown>;

/** `countersign mcp-server` as a client's child process; every line it writes to stdout is kept. */
interface Assistant {
  readonly lines: string[];
  stderr(): string;
  request(method: string, params?: Json): Promise<Json>;
  order(args: Json): Promise<OrderReply>;
  /** Closes stdin as a client that leaves does, and gives the exit code. */
  end(): Promise<number | null>;
  kill(): Promise<void>;
}

interface OrderReply {
  readonly content: readonly { type: string; text: string }[];
  readonly structuredContent: Json;
  readonly isError: boolean;
  readonly _meta: Json;
}

async function startAssistant(home: Home, ...options: string[]): Promise<Assistant> {
  const { send, ...assistant } = spawnAssistant(home, ...options);
  await assistant.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'e2e', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return assistant;
}

function spawnAssistant(home: Home, ...options: string[]): Assistant & { send(message: Json): void } {
  const child = spawnCli(home, ['mcp-server', ...options]);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const lines: string[] = [];
  const waiting = new Map<unknown, (message: Json) => void>();
  let stderr = '';
  let last = 0;
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    // A line that is no JSON is found by the test's own check of all lines.
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line) as Json;
    waiting.get(message.id)?.(message);
  });
  const send = (message: Json): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method: string, params: Json = {}): Promise<Json> => {
    last += 1;
    const id = last;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      void ended.then((code) => reject(new Error(`It ended with ${code}:\n${stderr}`)));
      send({ id, method, params });
    });
  };
  return {
    lines,
    send,
    stderr: () => stderr,
    request,
    async order(args) {
      const { result } = await request('tools/call', { name: 'order_clawdbot', arguments: args });
      return result as unknown as OrderReply;
    },
    end() {
      child.stdin.end();
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The rule of stdio: no matter what else happens, each line is one message of the protocol. */
function expectOnlyProtocol({ lines }: Assistant): void {
  const strange = lines.filter((line) => {
    try {
      const { jsonrpc, method, result, error } = JSON.parse(line) as Json;
      return jsonrpc !== '2.0' || [method, result, error].every((part) => part === undefined);
    } catch {
      return true;
    }
  });
  expect(strange).toEqual([]);
  expect(lines.length).toBeGreaterThan(1);
}

const configFor = (mock: LLMock) => `toolkits = ["assistant"]
[assistant]
model = "mock/one"
retries = 0
[assistant.providers.mock]
kind = "openai"
api = "chat"
base_url = "${mock.url}/v1"
api_key = "sk-test"
`;

describe('countersign mcp-server', () => {
  let mock: LLMock;
  let home: Home;
  const started: Assistant[] = [];
  const start = async (...options: string[]): Promise<Assistant> => {
    const assistant = await startAssistant(home, ...options);
    started.push(assistant);
    return assistant;
  };

  beforeEach(async () => {
    mock = await startModel();
    home = createHome(configFor(mock));
  });
  afterEach(async () => {
    for (const assistant of started.splice(0)) await assistant.kill();
    await mock.stop();
    home.close();
  });

  it('lists exactly the documented tool', async () => {
    const assistant = await start();
    const { result } = await assistant.request('tools/list');
    const { tools } = result as { tools: { inputSchema: { properties: Json } }[] };
    expect(tools).toHaveLength(1);
    expect(tools[0]).toMatchObject({
      name: 'order_clawdbot',
      description:
        'Send a message to Clawdbot and receive a response. The message will be processed as if typed by a user.',
      inputSchema: {
        type: 'object',
        properties: {
          message: { type: 'string', description: 'The message to send to Clawdbot' },
          sessionKey: { type: 'string', description: 'Optional session key for conversation continuity' },
        },
        required: ['message'],
      },
    });
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(['message', 'sessionKey']);
  });

  it('answers as documented, gives the generated key to go on with, and ends when the client leaves', async () => {
    mock.onMessage('hello', { content: 'Hi there.' });
    const assistant = await start();
    const reply = await assistant.order({ message: 'hello' });
    expect(reply).toMatchObject({ content: [{ type: 'text', text: 'Hi there.' }], isError: false });
    expect(reply.content).toHaveLength(1);
    const key = String(reply.structuredContent.sessionKey);
    expect(key).toMatch(/^mcp-\d{13}-[0-9a-f]{24}$/);
    expect(Object.values(reply._meta)).toContain(key);
    const second = await assistant.order({ message: 'hello' });
    expect(second.structuredContent.sessionKey).not.toBe(key);
    expect(await assistant.end()).toBe(0);
    expectOnlyProtocol(assistant);
  });

  it('remembers the favorite color for another process at the same time and after a restart', async () => {
    const sessionKey = 'user-123-conversation';
    mock.onMessage('Remember that', { content: 'I will.' });
    mock.onMessage("What's my favorite color?", (request) => ({
      content: JSON.stringify(request.messages).includes('favorite color is blue')
        ? 'Blue.'
        : 'You never said.',
    }));
    const first = await start();
    const second = await start();
    const told = await first.order({ message: 'Remember that my favorite color is blue.', sessionKey });
    expect(told.content[0]?.text).toBe('I will.');
    const question = "What's my favorite color?";
    expect((await second.order({ message: question, sessionKey })).content[0]?.text).toBe('Blue.');
    expect((await second.order({ message: question, sessionKey: 'another' })).content[0]?.text).toBe(
      'You never said.',
    );
    await first.kill();
    expect(await second.end()).toBe(0);
    const third = await start();
    expect((await third.order({ message: question, sessionKey })).content[0]?.text).toBe('Blue.');

    const { sessions } = JSON.parse(home.cli('sessions', '--json')) as { sessions: Json[] };
    expect(sessions.map(({ key }) => key).sort()).toEqual(['another', sessionKey]);
    expect(home.cli('sessions', '--active', '60')).toContain(sessionKey);
    expect(home.cli('sessions', '--store', 'file')).toContain('Sessions listed: 2');
    expect(home.failing('sessions', '--active', 'soon').status).toBe(1);
  });

  it('gives each failure as isError with a code, and writes nothing but protocol under --verbose', async () => {
    mock.onMessage('locked', { error: { message: 'Incorrect API key provided: sk-test' }, status: 401 });
    mock.onMessage('garbled', { content: 'never seen' }, { chaos: { malformedRate: 1 } });
    mock.onMessage('broken', { content: 'never seen' }, { chaos: { disconnectRate: 1 } });
    mock.onMessage('crowded', { error: { message: 'slow down' }, status: 429 });
    mock.onMessage('hello', { content: 'Hi there.' });
    const assistant = await start('--verbose');
    const failures = [
      [{ message: 'locked' }, 'assistant_auth'],
      [{ message: 'garbled' }, 'assistant_error'],
      [{ message: 'broken' }, 'assistant_error'],
      [{ message: 'crowded' }, 'assistant_rate_limited'],
      [{ message: '' }, 'invalid_input'],
      [{ message: 'hello', sessionKey: 'agent:main' }, 'invalid_input'],
      [{ message: 'hello', surprise: true }, 'invalid_input'],
      [{}, 'invalid_input'],
    ] as const;
    for (const [args, code] of failures) {
      const reply = await assistant.order(args);
      expect(reply, JSON.stringify(args)).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringMatching(/^Error: \S/) }],
        structuredContent: { error: { code } },
      });
    }
    const unknown = await assistant.request('tools/call', { name: 'nothing', arguments: {} });
    expect(unknown).toMatchObject({ error: { code: -32602 } });
    const key = 'a-private-key';
    const reply = await assistant.order({ message: 'hello, this is private', sessionKey: key });
    expect(reply.isError).toBe(false);
    expect(await assistant.end()).toBe(0);
    expectOnlyProtocol(assistant);
    const told = assistant.stderr();
    expect(told).toContain('order_clawdbot');
    expect(told).toContain('assistant_auth');
    for (const secret of ['sk-test', key, 'this is private']) expect(told).not.toContain(secret);
    expect(assistant.lines.join('\n')).not.toContain('sk-test');
  });

  it('says what to configure when nothing is, still over the protocol alone', async () => {
    const bare = createHome('toolkits = ["assistant"]\n');
    try {
      const assistant = await startAssistant(bare, '-v');
      const reply = await assistant.order({ message: 'hello' });
      expect(reply).toMatchObject({
        isError: true,
        content: [
          { text: expect.stringMatching(/^Error: No model is configured\. Set \[assistant\] model/) },
        ],
        structuredContent: { error: { code: 'assistant_not_configured' } },
      });
      expect(await assistant.end()).toBe(0);
      expectOnlyProtocol(assistant);
    } finally {
      bare.close();
    }
  });

  it('gives a handle to a client of 2026 that takes tasks, and keeps the work when that client leaves', async () => {
    let asked: () => void = () => {};
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let times = 0;
    mock.onMessage('long work', () => {
      times += 1;
      asked();
      return times === 1 ? new Promise(() => {}) : { content: 'Finished.' };
    });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'e2e', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const args = { message: 'long work', sessionKey: 'user-123-conversation' };
    const modern = spawnAssistant(home);
    started.push(modern);
    const call = { name: 'order_clawdbot', arguments: args, _meta };
    const { result } = await modern.request('tools/call', call);
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    await wasAsked;
    const { taskId } = result as { taskId: string };
    const looked = await modern.request('tasks/get', { taskId, _meta });
    expect(looked).toMatchObject({ result: { resultType: 'complete', taskId, status: 'working' } });
    expect(await modern.end()).toBe(0);
    expectOnlyProtocol(modern);

    const later = await start();
    const reply = await later.order(args);
    expect(reply.content[0]?.text).toBe('Finished.');
    expect(reply.content[1]?.text).toMatch(
      /^Note: This order was interrupted after .* and has been resumed\.$/,
    );
  });

  it('does not write to stdout when the configuration cannot be read', () => {
    const wrong = createHome('[assistant]\nmodel = "no-provider"\n');
    try {
      const { status, stdout, stderr } = wrong.failing('mcp-server');
      expect(status).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr).toContain('PROVIDER/MODEL');
    } finally {
      wrong.close();
    }
  });

  it('prints a version line of its own, and its options', () => {
    expect(home.cli('mcp-server', '--version')).toMatch(/^clawdbot-mcp-server \d+\.\d+\.\d+\n$/);
    const help = home.cli('mcp-server', '-h');
    expect(help).toMatch(/-v, --verbose +Enable verbose logging for debugging/);
    expect(help).toMatch(/--version +Print MCP server version and exit/);
    expect(help).toMatch(/-h, --help +display help for command/);
  });
});
