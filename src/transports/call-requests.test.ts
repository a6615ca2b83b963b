import { LOG_LEVEL_META_KEY, ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { plain } from '../catalogue/dialect.ts';
import { LOCAL_AGENT, type Principal } from '../contract/principal.ts';
import { RPC_ERROR } from '../contract/servers.ts';
import type { CallRequest, CallResult } from '../kernel/call/call.ts';
import {
  type Caller,
  callPlainTool,
  callTool,
  foreignMeta,
  identify,
  logSender,
  pick,
  progressSender,
} from './call-tool.ts';
import type { QuestionState } from './legs.ts';
import type { Peer, Served } from './served.ts';
import { closeTasks } from './tasks.ts';

const ADA: Principal = { kind: 'person', id: 'ada' };
const ROBIN: Principal = { kind: 'agent', id: 'robin' };
const CALLER: Caller = {
  client: 'editor 1',
  canAsk: false,
  canLink: false,
  capabilities: {},
  takesTasks: false,
};
const OK: CallResult = {
  callId: 'c1',
  evidenceHash: 'e',
  outcome: { status: 'ok', data: { done: true }, notes: {}, replayed: false },
} as unknown as CallResult;
const PEER: Peer = { transport: 'stdio', connection: 'k1', principal: LOCAL_AGENT };

interface WorldOptions {
  readonly tool?: object;
  readonly dialect?: object;
  readonly result?: (request: CallRequest) => unknown;
  readonly dialogs?: boolean;
  readonly tasks?: number;
}

/** A server with one tool, which remembers the requests that reach the pipeline. */
function world({ tool = {}, dialect = {}, result = () => OK, dialogs = true, tasks = 1 }: WorldOptions = {}) {
  const requests: CallRequest[] = [];
  const errors: unknown[] = [];
  const used = new Set<string>();
  const bound = {
    tool: { name: 'do_it', ...tool },
    toolkit: { id: 'x', dialect: { ...plain, ...dialect } },
    services: async () => ({}),
  };
  const served = {
    dialogs,
    person: ADA,
    shares: { tasks },
    log: { error: (...line: unknown[]) => errors.push(line) },
    modes: () => ({ mode: 'autopilot', approvalMode: false }),
    exposure: { options: { discovery: false }, names: ['do_it'], find: async () => bound },
    authenticate: async (token: string) => (token === 'right' ? ROBIN : undefined),
    firstUse: async (key: string) => !used.has(key) && used.add(key) !== undefined,
    async invoke(request: CallRequest) {
      requests.push(request);
      return result(request);
    },
  } as unknown as Served;
  return { served, bound, requests, errors };
}

const contextOf = (more: object = {}, http?: object) =>
  ({
    mcpReq: {
      _meta: {},
      signal: new AbortController().signal,
      requestState: () => undefined,
      notify: async () => {},
      log: async () => {},
      ...more,
    },
    http,
  }) as unknown as ServerContext;

const minted: QuestionState[] = [];
const codec = {
  mint: async (state: QuestionState) => {
    minted.push(state);
    return 'signed';
  },
} as never;
const call = (served: Served, context = contextOf(), caller = CALLER, params: object = {}, peer = PEER) =>
  callTool(served, peer, caller, { name: 'do_it', arguments: { a: 1 }, ...params }, context, codec);

describe('a request of a client', () => {
  it('reaches the pipeline with who asks, how, and nothing else', async () => {
    const { served, requests, bound } = world();
    const context = contextOf({ _meta: { 'countersign/idempotency_key': 'k', other: 1 } });
    const reply = await call(served, context);
    expect(reply).toMatchObject({ structuredContent: expect.anything(), isError: false });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      bound,
      args: { a: 1 },
      principal: { ...LOCAL_AGENT, label: 'editor 1' },
      transport: 'stdio',
      client: 'editor 1',
      connection: 'k1',
      idempotencyKey: 'k',
      meta: { other: 1, [LOG_LEVEL_META_KEY]: 'debug' },
    });
    expect(requests[0]?.signal).toBe(context.mcpReq.signal);
    expect([requests[0]?.consent, requests[0]?.onProgress]).toEqual([undefined, undefined]);
  });

  it('has no arguments, label or key where none is given', async () => {
    for (const meta of [...['', 5].map((key) => ({ 'countersign/idempotency_key': key })), {}, undefined]) {
      const { served, requests } = world();
      const context = contextOf({ _meta: meta });
      await call(served, context, { ...CALLER, client: undefined }, { arguments: undefined });
      expect(requests[0]).toMatchObject({ args: {}, principal: LOCAL_AGENT, idempotencyKey: undefined });
      expect(requests[0]?.principal).not.toHaveProperty('label');
    }
  });

  it('without questions, tasks and progress is the same by the short way', async () => {
    const { served, requests, bound } = world();
    const { signal } = new AbortController();
    const meta = {
      'countersign/idempotency_key': 'k',
      'countersign/token': 'right',
      progressToken: 1,
      other: 2,
    };
    await callPlainTool(served, PEER, bound as never, { args: { a: 1 }, client: 'editor 1', meta, signal });
    await callPlainTool(served, PEER, bound as never, {
      args: {},
      client: undefined,
      meta: { 'countersign/idempotency_key': 5 },
      signal,
    });
    await callPlainTool(served, PEER, bound as never, { args: {}, client: '', meta: undefined, signal });
    expect(requests[0]).toEqual({
      bound,
      args: { a: 1 },
      principal: { ...ROBIN, label: 'editor 1' },
      transport: 'stdio',
      client: 'editor 1',
      connection: 'k1',
      idempotencyKey: 'k',
      meta: { other: 2, [LOG_LEVEL_META_KEY]: 'debug' },
      signal,
    });
    expect(requests[1]).toMatchObject({ principal: LOCAL_AGENT, idempotencyKey: undefined });
    expect(requests[1]?.principal).not.toHaveProperty('label');
    expect([requests[2]?.meta, requests[2]?.idempotencyKey]).toEqual([undefined, undefined]);
  });

  it('is let go when its connection drops, where the tool outlives its caller', async () => {
    const dropped = new AbortController();
    const http = { req: { signal: dropped.signal } };
    for (const outlivesCaller of [true, false]) {
      const { served, requests } = world({ tool: { outlivesCaller } });
      await call(served, contextOf({}, http));
      const cancel = new AbortController();
      await call(served, contextOf({ signal: cancel.signal }, http));
      await call(served, contextOf({ signal: cancel.signal }));
      cancel.abort();
      expect(requests.map(({ signal }) => signal?.aborted)).toEqual([false, true, true]);
    }
    const { served, requests } = world({ tool: { outlivesCaller: true } });
    await call(served, contextOf({}, http));
    dropped.abort();
    expect(requests[0]?.signal?.aborted).toBe(true);
  });

  it('to a server gets its protocol error as one, and its result untouched', async () => {
    const error = { code: -32_001, message: 'no', data: { why: 1 } };
    const passOn = () => ({ content: [], _meta: { [RPC_ERROR]: error } });
    await expect(call(world({ dialect: { passOn } }).served)).rejects.toMatchObject(error);
    const fine = { dialect: { passOn: () => ({ content: [{ type: 'text', text: 'raw' }] }) } };
    expect(await call(world(fine).served)).toMatchObject({ content: [{ type: 'text', text: 'raw' }] });
  });

  it('over TCP gets the fields of the reply directly too', async () => {
    const { served } = world({ dialect: { direct: () => ({ bare: 1 }) } });
    expect(await call(served, undefined, undefined, {}, { ...PEER, transport: 'tcp' })).toHaveProperty(
      'bare',
      1,
    );
    expect(await call(served)).not.toHaveProperty('bare');
  });
});

describe('who asks', () => {
  it('is the principal of the connection, unless the request shows a token', async () => {
    const { served } = world();
    expect(await identify(served, PEER, undefined)).toBe(LOCAL_AGENT);
    expect(await identify(served, PEER, 5)).toBe(LOCAL_AGENT);
    expect(await identify(served, PEER, 'right')).toEqual(ROBIN);
    expect(await identify(served, { transport: 'http', principal: ROBIN }, undefined)).toBe(ROBIN);
    await expect(identify(served, PEER, 'wrong')).rejects.toThrow('The token is invalid or revoked.');
    expect(await identify(served, { transport: 'tcp', token: 'right' }, undefined)).toEqual(ROBIN);
    await expect(identify(served, { ...PEER, token: 'wrong' }, undefined)).rejects.toThrow('revoked');
  });

  it('must show a token where the transport needs one, and is counted when known', async () => {
    const { served } = world();
    let known = 0;
    const onIdentified = () => {
      known += 1;
    };
    const peer: Peer = { transport: 'tcp', needsToken: true, onIdentified };
    await expect(identify(served, peer, undefined)).rejects.toThrow(
      'Authentication required: pass an agent token in _meta["countersign/token"].',
    );
    await expect(identify(served, peer, 'wrong')).rejects.toBeInstanceOf(ProtocolError);
    expect(known).toBe(0);
    expect(await identify(served, peer, 'right')).toEqual(ROBIN);
    expect(known).toBe(1);
    expect(await identify(served, { transport: 'tcp' }, undefined)).toEqual(LOCAL_AGENT);
  });
});

describe('a tool named through call_tool', () => {
  const reached = { tool: { name: 'inner' } };
  const own = { tool: { name: 'call_tool' } };
  const serving = (discovery: boolean) =>
    ({
      exposure: {
        names: [],
        options: { discovery },
        find: async () => own,
        reach: async (name: string) => (name.trim() === 'inner' ? reached : undefined),
      },
    }) as unknown as Served;

  it('is evaluated itself, with its own arguments', async () => {
    const args = { name: 'inner', arguments: { a: 1 } };
    expect(await pick(serving(true), 'call_tool', args)).toEqual({ owned: reached, args: { a: 1 } });
    expect(await pick(serving(true), 'call_tool', { name: 'inner' })).toEqual({ owned: reached, args: {} });
  });

  it.each([
    [false, { name: 'inner' }],
    [true, { name: 'unknown' }],
    [true, { name: 5 }],
    [true, { name: 'inner', more: 1 }],
    [true, 'inner'],
  ])('is not replaced with discovery %s and %j', async (discovery, args) => {
    expect(await pick(serving(discovery), 'call_tool', args)).toEqual({ owned: own, args });
    expect(await pick(serving(true), 'other', { name: 'inner' })).toMatchObject({ owned: own });
  });
});

describe('a question to a person', () => {
  const needs = (more: object = {}) => ({
    callId: 'c1',
    outcome: { status: 'needs_person', question: 'Sure?', about: 'shown', ...more },
  });
  const refused = { outcome: { status: 'failed', fault: { code: 'refused', message: 'no' }, notes: {} } };

  it('goes to the client with a state that is bound to this call', async () => {
    const { served } = world({ result: () => needs() });
    const reply = await call(served, undefined, { ...CALLER, canAsk: true });
    expect(reply).toMatchObject({
      requestState: 'signed',
      inputRequests: {
        decision: {
          method: 'elicitation/create',
          params: {
            message: 'Sure?',
            requestedSchema: { required: ['confirm'], properties: { confirm: { type: 'boolean' } } },
          },
        },
      },
    });
    expect(minted.at(-1)).toMatchObject({ principal: 'agent:local', about: 'shown' });
  });

  it('that needs a signature is a link, or a refusal for a client that opens none', async () => {
    const sign = 'https://inbox.example/sign';
    const { served, requests } = world({
      result: ({ consent }) => (consent === 'can-ask' ? needs({ sign }) : refused),
    });
    const linked = await call(served, undefined, { ...CALLER, canAsk: true, canLink: true });
    expect(linked).toMatchObject({
      inputRequests: { decision: { params: { url: sign, message: 'Sure?' } } },
    });
    expect(requests).toHaveLength(1);
    expect(await call(served, undefined, { ...CALLER, canAsk: true })).toMatchObject({ isError: true });
    expect(requests.slice(1).map(({ consent }) => consent)).toEqual(['can-ask', undefined]);
  });

  const answerWith = async (response: object, more: WorldOptions = {}, change: object = {}) => {
    const { served, requests } = world({ result: () => needs(), ...more });
    await call(served, undefined, { ...CALLER, canAsk: true });
    const state = { ...minted.at(-1), ...change };
    const answer = { requestState: () => state, inputResponses: { decision: response } };
    await call(served, contextOf(answer), { ...CALLER, canAsk: true });
    return requests.at(-1)?.consent;
  };
  const YES = { action: 'accept', content: { confirm: true } };

  it('is answered by a person who agrees, and by nothing less', async () => {
    // Whichever program answered it, the decider is named by the client's dialog.
    const person = { kind: 'person', id: 'ada (dialog of editor 1)' };
    expect(await answerWith(YES)).toEqual({ person, about: 'shown' });
    for (const no of [
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'decline', content: { confirm: true } },
      { action: 'accept', content: { confirm: false } },
      { action: 'accept', content: { confirm: 'true' } },
      { action: 'accept' },
      {},
    ])
      expect(await answerWith(no)).toBeUndefined();
  });

  it('is put again where the answer belongs to a call that waits, or dialogs are off', async () => {
    expect(await answerWith(YES, {}, { parked: 'p' })).toBe('can-ask');
    expect(await answerWith(YES, { dialogs: false })).toBe('can-ask');
  });
});

describe('a tool that may ask its client', () => {
  it('asks with a state of its own, and answers where it asks nothing', async () => {
    const asking = world({
      tool: { asksClient: true },
      result: ({ ask }) => ask?.put({ q: { method: 'roots/list' } }),
    });
    expect(await call(asking.served)).toMatchObject({ requestState: 'signed', inputRequests: { q: {} } });
    expect(minted.at(-1)).toMatchObject({ principal: 'agent:local', parked: expect.any(String) });
    const { served } = world({ tool: { asksClient: true } });
    expect(await call(served)).toMatchObject({ isError: false, structuredContent: expect.anything() });
  });
});

describe('a call as a task', () => {
  const LONG = { mayTakeLong: true };

  it('is refused for a tool that is never long, and not begun for a client that takes none', async () => {
    await expect(call(world().served, undefined, CALLER, { task: {} })).rejects.toThrow(
      'do_it cannot be called as a task. Call it without `task`.',
    );
    expect(await call(world({ tool: LONG }).served)).toHaveProperty('isError', false);
    expect(await call(world().served, undefined, { ...CALLER, takesTasks: true })).toHaveProperty(
      'isError',
      false,
    );
  });

  it('gives a handle, to a client of 2025 in its own form', async () => {
    const { served, requests } = world({ tool: LONG });
    expect(await call(served, undefined, CALLER, { task: {} })).toMatchObject({
      task: { status: 'working' },
    });
    const modern = contextOf({ envelope: {} });
    expect(await call(served, modern, { ...CALLER, takesTasks: true }, { task: {} })).toMatchObject({
      resultType: 'task',
    });
    await closeTasks(served);
    expect(requests.every(({ refusal }) => refusal === undefined)).toBe(true);
  });

  it('is refused by the pipeline when the agent has as many as it may have', async () => {
    const { served, requests } = world({ tool: LONG, tasks: 0 });
    await call(served, undefined, CALLER, { task: {} });
    expect(requests[0]?.refusal).toMatchObject({
      code: 'quota_exceeded',
      detail: { setting: 'server.max_tasks_per_agent', max: 0 },
    });
  });

  it.each([
    [() => OK, { status: 'completed', result: { isError: false } }],
    [
      () => ({ ...OK, outcome: { status: 'failed', fault: { code: 'cancelled', message: 'c' }, notes: {} } }),
      { status: 'cancelled' },
    ],
    [
      () => ({ ...OK, outcome: { status: 'failed', fault: { code: 'internal', message: 'c' }, notes: {} } }),
      { status: 'completed', result: { isError: true } },
    ],
    [
      () => {
        throw new ProtocolError(-32_602, 'bad', { x: 1 });
      },
      { status: 'failed', error: { code: -32_602, message: 'bad', data: { x: 1 } } },
    ],
    [
      () => {
        throw new Error('secret');
      },
      {
        status: 'failed',
        error: { code: -32_603, message: 'Internal error. Details are in the server log.' },
      },
    ],
  ])('ends as its work did: %#', async (result, ending) => {
    const { served, errors } = world({ tool: LONG, result });
    const handle = (await call(served, undefined, CALLER, { task: {} })) as unknown as {
      task: { taskId: string };
    };
    const { boardOf } = await import('./tasks.ts');
    const board = boardOf(served);
    const task = await board.next('agent:local', handle.task.taskId, new AbortController().signal);
    expect(task).toMatchObject(ending);
    const wasLogged = JSON.stringify(ending).includes('Internal error');
    expect(errors).toMatchObject(wasLogged ? [[expect.any(String), { tool: 'do_it' }]] : []);
  });
});

describe('what a server learns of a request', () => {
  const req = (more: object) => more as ServerContext['mcpReq'];
  it('is neither our own fields nor the token of progress', () => {
    const _meta = { progressToken: 1, 'countersign/token': 't', 'x/y': 2 };
    expect(foreignMeta(req({ _meta }))).toEqual({ 'x/y': 2, [LOG_LEVEL_META_KEY]: 'debug' });
    expect(foreignMeta(req({ _meta, envelope: {} }))).toEqual({ 'x/y': 2 });
    expect(foreignMeta(req({ _meta, envelope: { [LOG_LEVEL_META_KEY]: 'error' } }))).toEqual({
      'x/y': 2,
      [LOG_LEVEL_META_KEY]: 'error',
    });
    expect(foreignMeta(req({ envelope: {} }))).toBeUndefined();
  });
});

describe('progress of a call', () => {
  const collect = (token?: unknown) => {
    const sent: object[] = [];
    const notify = async (one: object) => void sent.push(one);
    return { sent, send: progressSender(contextOf({ _meta: { progressToken: token }, notify })) };
  };

  it('is sent only to a client that asked for it', () => {
    expect(collect().send).toBeUndefined();
    expect(collect(0).send).toBeTypeOf('function');
    expect(progressSender(contextOf({ _meta: undefined }))).toBeUndefined();
  });

  it('always grows, by one where no total is known', () => {
    const { sent, send } = collect('t');
    for (const [done, total, message] of [
      [3, undefined, 'a'],
      [3, undefined, ''],
      [2, 10, 'c'],
      [7, 10, 'd'],
    ] as const)
      send?.({ done, total, message } as never);
    expect(sent).toEqual([
      { method: 'notifications/progress', params: { progressToken: 't', progress: 3, message: 'a' } },
      { method: 'notifications/progress', params: { progressToken: 't', progress: 4 } },
      {
        method: 'notifications/progress',
        params: { progressToken: 't', progress: 4 + 1e-6, total: 10, message: 'c' },
      },
      {
        method: 'notifications/progress',
        params: { progressToken: 't', progress: 7, total: 10, message: 'd' },
      },
    ]);
  });

  it('and log messages may fail to be sent', async () => {
    const fail = async () => {
      throw new Error('gone');
    };
    const context = contextOf({ _meta: { progressToken: 1 }, notify: fail, log: fail });
    progressSender(context)?.({ message: 'm', done: 1 } as never);
    logSender(context)?.({ level: 'info', data: 'd', logger: 'l' } as never);
    await new Promise(setImmediate);
    const logged: unknown[] = [];
    logSender(contextOf({ log: async (...line: unknown[]) => void logged.push(line) }))?.({
      level: 'info',
      data: 'd',
      logger: 'l',
    } as never);
    expect(logged).toEqual([['info', 'd', 'l']]);
  });
});
