import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServed } from '../../src/app/serving.ts';
import { TASKS_EXTENSION } from '../../src/contract/servers.ts';
import { RAW } from '../../src/gateway/connection.ts';
import { serveOnHttp } from '../../src/transports/http.ts';
import { startConformanceServer } from '../conformance/server.ts';
import { nodeForSuite, runSuite } from '../conformance/suite.ts';
import { openScripted, reader, type ScriptedPlace, tool } from './scripted.ts';
import { EVERYTHING, httpServer, openPlace, type Place, serve, stdioServer } from './support.ts';

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
}

/** A request of a client of 2026 that takes tasks; the SDK's client has no part for them. */
async function modern(url: URL, method: string, params: Record<string, unknown>, token?: string) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS_EXTENSION]: {} } },
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  };
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params.name ?? params.taskId),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  const text = await reply.text();
  return JSON.parse(text.replace(/^[\s\S]*?data: /, '')) as {
    result: Task & { resultType: string; result?: { content: { text: string }[] } };
    error?: { code: number };
  };
}

const legacy = <T>(client: Client, method: string, params: Record<string, unknown>): Promise<T> =>
  client.request({ method, params } as never, RAW) as Promise<T>;

async function pollModern(url: URL, taskId: string) {
  let last = await modern(url, 'tasks/get', { taskId });
  await expect
    .poll(
      async () => {
        last = await modern(url, 'tasks/get', { taskId });
        return last.result.status;
      },
      { timeout: 60_000, interval: 100 },
    )
    .not.toBe('working');
  return last.result;
}

describe('a modern server with tasks behind the gateway', () => {
  let upstream: Awaited<ReturnType<typeof startConformanceServer>>;
  let place: Place;
  let dir: string;
  let node: string;

  beforeAll(async () => {
    node = await nodeForSuite();
    dir = mkdtempSync(join(tmpdir(), 'countersign-tasks-'));
    upstream = await startConformanceServer(dir);
    place = await openPlace(`${httpServer('c', upstream.url)}may_ask = ["elicitation"]\n`);
    await place.trust('c', { slow_compute: 'change', confirm_delete: 'change' });
  }, 300_000);
  afterAll(async () => {
    await place.close();
    await upstream.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each([
    ['lifecycle', 9],
    ['wire-fields', 4],
    ['required-task-error', 3],
    ['mrtr-input', 4],
    ['mrtr-composition', 2],
    ['dispatch-and-envelope', 9],
  ])(
    'passes the scenario tasks-%s of the official suite',
    async (scenario, checks) => {
      const served = await createServed(place.app, {
        toolkits: ['c'],
        profile: 'write',
        discovery: false,
        ownNames: true,
      });
      const listening = await serveOnHttp(served, { host: '127.0.0.1', port: 0 });
      try {
        const url = `http://localhost:${listening.port}/mcp`;
        const run = [
          '--url',
          url,
          '--scenario',
          `tasks-${scenario}`,
          '--force',
          '--spec-version',
          '2026-07-28',
        ];
        expect(await runSuite(node, run)).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`);
      } finally {
        await listening.close();
      }
    },
    120_000,
  );

  it('gives a legacy client a task of its own generation, with one intent and one outcome', async () => {
    const gateway = await serve(place.app, ['c']);
    const client = await gateway.connect();
    try {
      expect(client.getServerCapabilities()).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
      const { task } = await legacy<{ task: Task }>(client, 'tools/call', {
        name: 'c__slow_compute',
        arguments: { seconds: 0.3, label: 'legacy' },
        task: { ttl: 60_000 },
      });
      expect(task).toMatchObject({ status: 'working', ttl: expect.any(Number) });
      const listed = await legacy<{ tasks: Task[] }>(client, 'tasks/list', {});
      expect(listed.tasks.map(({ taskId }) => taskId)).toContain(task.taskId);
      const { taskId } = task;
      const result = await legacy<{ content: { text: string }[]; _meta: object }>(client, 'tasks/result', {
        taskId,
      });
      expect(result.content[0]?.text).toContain('Computed for 0.3 s.');
      expect(result._meta).toMatchObject({ 'io.modelcontextprotocol/related-task': { taskId } });
      expect(await legacy<Task>(client, 'tasks/get', { taskId })).toMatchObject({ status: 'completed' });
      await expect(legacy(client, 'tasks/cancel', { taskId })).rejects.toThrow('already completed');
      const calls = await place.app.kernel.telemetry.calls({ tool: 'c__slow_compute', limit: 100 });
      expect(calls.map(({ status }) => status)).toContain('ok');
    } finally {
      await client.close();
      await gateway.close();
    }
  });
});

describe('a legacy server with tasks behind the gateway', () => {
  let place: Place;
  let gateway: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    place = await openPlace(`${stdioServer('e', EVERYTHING)}may_ask = ["elicitation"]\n`);
    await place.trust('e');
    gateway = await serve(place.app, ['e']);
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await place.close();
  });
  const NAME = 'e__simulate-research-query';

  it('asks a legacy client through tasks/result, and cancels what it cancels', async () => {
    const client = await gateway.connect({ capabilities: { elicitation: { form: {} } } });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { interpretation: 'technical' } };
    });
    const call = { name: NAME, arguments: { topic: 'rivers', ambiguous: true }, task: {} };
    const { task } = await legacy<{ task: Task }>(client, 'tools/call', call);
    const { taskId } = task;
    const result = await legacy<{ content: { text: string }[] }>(client, 'tasks/result', { taskId });
    expect(result.content[0]?.text).toContain('# Research Report: rivers (technical');
    expect(asked).toHaveLength(1);
    const second = await legacy<{ task: Task }>(client, 'tools/call', call);
    const cancelled = await legacy<Task>(client, 'tasks/cancel', { taskId: second.task.taskId });
    expect(cancelled.status).toBe('cancelled');
    // A cancelled change may have happened: nothing says that it did not.
    const [last] = await place.app.kernel.telemetry.calls({ tool: NAME });
    expect(last?.status).toBe('indeterminate');
    await client.close();
  }, 60_000);

  it('gives a modern client a handle, shows the server’s status and keeps it from other principals', async () => {
    const token = await place.app.kernel.agents.add('other', place.app.person);
    const { url } = gateway;
    const started = await modern(url, 'tools/call', { name: NAME, arguments: { topic: 'lakes' } });
    expect(started.result).toMatchObject({ resultType: 'task', status: 'working' });
    const { taskId } = started.result;
    expect((await modern(url, 'tasks/get', { taskId }, token)).error?.code).toBe(-32602);
    expect((await modern(url, 'tasks/cancel', { taskId }, token)).error?.code).toBe(-32602);
    expect((await modern(url, 'tasks/get', { taskId: 'their-task' })).error?.code).toBe(-32602);
    const shown = async () => (await modern(url, 'tasks/get', { taskId })).result.statusMessage;
    await expect.poll(shown, { timeout: 30_000, interval: 100 }).toMatch(/Gathering|Analyzing|Synthesizing/);
    const ended = await pollModern(url, taskId);
    expect(ended.status).toBe('completed');
    expect(ended.result?.content[0]?.text).toContain('# Research Report: lakes');
    const echo = await modern(url, 'tools/call', { name: 'e__echo', arguments: { message: 'x' }, task: {} });
    expect(echo.result.resultType).toBe('complete');
  }, 60_000);

  it('follows the task for a client that takes none, and gives it the result', async () => {
    const client = await gateway.connect();
    const result = await client.callTool({ name: NAME, arguments: { topic: 'seas' } });
    expect(JSON.stringify(result.content)).toContain('# Research Report: seas');
    await expect(
      legacy(client, 'tools/call', { name: 'e__echo', arguments: { message: 'x' }, task: {} }),
    ).rejects.toThrow('cannot be called as a task');
    await client.close();
  }, 60_000);
});

describe('a task of a change', () => {
  let place: ScriptedPlace;
  afterEach(() => place.close());
  const execution = { taskSupport: 'required' };
  const open = async (task: object): Promise<void> => {
    const tools = [tool('act', { execution }), reader('look', { execution })];
    place = await openScripted({ tools, tasks: true, task });
    await place.trust('s');
  };

  it.each([
    ['dies', { exit: 1 }],
    ['no longer knows it', { error: { code: -32602, message: 'Unknown task' } }],
    ['cancels it', { shown: { status: 'cancelled' } }],
  ])('is indeterminate when the server %s, and the call is not sent again', async (_how, task) => {
    await open(task);
    expect((await place.call('s__act', {})).outcome).toMatchObject({ status: 'indeterminate' });
    expect(place.calls()).toHaveLength(1);
    place.script({
      tools: [tool('act', { execution }), reader('look', { execution })],
      tasks: true,
      task: {},
    });
  });

  it('is ok with the server’s own result, and its handle is evidence', async () => {
    const result = { content: [{ type: 'text', text: 'built' }], novel: 1 };
    await open({ shown: { status: 'completed' }, result });
    const { outcome, callId } = await place.call('s__act', {});
    expect(outcome).toMatchObject({ status: 'ok', data: result });
    expect(place.calls()).toMatchObject([{ name: 'act', task: { ttl: expect.any(Number) } }]);
    const { db } = place.app.database;
    const entries = await db.selectFrom('audit_log').select('body').execute();
    const mine = entries.map(({ body }) => body).filter((body) => body.includes(callId));
    expect(mine.filter((body) => body.includes('"intent"'))).toHaveLength(1);
    expect(mine.join('\n')).toContain('their-task');
  });

  it('is cancelled at the server when its call is', async () => {
    await open({ shown: { status: 'working' } });
    const stop = new AbortController();
    const running = place.call('s__act', {}, { signal: stop.signal });
    await expect.poll(() => place.asked().length).toBeGreaterThan(0);
    stop.abort();
    expect((await running).outcome).toMatchObject({ status: 'indeterminate' });
    expect(place.asked().at(-1)).toMatchObject({ method: 'tasks/cancel', taskId: 'their-task' });
  });
});
