import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ToolError } from '../../contract/errors.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { Outcome, Settlement } from '../../contract/outcome.ts';
import type { Approval, Log } from '../../contract/ports.ts';
import { LOCAL_AGENT } from '../../contract/principal.ts';
import type { ReconcileContext, Tool, ToolContext } from '../../contract/tool.ts';
import type { Ports } from '../ports.ts';
import type { CallRequest, CallState } from './call.ts';
import { createContext, Deadline, runHandler } from './run.ts';
import { DONE, rawCall, toolNamed, validCall } from './steps.fixture.ts';

const NOW = new Date('2026-03-02T10:30:00Z');
const blind = toolNamed('ledger_write_blind');
const read = toolNamed('ledger_read');
type Context = ToolContext<unknown>;

const said: [string, object | undefined][] = [];
const say = (message: string, fields?: object): void => void said.push([message, fields]);
const log: Log = { debug: say, info: say, warn: say, error: say };
const portsWith = (more: object = {}): Ports =>
  ({
    log,
    limits: { deadlineMs: 5_000 },
    now: () => NOW,
    ...more,
  }) as unknown as Ports;

afterEach(() => {
  said.length = 0;
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Sets the clock that deadlines read; returns a way to move it. */
const stopClock = () => {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return (ms: number): void => {
    now += ms;
  };
};
const faultOf = (outcome: Outcome): ToolError => {
  if (!('fault' in outcome)) throw new Error(`No fault: ${outcome.status}`);
  return outcome.fault;
};

describe('what a handler is given', () => {
  const contextOf = (call: CallState, ports = portsWith(), deadline?: Deadline): Context =>
    createContext(call, {}, ports, deadline);

  it('is the call as the transport handed it over', () => {
    const ask = { capabilities: {}, put: async () => ({}) };
    const task = { begin() {} };
    const onLog = () => {};
    const meta = { progressToken: 1 };
    const call = rawCall(blind, {}, { ask, task, onLog, meta });
    const decider = { kind: 'person', id: 'ada' } as const;
    const shown = new Set([1]);
    Object.assign(call, { decider, shown, isPrepared: true });
    const context = contextOf(call);
    expect(context.callId).toBe(call.id);
    expect(context.principal).toBe(LOCAL_AGENT);
    expect([context.decider, context.shown, context.isPrepared]).toEqual([decider, shown, true]);
    expect([context.ask, context.task, context.log, context.meta]).toEqual([ask, task, onLog, meta]);
    expect(context.now()).toBe(NOW);
    expect(context.approval).toBeUndefined();
  });

  it('names its connection, or else the caller and its client', () => {
    const connectionOf = (more: Partial<CallRequest>) => contextOf(rawCall(blind, {}, more)).connection;
    expect(connectionOf({ connection: 'c1', client: 'Claude' })).toBe('c1');
    expect(connectionOf({ client: 'Claude' })).toBe('agent:local Claude');
    expect(connectionOf({})).toBe('agent:local ');
  });

  it('is what a handler may know of the approval, and no more', () => {
    const call = rawCall(blind, {});
    const decidedBy = { kind: 'person', id: 'ada' };
    const binding = { base: 'abc' };
    const known = { id: 3, uuid: 'u', digest: 'd', binding };
    call.grant = { ...known, decidedBy, feedback: 'for people', args: {} } as unknown as Approval;
    expect(contextOf(call).approval).toEqual({ ...known, approver: decidedBy });
  });

  it('has the signal of the deadline, else that of the caller, else one that never fires', () => {
    const { signal } = new AbortController();
    const deadline = new Deadline(1_000, signal);
    const call = rawCall(blind, {}, { signal });
    expect(contextOf(call, portsWith(), deadline).signal).toBe(deadline.signal);
    expect(contextOf(call).signal).toBe(signal);
    expect(contextOf(rawCall(blind, {})).signal.aborted).toBe(false);
    deadline.close();
  });

  it('reports progress to a caller that waits for it', () => {
    const heard: unknown[] = [];
    const { progress } = contextOf(rawCall(blind, {}, { onProgress: (one) => heard.push(one) }));
    progress('half', 1, 2);
    progress('somewhere');
    expect(heard).toEqual([
      { message: 'half', done: 1, total: 2 },
      { message: 'somewhere', done: 0, total: undefined },
    ]);
    expect(() => contextOf(rawCall(blind, {})).progress('unheard')).not.toThrow();
  });

  it('keeps artifacts, notes, facts and attachments on the call', async () => {
    const ref = { id: 'sha256:a', name: 'a.txt', mediaType: 'text/plain', size: 1 };
    const stored: unknown[] = [];
    const write = async (...given: unknown[]) => {
      stored.push(given);
      return ref;
    };
    const call = rawCall(blind, {}, { principal: { ...LOCAL_AGENT, orderedBy: 'person:ada' } });
    const { artifact, note, evidence, attach } = contextOf(call, portsWith({ artifacts: { write } }));
    expect(await artifact('a.txt', 'text/plain', 'a')).toBe(ref);
    note({ a: 1 });
    note({ b: 2 });
    evidence({ tests: 3 });
    attach({ type: 'text', text: 'more' });
    expect(stored).toEqual([['a.txt', 'text/plain', 'a']]);
    expect(call.artifacts).toEqual([ref]);
    expect(call.notes).toEqual({ a: 1, b: 2 });
    expect(call.evidence).toEqual({ ordered_by: 'person:ada', tests: 3 });
    expect(call.attachments).toEqual([{ type: 'text', text: 'more' }]);
  });
});

describe('a call that is part of another', () => {
  const invoked: CallRequest[] = [];
  const partOf = async (
    part: Tool,
    outcome: Outcome,
    more: Partial<CallRequest> = {},
    toolkit = 'ledger',
  ) => {
    invoked.length = 0;
    const whole = rawCall(toolNamed('ledger_batch'), {}, more);
    const { bound } = rawCall(part, {}).request;
    const ports = portsWith({
      resolve: async () => ({ ...bound, toolkit: { ...bound.toolkit, id: toolkit } }),
      async invoke(request: CallRequest) {
        invoked.push(request);
        return { outcome };
      },
    });
    const ask = { capabilities: {}, put: async () => ({}) };
    const { call } = createContext(whole, {}, ports);
    const answer = await call(part.name, { text: 'a' }, { idempotencyKey: 'k', ask });
    return { whole, answer, ask };
  };

  it('comes from the same caller, with its own key, and is answered as it is', async () => {
    const { signal } = new AbortController();
    const more = { client: 'Claude', connection: 'c1', signal, reason: 'because', idempotencyKey: 'whole' };
    const { whole, answer, ask } = await partOf(blind, DONE, more);
    expect(answer).toBe(DONE);
    expect(invoked).toEqual([
      {
        bound: expect.objectContaining({ tool: blind }),
        args: { text: 'a' },
        principal: LOCAL_AGENT,
        transport: 'test',
        client: 'Claude',
        connection: 'c1',
        signal,
        idempotencyKey: 'k',
        ask,
        reason: 'because',
        parent: whole,
      },
    ]);
  });

  it('has no key and no one to ask unless the handler says so, and ends with the deadline of the whole', async () => {
    const requests: CallRequest[] = [];
    const whole = rawCall(toolNamed('ledger_batch'), {}, { signal: new AbortController().signal });
    const ports = portsWith({
      resolve: async () => rawCall(blind, {}).request.bound,
      async invoke(request: CallRequest) {
        requests.push(request);
        return { outcome: DONE };
      },
    });
    const deadline = new Deadline(1_000);
    await createContext(whole, {}, ports, deadline).call('ledger_write_blind', {});
    const [request] = requests;
    expect([request?.idempotencyKey, request?.ask]).toEqual([undefined, undefined]);
    expect(request?.signal).toBe(deadline.signal);
    deadline.close();
  });

  it('marks the whole as partly done only where it changed something, or may have', async () => {
    const fault = new ToolError('indeterminate', 'Unknown.');
    const failed: Outcome = { status: 'failed', fault };
    for (const [tool, outcome, isDone] of [
      [blind, DONE, true],
      [blind, { status: 'indeterminate', fault }, true],
      [blind, failed, false],
      [read, DONE, false],
    ] as const)
      expect((await partOf(tool, outcome)).whole.partDone).toBe(isDone);
  });

  it('is not made of a tool of another toolkit, or of one that is missing', async () => {
    await expect(partOf(blind, DONE, {}, 'x')).rejects.toMatchObject({ code: 'internal' });
    expect(invoked).toEqual([]);
    const ports = portsWith({ resolve: async () => undefined });
    const { call } = createContext(rawCall(blind, {}), {}, ports);
    await expect(call('gone', {})).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('running a handler', () => {
  const run = async (more: Partial<Tool>, request: Partial<CallRequest> = {}) => {
    const call = await validCall({ ...blind, ...more }, { text: 'a' }, request);
    const outcome = await runHandler(portsWith())(call, async () => {
      throw new Error('Nothing comes after it.');
    });
    return { call, outcome };
  };
  const failing = (error: unknown, before: (context: Context) => void = () => {}) => ({
    async run(_args: unknown, context: Context): Promise<JsonValue> {
      before(context);
      throw error;
    },
  });

  it('gives null where the handler returns nothing', async () => {
    const { outcome } = await run({ run: async () => undefined as unknown as JsonValue });
    expect(outcome).toEqual({ status: 'ok', data: null, notes: {}, replayed: false, content: [] });
  });

  it('keeps what the remote server said and what the tool noted when it fails', async () => {
    const fault = new ToolError('server_error', 'No.', { result: { isError: true } });
    const { outcome } = await run(failing(fault, ({ note }) => note({ backend: 'b' })));
    expect(outcome).toEqual({
      status: 'failed',
      fault,
      data: { isError: true },
      notes: { backend: 'b' },
    });
  });

  it('stops after the time of the tool, or that of all calls', async () => {
    const pass = stopClock();
    const late = (ms: number) => failing(new Error('aborted'), () => pass(ms));
    const message = async (more: Partial<Tool>) => faultOf((await run({ effect: 'read', ...more })).outcome);
    expect(await message({ ...late(5_000) })).toMatchObject({
      code: 'timeout',
      message: 'ledger_write_blind did not finish within 5 s.',
      effect: 'unknown',
      cause: { message: 'aborted' },
    });
    expect(await message({ ...late(3_000), deadlineMs: 3_000 })).toMatchObject({
      message: 'ledger_write_blind did not finish within 3 s.',
    });
    expect(said).toEqual([]);
    expect(await message({ ...late(5_000), deadlineMs: 6_000 })).toMatchObject({ code: 'internal' });
  });

  it('names the caller that gave up', async () => {
    const caller = new AbortController();
    const more = failing(new Error('aborted'), () => caller.abort());
    const { outcome } = await run({ ...more, effect: 'read' }, { signal: caller.signal });
    expect(faultOf(outcome)).toMatchObject({
      code: 'cancelled',
      message: 'The client cancelled ledger_write_blind.',
      effect: 'unknown',
    });
  });

  it('leaves open what an unexpected failure of a change did, and logs it with its call', async () => {
    const bug = new TypeError('a bug');
    const { call, outcome } = await run(failing(bug, ({ note }) => note({ backend: 'b' })));
    expect(outcome).toMatchObject({
      status: 'indeterminate',
      fault: { detail: { call_id: call.id, cause: 'internal' }, cause: { code: 'internal', cause: bug } },
      notes: { backend: 'b' },
    });
    expect(said).toEqual([
      ['A tool failed unexpectedly', { call: call.id, tool: 'ledger_write_blind', error: bug }],
    ]);
    const broken = Object.assign(new Error('terminating connection'), { code: '57P01' });
    expect(faultOf((await run({ ...failing(broken), effect: 'read' })).outcome)).toMatchObject({
      code: 'db_error',
      cause: broken,
      effect: 'unknown',
    });
  });

  it('begins what outlives its caller also when the caller has left', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    const work = { run: async () => ({ written: 'a' }) };
    expect((await run({ ...work, outlivesCaller: true }, { signal })).outcome.status).toBe('ok');
    expect((await run({ ...work, effect: 'read' }, { signal })).outcome.status).toBe('failed');
  });

  it('leaves no timer behind, whatever the outcome', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const look = ({ signal }: Context): void => {
      expect(signal.aborted).toBe(false);
      expect(vi.getTimerCount()).toBe(1);
    };
    const fault = new ToolError('unavailable', 'Closed.');
    expect((await run(failing(fault, look))).outcome.status).toBe('failed');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a failure that may have had an effect', () => {
  const settle = async (reconcile: Tool['reconcile'], options: object = {}, message = 'No answer.') => {
    const call = await validCall(
      {
        ...blind,
        async run(_args, { note }) {
          note({ backend: 'b' });
          throw new ToolError('timeout', message, { effect: 'unknown', ...options });
        },
        reconcile,
      },
      { text: 'a' },
    );
    const outcome = await runHandler(portsWith())(call, async () => DONE);
    return { call, outcome };
  };

  it('is reconciled with the ID and time of its call, and some time to do so', async () => {
    let given: ReconcileContext<unknown> | undefined;
    const { call, outcome } = await settle(async (_args, context) => {
      given = context;
      return { settled: 'done', data: { written: 'a' } };
    });
    expect(given).toMatchObject({ services: {}, callId: call.id, startedAt: call.startedAt });
    expect(given?.signal.aborted).toBe(false);
    expect(outcome).toEqual({
      status: 'ok',
      data: { written: 'a' },
      notes: { backend: 'b' },
      replayed: false,
    });
  });

  it('did nothing where that is found, and keeps its details', async () => {
    const resetAt = new Date('2026-03-02T11:00:00Z');
    const notDone = async (): Promise<Settlement> => ({ settled: 'not_done' });
    const options = { detail: { id: 7 }, resetAt, cause: new Error('socket') };
    const { outcome } = await settle(notDone, options, 'No answer');
    expect(outcome).toMatchObject({ status: 'failed', notes: { backend: 'b' } });
    expect(faultOf(outcome)).toMatchObject({
      code: 'timeout',
      message: 'No answer. Reconciliation found that it did not happen.',
      effect: 'none',
      ...options,
    });
  });

  it('stays unknown, with its details, where reconciling cannot say or fails', async () => {
    const unknown = await settle(async () => ({ settled: 'unknown', why: 'no list' }), {
      detail: { id: 7 },
    });
    expect(unknown.outcome).toMatchObject({ status: 'indeterminate', notes: { backend: 'b' } });
    expect(faultOf(unknown.outcome)).toMatchObject({
      code: 'indeterminate',
      detail: { id: 7, call_id: unknown.call.id, cause: 'timeout' },
      cause: { code: 'timeout' },
    });
    expect(said).toEqual([]);
    const error = new Error('offline');
    const { call, outcome } = await settle(() => Promise.reject(error));
    expect(outcome.status).toBe('indeterminate');
    expect(said).toEqual([
      ['Could not reconcile a failed call', { call: call.id, tool: 'ledger_write_blind', error }],
    ]);
  });
});
