import type { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import {
  type AssistantOptions,
  modelConfig,
  ok,
  openAssistant,
  openAssistantStore,
  startModel,
  type TestAssistant,
  type TestAssistantStore,
} from '../test/support/assistant.ts';
import { orderClawdbot } from '../tools/order-clawdbot.ts';

let mock: LLMock;
let store: TestAssistantStore;
const opened: TestAssistant[] = [];

const open = (options: Partial<AssistantOptions> = {}) => {
  const assistant = openAssistant({ store, config: modelConfig(mock, 'openai-chat'), ...options });
  opened.push(assistant);
  return assistant;
};

const toToolError = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
};

/** A model that answers on command, and says when it has been asked and when its caller hung up. */
function heldModel(pattern: string) {
  let answer: (text: string) => void = () => {};
  let fail: (status: number) => void = () => {};
  let times = 0;
  const asked = new Promise<void>((resolve) => {
    mock.onMessage(pattern, () => {
      times += 1;
      resolve();
      return new Promise((settle) => {
        answer = (content) => settle({ content });
        fail = (status) => settle({ error: { message: 'no' }, status });
      });
    });
  });
  return { asked, times: () => times, answer: (text: string) => answer(text), fail: (n: number) => fail(n) };
}

const settled = async (assistant: TestAssistant, callId: string): Promise<string> => {
  for (;;) {
    const run = await assistant.services.runs.byCall(callId);
    if (run && run.state !== 'queued' && run.state !== 'running') return run.state;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** What SDK clients send when they give up. */
const GAVE_UP = new Error('MCP error -32001: Request timed out');

beforeEach(async () => {
  mock = await startModel();
  store = await openAssistantStore();
});

afterEach(async () => {
  for (const assistant of opened.splice(0)) await assistant.close();
  await store.close();
  await mock.stop();
});

describe('a caller that times out', () => {
  it('leaves the work going on, and the same message gets its answer without asking the model again', async () => {
    const model = heldModel('long work');
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(
      assistant.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort(GAVE_UP);
    expect(await waiting).toMatchObject({ code: 'timeout', retryable: true, effect: 'none' });
    model.answer('Finished.');
    expect(await settled(assistant, 'first')).toBe('done');
    const again = await assistant.order('long work', { sessionKey: 'k' });
    expect(again.text).toBe('Finished.');
    expect(again.storedAt).not.toBeNull();
    expect(again.notices[0]).toMatch(/same message sent at/);
    expect(model.times()).toBe(1);
  });

  it('joins the work that still continues when it asks again', async () => {
    const model = heldModel('long work');
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(assistant.order('long work', { sessionKey: 'k', signal: caller.signal }));
    await model.asked;
    caller.abort(new DOMException('The operation timed out', 'TimeoutError'));
    await waiting;
    const again = assistant.order('long work', { sessionKey: 'k' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    model.answer('Finished.');
    expect((await again).text).toBe('Finished.');
    expect(model.times()).toBe(1);
  });

  it('gets the answer once: the message after that is a new one', async () => {
    const model = heldModel('long work');
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(
      assistant.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort(GAVE_UP);
    await waiting;
    model.answer('Finished.');
    await settled(assistant, 'first');
    await assistant.order('long work', { sessionKey: 'k' });
    mock.clearFixtures();
    mock.onMessage('long work', { content: 'Done anew.' });
    expect((await assistant.order('long work', { sessionKey: 'k' })).text).toBe('Done anew.');
  });

  it('gets the failure of the work it had left, instead of silence', async () => {
    const model = heldModel('long work');
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(
      assistant.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort(GAVE_UP);
    await waiting;
    model.fail(401);
    expect(await settled(assistant, 'first')).toBe('failed');
    const fault = await toToolError(assistant.order('long work', { sessionKey: 'k' }));
    expect(fault.code).toBe('assistant_auth');
  });

  it('gets nothing of it under another key or as another caller', async () => {
    const model = heldModel('long work');
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(
      assistant.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort(GAVE_UP);
    await waiting;
    model.answer('Secret.');
    await settled(assistant, 'first');
    mock.clearFixtures();
    mock.onMessage('long work', { content: 'Fresh.' });
    expect((await assistant.order('long work', { sessionKey: 'other' })).text).toBe('Fresh.');
    const principal = { kind: 'agent', id: 'bob' } as const;
    expect((await assistant.order('long work', { sessionKey: 'k', principal })).text).toBe('Fresh.');
  });

  it('while its order waits its turn has it done all the same', async () => {
    const model = heldModel('first message');
    mock.onMessage('second message', { content: 'Second.' });
    const assistant = open();
    const first = assistant.order('first message', { sessionKey: 'k' });
    await model.asked;
    const caller = new AbortController();
    const second = toToolError(
      assistant.order('second message', { sessionKey: 'k', signal: caller.signal, callId: 'second' }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    caller.abort(GAVE_UP);
    expect((await second).code).toBe('timeout');
    model.answer('First.');
    expect((await first).text).toBe('First.');
    expect(await settled(assistant, 'second')).toBe('done');
    expect((await assistant.order('second message', { sessionKey: 'k' })).text).toBe('Second.');
  });
});

describe('a caller that cancels', () => {
  it('stops the model call, and the session continues without the message', async () => {
    const model = heldModel('long work');
    mock.onMessage('hello', { content: 'Hi.' });
    const assistant = open();
    const caller = new AbortController();
    const waiting = toToolError(
      assistant.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort('The user pressed stop');
    expect((await waiting).code).toBe('cancelled');
    expect(await settled(assistant, 'first')).toBe('cancelled');
    expect((await assistant.order('hello', { sessionKey: 'k' })).text).toBe('Hi.');
    expect(JSON.stringify(mock.getLastRequest()?.body)).not.toContain('long work');
  });

  it('while waiting its turn leaves the queue', async () => {
    const model = heldModel('first message');
    const assistant = open();
    const first = assistant.order('first message', { sessionKey: 'k' });
    await model.asked;
    const caller = new AbortController();
    const second = toToolError(assistant.order('second', { sessionKey: 'k', signal: caller.signal }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    caller.abort('stop');
    expect((await second).code).toBe('cancelled');
    model.answer('First.');
    await first;
  });

  it('stops work that another process does for it', async () => {
    const model = heldModel('long work');
    const db = store.open();
    const one = open({ db, pace: { leaseMs: 400 } });
    const caller = new AbortController();
    const waiting = toToolError(
      one.order('long work', { sessionKey: 'k', signal: caller.signal, callId: 'first' }),
    );
    await model.asked;
    caller.abort(GAVE_UP);
    await waiting;
    const second = new AbortController();
    const joined = toToolError(open({ db }).order('long work', { sessionKey: 'k', signal: second.signal }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    second.abort('stop');
    expect((await joined).code).toBe('cancelled');
    expect(await settled(one, 'first')).toBe('cancelled');
  });
});

describe('the log', () => {
  it('says what was asked and answered without key, message or answer', async () => {
    mock.onMessage('hello', { content: 'The answer.' });
    mock.onMessage('broken', { error: { message: 'no' }, status: 401 });
    const lines: string[] = [];
    const write = (message: string, fields?: object) => lines.push(`${message} ${JSON.stringify(fields)}`);
    const assistant = open({ log: { debug: write, info: write, warn: write, error: write } });
    await assistant.order('hello, a private message', { sessionKey: 'a-private-key' });
    await toToolError(assistant.order('broken, a private message', { sessionKey: 'a-private-key' }));
    expect(lines.map((line) => line.split(' {')[0])).toEqual([
      'Order received',
      'Order answered',
      'Order received',
      'Order failed',
    ]);
    expect(lines[1]).toContain('"model":"mock/one"');
    expect(lines[3]).toContain('"code":"assistant_auth"');
    expect(lines.join()).not.toMatch(/private|The answer/);
  });
});

describe('a busy session', () => {
  it('says so when the wait becomes too long, and leaves the queue', async () => {
    const model = heldModel('first message');
    const assistant = open({ config: modelConfig(mock, 'openai-chat', { queue_timeout_seconds: 1 }) });
    const first = assistant.order('first message', { sessionKey: 'k' });
    await model.asked;
    const fault = await toToolError(assistant.order('second', { sessionKey: 'k' }));
    expect(fault).toMatchObject({ code: 'busy', retryable: true });
    expect(assistant.progress.some((text) => text.startsWith('Waiting for 1 earlier'))).toBe(true);
    model.answer('First.');
    expect((await first).text).toBe('First.');
  });
});

describe('an order resumed after a crash', () => {
  it('makes the call that was cut short again under the same idempotency key', async () => {
    mock.on(
      { userMessage: 'do it', hasToolResult: false },
      {
        content: 'Starting.',
        toolCalls: [
          { name: 'look', arguments: {}, id: 'call_0' },
          { name: 'post', arguments: { n: 1 }, id: 'call_1' },
        ],
      },
    );
    mock.on({ userMessage: 'do it', hasToolResult: true }, { content: 'Posted.' });
    const look = { name: 'look', effect: 'read', answer: () => ok({ seen: 7 }) };
    const db = store.open();
    const hang = { name: 'post', effect: 'change', answer: () => new Promise<never>(() => {}) };
    // Renewing every minute at best, so that its lease runs out under it as if it were dead.
    const dead = open({ db, tools: [look, hang], pace: { leaseMs: 300_000 } });
    void dead.order('do it', { sessionKey: 'k' }).catch(() => {});
    while (dead.invocations.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    await db
      .updateTable('assistant_runs')
      .set({ lease_until: new Date(0).toISOString() })
      .execute();
    const alive = open({ db, tools: [look, { ...hang, answer: () => ok({ posted: true }) }] });
    const result = await alive.order('do it', { sessionKey: 'k' });
    // What the dead process had gathered is part of the answer too.
    expect(result.text).toBe('Starting.\n\n{"seen":7}\n\n{"posted":true}\n\nPosted.');
    expect(alive.invocations).toHaveLength(1);
    expect(alive.invocations[0]).toEqual(dead.invocations[1]);
  });
});

describe('a process that slept until its leases had run out', () => {
  it('continues with its own orders, and lets no one in the queue presume them dead', async () => {
    const model = heldModel('long work');
    mock.onMessage('hello', { content: 'Hi.' });
    const assistant = open({ pace: { leaseMs: 300_000 } });
    const first = assistant.order('long work', { sessionKey: 'k' });
    await model.asked;
    await store
      .open()
      .updateTable('assistant_runs')
      .set({ lease_until: new Date(0).toISOString() })
      .execute();
    const second = assistant.order('hello', { sessionKey: 'k' });
    expect(await assistant.services.orders.takeOver()).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    model.answer('Finished.');
    expect((await first).text).toBe('Finished.');
    expect(await second).toMatchObject({ text: 'Hi.', notices: [] });
  });
});

describe('an interrupted call, reconciled', () => {
  const reconcile = (assistant: TestAssistant, callId: string) =>
    orderClawdbot.reconcile?.(
      { message: 'x' },
      {
        services: assistant.services,
        callId,
        startedAt: new Date(),
        signal: new AbortController().signal,
      },
    );

  it('is done when its answer is stored, and not done when there is none', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    mock.onMessage('bad', { error: { message: 'no' }, status: 401 });
    const assistant = open();
    await assistant.order('hello', { sessionKey: 'k', callId: 'good' });
    await toToolError(assistant.order('bad', { sessionKey: 'k', callId: 'bad' }));
    expect(await reconcile(assistant, 'good')).toMatchObject({
      settled: 'done',
      data: { text: 'Hi.', sessionKey: 'k' },
    });
    expect(await reconcile(assistant, 'bad')).toEqual({ settled: 'not_done' });
    expect(await reconcile(assistant, 'never heard of')).toEqual({ settled: 'not_done' });
  });
});
