import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshPostgres } from '../../../../test/support/engines.ts';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import {
  type AssistantOptions,
  modelConfig,
  openAssistant,
  openAssistantStore,
  startModel,
  type TestAssistant,
  type TestAssistantStore,
} from '../test/support/assistant.ts';
import { orderClawdbot } from './order-clawdbot.ts';

let mock: LLMock;
let store: TestAssistantStore;
const opened: TestAssistant[] = [];

const open = (options: Partial<AssistantOptions> = {}) => {
  const assistant = openAssistant({ store, config: modelConfig(mock, 'openai-chat'), ...options });
  opened.push(assistant);
  return assistant;
};

const textOf = (request: ChatCompletionRequest): string => JSON.stringify(request.messages);
const lastUser = (request: ChatCompletionRequest): string =>
  String(request.messages.findLast((message) => message.role === 'user')?.content ?? '');

const toToolError = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
};

/** Remembers as a model does: it knows the colour if the conversation it is shown contains it. */
const rememberColours = () => {
  mock.onMessage('Remember that', { content: 'I will remember.' });
  mock.on(
    { userMessage: 'favorite color?', predicate: (request) => textOf(request).includes('color is blue') },
    {
      content: 'Your favorite color is blue.',
    },
  );
  mock.onMessage('favorite color?', { content: 'You never told me.' });
};

const REMEMBER = 'Remember that my favorite color is blue.';
const ASK = "What's my favorite color?";

beforeEach(async () => {
  mock = await startModel();
  store = await openAssistantStore();
});

afterEach(async () => {
  for (const assistant of opened.splice(0)) await assistant.close();
  await store.close();
  await mock.stop();
});

describe('the documented tool', () => {
  it('lists the documented name, description and input schema', () => {
    expect(orderClawdbot.name).toBe('order_clawdbot');
    expect(orderClawdbot.summary).toBe(
      'Send a message to Clawdbot and receive a response. The message will be processed as if typed by a user.',
    );
    expect(orderClawdbot.input.json).toMatchObject({
      type: 'object',
      properties: {
        message: { type: 'string', description: 'The message to send to Clawdbot' },
        sessionKey: { type: 'string', description: 'Optional session key for conversation continuity' },
      },
      required: ['message'],
    });
    expect(orderClawdbot.privateArgs).toEqual(['message', 'sessionKey']);
  });

  it.each(['', '   ', 'main', 'GLOBAL', 'agent:main:main', 'cron:1', 'a\u0000b', 'x'.repeat(513)])(
    'refuses the session key %j',
    async (sessionKey) => {
      const fault = await toToolError(open().order('hello', { sessionKey }));
      expect(fault).toMatchObject({ code: 'invalid_input', detail: { field: 'sessionKey' } });
      expect(mock.getRequests()).toHaveLength(0);
    },
  );

  it('refuses an empty message', async () => {
    expect((await toToolError(open().order(' \n'))).code).toBe('invalid_input');
  });

  it('refuses an order by the assistant itself', async () => {
    const principal = { kind: 'agent', id: 'assistant' } as const;
    expect((await toToolError(open().order('hello', { principal }))).code).toBe('not_allowed');
  });
});

describe('a conversation', () => {
  it('continues with the same session key, in another process and after a restart', async () => {
    rememberColours();
    const sessionKey = 'user-123-conversation';
    const first = open();
    await first.order(REMEMBER, { sessionKey });
    const second = open();
    expect((await second.order(ASK, { sessionKey })).text).toBe('Your favorite color is blue.');
    await first.close();
    await second.close();
    expect((await open().order(ASK, { sessionKey })).text).toBe('Your favorite color is blue.');
  });

  it('continues with the key that was generated for it', async () => {
    rememberColours();
    const assistant = open();
    const { sessionKey } = await assistant.order(REMEMBER);
    expect((await assistant.order(ASK, { sessionKey })).text).toBe('Your favorite color is blue.');
  });

  it('without a key is one of its own each time', async () => {
    rememberColours();
    const assistant = open();
    const one = await assistant.order(REMEMBER);
    const two = await assistant.order(ASK);
    expect(two.text).toBe('You never told me.');
    expect(two.sessionKey).not.toBe(one.sessionKey);
  });

  it('belongs to its caller: another with the same key sees nothing of it', async () => {
    rememberColours();
    const assistant = open();
    const sessionKey = 'shared';
    await assistant.order(REMEMBER, { sessionKey, principal: { kind: 'agent', id: 'ada' } });
    const others = [
      { kind: 'agent', id: 'bob' },
      { kind: 'person', id: 'ada' },
    ] as const;
    for (const principal of others) {
      expect((await assistant.order(ASK, { sessionKey, principal })).text).toBe('You never told me.');
    }
    const again = await assistant.order(ASK, { sessionKey, principal: { kind: 'agent', id: 'ada' } });
    expect(again.text).toBe('Your favorite color is blue.');
  });

  it('takes the key exactly as given: case and spaces count', async () => {
    rememberColours();
    const assistant = open();
    await assistant.order(REMEMBER, { sessionKey: 'User-A' });
    for (const sessionKey of ['user-a', 'User-A ', ' User-A']) {
      expect((await assistant.order(ASK, { sessionKey })).text).toBe('You never told me.');
    }
  });

  it('is not blocked by a message that failed, and does not repeat it to the model', async () => {
    mock.onMessage('broken', { error: { message: 'bad request' }, status: 400 });
    mock.onMessage('hello', { content: 'Hi' });
    const assistant = open();
    await toToolError(assistant.order('broken', { sessionKey: 'k' }));
    expect((await assistant.order('hello', { sessionKey: 'k' })).text).toBe('Hi');
    expect(JSON.stringify(mock.getLastRequest()?.body)).not.toContain('broken');
    const [session] = await assistant.services.sessions.list();
    const entries = await assistant.services.transcript.entries(session?.id ?? '');
    expect(entries.map((entry) => entry.body).join()).toContain('broken');
  });

  it('is condensed when it outgrows the window, with nothing deleted', async () => {
    mock.on({ systemMessage: 'You condense conversations' }, { content: 'SUMMARY: the colour is blue.' });
    mock.onMessage('chapter', { content: 'Noted.' });
    mock.on(
      { userMessage: 'colour?', predicate: (request) => textOf(request).includes('SUMMARY') },
      {
        content: 'Blue.',
      },
    );
    const config = modelConfig(mock, 'openai-chat', { context_tokens: 3_000, max_output_tokens: 500 });
    const assistant = open({ config });
    for (let n = 1; n <= 6; n += 1) {
      await assistant.order(`chapter ${n}: ${'lorem ipsum '.repeat(180)}`, { sessionKey: 'book' });
    }
    expect((await assistant.order('colour?', { sessionKey: 'book' })).text).toBe('Blue.');
    const [session] = await assistant.services.sessions.list();
    expect(session?.compactions).toBeGreaterThan(0);
    const entries = await assistant.services.transcript.entries(session?.id ?? '');
    for (let n = 1; n <= 6; n += 1) {
      expect(entries.some((entry) => entry.body.includes(`chapter ${n}:`))).toBe(true);
    }
    const last = mock.getLastRequest()?.body as ChatCompletionRequest;
    expect(textOf(last)).not.toContain('chapter 1:');
    expect(lastUser(last)).toBe('colour?');
  });

  it('is condensed and asked again when the provider says that it is too long', async () => {
    mock.on({ systemMessage: 'You condense conversations' }, { content: 'SUMMARY' });
    mock.onMessage('first', { content: 'One.' });
    const error = { message: 'prompt is too long: 9999 tokens', code: 'context_length_exceeded' };
    mock.on(
      { userMessage: 'second', predicate: (request) => textOf(request).includes('first') },
      {
        error,
        status: 400,
      },
    );
    mock.on({ userMessage: 'second' }, { content: 'Two.' });
    const assistant = open();
    await assistant.order('first', { sessionKey: 'k' });
    expect((await assistant.order('second', { sessionKey: 'k' })).text).toBe('Two.');
  });
});

describe.each(['sqlite', 'postgres'] as const)('twenty simultaneous calls on %s', (engine) => {
  let shared: TestAssistantStore;
  const processes: TestAssistant[] = [];

  beforeEach(async () => {
    shared =
      engine === 'postgres'
        ? await openAssistantStore(await freshPostgres({ empty: true }))
        : await openAssistantStore();
    mock.on({ userMessage: /^number \d+$/ }, (request) => ({ content: `answer to ${lastUser(request)}` }));
    const config = modelConfig(mock, 'openai-chat');
    const db = shared.open();
    for (let n = 0; n < 3; n += 1) processes.push(openAssistant({ store: shared, config, db }));
  });

  afterEach(async () => {
    for (const assistant of processes.splice(0)) await assistant.close();
    await shared.close();
  });

  const twenty = Array.from({ length: 20 }, (_, n) => n);

  it('on one session each get their own answer, one after the other, over three owners', async () => {
    const results = await Promise.all(
      twenty.map((n) => processes[n % 3]?.order(`number ${n}`, { sessionKey: 'busy' })),
    );
    expect(results.map((result) => result?.text)).toEqual(twenty.map((n) => `answer to number ${n}`));
    const services = processes[0]?.services;
    const [session] = (await services?.sessions.list()) ?? [];
    const entries = (await services?.transcript.entries(session?.id ?? '')) ?? [];
    const said = entries.map((entry) => JSON.parse(entry.body) as { role: string; content: unknown });
    expect(said).toHaveLength(40);
    for (let at = 0; at < said.length; at += 2) {
      expect(said[at]?.role).toBe('user');
      expect(JSON.stringify(said[at + 1]?.content)).toContain(`answer to ${String(said[at]?.content)}"`);
    }
    // Each one was shown all that came before it, so that no two ran side by side.
    const sizes = mock
      .getRequests()
      .map((entry) => (entry.body as JsonObject & { messages: unknown[] }).messages.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual(twenty.map((n) => 2 * n + 2));
  });

  it('on one session of one process are answered in the order they came', async () => {
    const ends: number[] = [];
    await Promise.all(
      twenty.map(async (n) => {
        const result = await processes[0]?.order(`number ${n}`, { sessionKey: 'busy' });
        ends.push(n);
        expect(result?.text).toBe(`answer to number ${n}`);
      }),
    );
    expect(ends).toEqual(twenty);
  });

  it('on twenty sessions each get their own answer', async () => {
    const results = await Promise.all(
      twenty.map((n) => processes[n % 3]?.order(`number ${n}`, { sessionKey: `session ${n}` })),
    );
    expect(results.map((result) => result?.text)).toEqual(twenty.map((n) => `answer to number ${n}`));
    expect(await processes[0]?.services.sessions.count()).toBe(20);
  });
});
