import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/engines.ts';
import { openTestKernel, type TestKernel } from '../../test/support/kernel.ts';
import { createExposure } from '../catalogue/exposure.ts';
import type { CallRequest } from '../kernel/call/call.ts';
import type { Served } from './served.ts';
import { LineTransport, serveConnection } from './stdio.ts';

interface Reply {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly isError?: boolean; readonly content?: unknown; readonly _meta?: object };
  readonly error?: { readonly code: number; readonly message: string };
}

describe('plain calls of a lasting connection', () => {
  let store: TestStore;
  let world: TestKernel;
  let requests: CallRequest[];
  let input: PassThrough;
  let replies: Reply[];
  let lastId: number;

  beforeEach(async () => {
    store = await openTestStore('sqlite');
    world = await openTestKernel(store.database, store.dataDir, {
      policy: { blocked_tools: ['ledger_erase'] },
    });
    requests = [];
    const served = {
      name: 'test',
      version: '1',
      instructions: '',
      exposure: createExposure(world.inventory, { toolkits: ['ledger'], profile: 'write', discovery: false }),
      invoke(request: CallRequest) {
        requests.push(request);
        return world.kernel.invoke(request);
      },
      resources: [],
      prompts: [],
      log: { debug() {}, info() {}, warn() {}, error() {} },
      stateKey: new Uint8Array(32),
      dialogs: false,
      modes: () => ({ mode: 'autopilot', approvalMode: false }),
      authenticate: async () => undefined,
    } as unknown as Served;
    input = new PassThrough();
    const output = new PassThrough({ encoding: 'utf8' });
    replies = [];
    output.on('data', (text: string) => {
      for (const line of text.split('\n').filter(Boolean)) replies.push(JSON.parse(line) as Reply);
    });
    serveConnection(new LineTransport(input, output), served, { transport: 'stdio' });
    lastId = 0;
    await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'program', version: '2' },
    });
    send({ method: 'notifications/initialized' });
  });
  afterEach(async () => {
    world.release();
    input.end();
    await world.kernel.flush();
    await store.close();
  });

  const send = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const begin = (method: string, params: object, more: object = {}): number => {
    lastId += 1;
    send({ id: lastId, method, params, ...more });
    return lastId;
  };
  const replyTo = async (id: number): Promise<Reply> => {
    await expect.poll(() => replies.find((reply) => reply.id === id), { timeout: 10_000 }).toBeDefined();
    return replies.find((reply) => reply.id === id) as Reply;
  };
  const ask = (method: string, params: object): Promise<Reply> => replyTo(begin(method, params));
  const call = (name: string, args: object, more: object = {}): Promise<Reply> =>
    ask('tools/call', { name, arguments: args, ...more });
  /** The SDK's way offers a way to send log messages, which a plain call does not need. */
  const wasDirect = (): boolean => requests.at(-1)?.onLog === undefined;
  /** Without what differs from call to call. */
  const told = ({ result, error }: Reply): unknown =>
    JSON.parse(
      JSON.stringify({ result, error }, (key, value) =>
        ['countersign/call_id', 'countersign/evidence_hash'].includes(key) ? undefined : value,
      ).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'),
    );

  it.each([
    ['ledger_read', { echo: 'hello' }],
    ['ledger_read', { fail: true }],
    ['ledger_read', { surprise: 1 }],
    ['ledger_write', { text: 'a', dry_run: true }],
    ['ledger_write_blind', { text: 'a', fail: true }],
    ['ledger_erase', { text: 'a' }],
    ['ledger_permitted', { text: 'a', approval_id: '7' }],
  ])('answer %s with %j as the SDK answers it', async (name, args) => {
    const first = await call(name, args);
    expect(wasDirect()).toBe(false);
    const second = await call(name, args);
    expect(wasDirect()).toBe(true);
    expect(told(second)).toEqual(told(first));
    const [bySdk, direct] = requests;
    expect(direct).toMatchObject({ client: 'program/2', transport: 'stdio', principal: bySdk?.principal });
    expect(direct?.connection).toBe(bySdk?.connection);
  });

  it('refuse a token that is unknown, with the same error', async () => {
    await call('ledger_read', {});
    const [direct, bySdk] = [
      await call('ledger_read', {}, { _meta: { 'countersign/token': 'wrong' } }),
      await call('ledger_read', {}, { _meta: { 'countersign/token': 'wrong', progressToken: 1 } }),
    ];
    expect(direct.error).toMatchObject({ code: -32602, message: 'The token is invalid or revoked.' });
    expect(told(direct)).toEqual(told(bySdk));
    expect(requests).toHaveLength(1);
  });

  it('run once for one idempotency key', async () => {
    await call('ledger_write', { text: 'warm' });
    const more = { _meta: { 'countersign/idempotency_key': 'k' } };
    const [first, second] = [
      await call('ledger_write', { text: 'b' }, more),
      await call('ledger_write', { text: 'b' }, more),
    ];
    expect(wasDirect()).toBe(true);
    expect(second.result?.content).toEqual(first.result?.content);
    expect(second.result?._meta).toMatchObject({ 'countersign/replayed': true });
    expect(await world.lines()).toEqual(['warm', 'b']);
  });

  it('stop when they are cancelled, and are not answered then', async () => {
    await call('ledger_read', {});
    const id = begin('tools/call', { name: 'ledger_read', arguments: { hold: true } });
    await expect.poll(() => requests.length).toBe(2);
    expect(wasDirect()).toBe(true);
    send({ method: 'notifications/cancelled', params: { requestId: id, reason: 'changed my mind' } });
    await expect.poll(() => requests.at(-1)?.signal?.reason).toBe('changed my mind');
    world.release();
    await call('ledger_read', {});
    await call('ledger_read', {});
    expect(replies.filter((reply) => reply.id === id)).toEqual([]);
  });

  it('stop when the connection ends', async () => {
    await call('ledger_read', {});
    begin('tools/call', { name: 'ledger_read', arguments: { hold: true } });
    await expect.poll(() => requests.length).toBe(2);
    expect(wasDirect()).toBe(true);
    input.end();
    await expect.poll(() => requests.at(-1)?.signal?.aborted).toBe(true);
  });

  it.each([
    ['asks for progress', { _meta: { progressToken: 'p' } }],
    ['is to be a task', { task: {} }],
    ['names fields of the protocol', { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } }],
    ['has fields of its own', { extra: true }],
  ])('are left to the SDK where one %s', async (_, more) => {
    await call('ledger_read', {});
    const { result, error } = await call('ledger_read', {}, more);
    expect(result ?? error).toBeDefined();
    if (result) expect(wasDirect()).toBe(false);
  });

  it('are left to the SDK where a message is not a valid request', async () => {
    await call('ledger_read', {});
    const odd = begin('tools/call', { name: 'ledger_read', arguments: {} }, { surprise: true });
    await call('ledger_read', {});
    expect(requests).toHaveLength(2);
    expect(replies.filter(({ id }) => id === odd)).toEqual([]);
    expect((await ask('tools/call', { name: 'ledger_read', arguments: [] })).error).toBeDefined();
    expect((await call('no_such_tool', {})).error).toMatchObject({ code: -32602 });
    expect(requests).toHaveLength(2);
  });

  it('follow the tools that are offered: one that is gone is unknown', async () => {
    await call('ledger_read', {});
    await call('ledger_read', {});
    expect(wasDirect()).toBe(true);
    world.inventory.replace([{ id: 'ledger', load: () => Promise.reject(new Error('gone')), catalogue: [] }]);
    expect((await call('ledger_read', {})).error).toMatchObject({ code: -32602 });
    expect(requests).toHaveLength(2);
  });
});
