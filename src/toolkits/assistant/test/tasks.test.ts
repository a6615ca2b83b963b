import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../../app/app.ts';
import { createServed } from '../../../app/serving.ts';
import { serveOnHttp } from '../../../transports/http.ts';
import { startModel } from './support/assistant.ts';

type Json = Record<string, unknown>;
type Listening = Awaited<ReturnType<typeof serveOnHttp>>;

const TASKS = 'io.modelcontextprotocol/tasks';

let mock: LLMock;
let home: string;
let app: App;
let listening: Listening;

const listen = async (...toolkits: string[]): Promise<Listening> => {
  const served = await createServed(app, { toolkits, profile: app.config.profile, discovery: false });
  return serveOnHttp(served, { host: '127.0.0.1', port: 0 });
};

beforeEach(async () => {
  mock = await startModel();
  home = mkdtempSync(join(tmpdir(), 'countersign-tasks-'));
  const config = `toolkits = ["assistant", "x"]
[assistant]
model = "mock/one"
retries = 0
[assistant.providers.mock]
kind = "openai"
api = "chat"
base_url = "${mock.url}/v1"
api_key = "sk-test"
`;
  writeFileSync(join(home, 'config.toml'), config, { mode: 0o600 });
  app = await openApp({ env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } });
  listening = await listen('assistant');
});

afterEach(async () => {
  await listening.close();
  await app.close();
  await mock.stop();
  rmSync(home, { recursive: true, force: true });
});

interface Options {
  readonly declared?: boolean;
  readonly token?: string;
  readonly port?: number;
}

/** A request of 2026 exactly as it goes over the wire; gives the whole JSON-RPC answer. */
async function rpc(method: string, params: Json, options: Options = {}): Promise<Json> {
  const { declared = true, token, port = listening.port } = options;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': declared ? { extensions: { [TASKS]: {} } } : {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  };
  const name = params.taskId ?? params.name;
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  const data = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .at(-1);
  return JSON.parse(data?.slice(6) ?? text) as Json;
}

const result = async (method: string, params: Json, options?: Options): Promise<Json> => {
  const answer = await rpc(method, params, options);
  expect(answer.error).toBeUndefined();
  return answer.result as Json;
};

const order = (args: Json, options?: Options) =>
  result('tools/call', { name: 'order_clawdbot', arguments: args }, options);

async function ended(taskId: unknown, options?: Options): Promise<Json> {
  for (;;) {
    const task = await result('tasks/get', { taskId }, options);
    if (task.status !== 'working') return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A model that answers only on command. */
function slowModel(message: string): { answer(text: string): void; asked: Promise<void> } {
  let answer: (text: string) => void = () => {};
  let wasAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  mock.onMessage(message, () => {
    wasAsked();
    return new Promise((resolve) => {
      answer = (content) => resolve({ content });
    });
  });
  return { asked, answer: (text) => answer(text) };
}

describe('a call that may take long, from a client that declares the tasks extension', () => {
  it('is answered immediately with a handle, and the handle with the answer once it is there', async () => {
    const model = slowModel('long work');
    const created = await order({ message: 'long work', sessionKey: 'k' });
    expect(created).toEqual({
      resultType: 'task',
      taskId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'working',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: expect.any(Number),
      pollIntervalMs: expect.any(Number),
      _meta: expect.any(Object),
    });
    await model.asked;
    const { taskId } = created;
    const working = await result('tasks/get', { taskId });
    expect(working).toMatchObject({ resultType: 'complete', status: 'working', statusMessage: 'Thinking' });
    expect(working).not.toHaveProperty('result');
    model.answer('Finished.');
    const task = await ended(taskId);
    expect(task).toMatchObject({
      resultType: 'complete',
      taskId,
      status: 'completed',
      result: {
        content: [{ type: 'text', text: 'Finished.' }],
        structuredContent: { sessionKey: 'k' },
        isError: false,
      },
    });
    expect(task).not.toHaveProperty('statusMessage');
    expect(await result('tasks/get', { taskId })).toEqual(task);
    expect(await app.kernel.telemetry.calls({ statuses: ['ok'], limit: 10 })).toHaveLength(1);
  });

  it('gives an error of the tool as a completed task', async () => {
    mock.onMessage('hello', { error: { message: 'no' }, status: 401 });
    const { taskId } = await order({ message: 'hello' });
    expect(await ended(taskId)).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { error: { code: 'assistant_auth' } } },
    });
  });

  it('stops when the task is cancelled, and again changes nothing', async () => {
    const model = slowModel('long work');
    const { taskId } = await order({ message: 'long work' });
    await model.asked;
    const ack = await result('tasks/cancel', { taskId });
    expect(ack).toEqual({ resultType: 'complete', _meta: expect.any(Object) });
    const task = await ended(taskId);
    expect(task.status).toBe('cancelled');
    expect(task).not.toHaveProperty('result');
    await result('tasks/cancel', { taskId });
    expect(await result('tasks/get', { taskId })).toEqual(task);
  });

  it('is hidden from every other caller', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    const token = await app.kernel.agents.add('first', app.person);
    const other = await app.kernel.agents.add('second', app.person);
    const { taskId } = await order({ message: 'hello' }, { token });
    expect((await ended(taskId, { token })).status).toBe('completed');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      for (const caller of [{ token: other }, {}])
        expect(await rpc(method, { taskId }, caller)).toMatchObject({ error: { code: -32602 } });
  });

  it('refuses ids that name nothing, and acknowledges unrequested answers', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    const nothing = await rpc('tasks/get', { taskId: 'nothing' });
    expect(nothing).toMatchObject({ error: { code: -32602 } });
    expect(await rpc('tasks/get', {})).toMatchObject({ error: { code: -32602 } });
    const { taskId } = await order({ message: 'hello' });
    const ack = await result('tasks/update', { taskId, inputResponses: { x: { action: 'accept' } } });
    expect(ack).toEqual({ resultType: 'complete', _meta: expect.any(Object) });
    expect((await ended(taskId)).status).toBe('completed');
    for (const method of ['tasks/list', 'tasks/result'])
      expect(await rpc(method, { taskId })).toMatchObject({ error: { code: -32601 } });
  });

  it('lets an order go on elsewhere when the server closes, and the same message finds it', async () => {
    const model = slowModel('long work');
    const args = { message: 'long work', sessionKey: 'k' };
    await order(args);
    await model.asked;
    await listening.close();
    listening = await listen('assistant');
    const { taskId } = await order(args);
    await new Promise((resolve) => setTimeout(resolve, 200));
    model.answer('Finished after all.');
    expect(await ended(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Finished after all.' }, { text: expect.stringMatching(/^Note: /) }] },
    });
    expect(mock.getRequests()).toHaveLength(1);
  });
});

describe('without the declaration', () => {
  it('a call waits for its answer as before', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    const reply = await order({ message: 'hello' }, { declared: false });
    expect(reply).toMatchObject({ resultType: 'complete', content: [{ text: 'Hi.' }], isError: false });
    expect(reply).not.toHaveProperty('taskId');
  });

  it('the methods of tasks ask for it', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await rpc(method, { taskId: 'any' }, { declared: false })).toMatchObject({
        error: { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } },
      });
  });

  it('a client of 2025 finds neither capability nor methods', async () => {
    const send = async (body: Json): Promise<Json> => {
      const response = await fetch(`http://127.0.0.1:${listening.port}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      });
      return (await response.json()) as Json;
    };
    const clientInfo = { name: 'old', version: '1' };
    const capabilities = { extensions: { [TASKS]: {} } };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    const { result: welcome } = await send({ method: 'initialize', params });
    expect((welcome as { capabilities: Json }).capabilities).not.toHaveProperty('extensions');
    expect(await send({ method: 'tasks/get', params: { taskId: 'any' } })).toMatchObject({
      error: { code: -32601 },
    });
  });
});

describe('the capability', () => {
  it('is declared where a tool may take long, and only there', async () => {
    const told = await result('server/discover', {});
    expect(told.capabilities).toMatchObject({ extensions: { [TASKS]: {} } });
    expect(told.capabilities).not.toHaveProperty('tasks');
    const quick = await listen('x');
    try {
      const { port } = quick;
      const { capabilities } = await result('server/discover', {}, { port });
      expect(capabilities).not.toHaveProperty('extensions');
      expect(await rpc('tasks/get', { taskId: 'any' }, { port })).toMatchObject({ error: { code: -32601 } });
    } finally {
      await quick.close();
    }
  });
});
