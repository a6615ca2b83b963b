import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import { mcpServer } from './cli/mcp-server.ts';
import {
  modelConfig,
  openAssistant,
  openAssistantStore,
  startModel,
  type TestAssistant,
  type TestAssistantStore,
} from './test/support/assistant.ts';
import { toolkit } from './toolkit.ts';

let mock: LLMock;
let store: TestAssistantStore;
let assistant: TestAssistant;

beforeEach(async () => {
  mock = await startModel();
  store = await openAssistantStore();
  assistant = openAssistant({ store, config: modelConfig(mock, 'openai-chat') });
});

afterEach(async () => {
  await assistant.close();
  await store.close();
  await mock.stop();
});

const view = (name: string, params: JsonObject = {}) => {
  const found = toolkit.views?.[name];
  if (!found) throw new Error(`There is no view ${name}.`);
  return found(params, { services: assistant.services, person: { kind: 'person', id: 'ada' } });
};

describe('the toolkit', () => {
  it('has one tool, speaks plain MCP, and names its server as documented', () => {
    expect(toolkit.tools.map(({ name }) => name)).toEqual(['order_clawdbot']);
    expect(toolkit.dialect).toBeUndefined();
    expect(mcpServer.versionLine('1.2.3')).toBe('clawdbot-mcp-server 1.2.3');
  });

  it('shows a person the sessions and their transcripts', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    await assistant.order('hello', { sessionKey: 'one' });
    await assistant.order('hello', { sessionKey: 'two', principal: { kind: 'agent', id: 'bob' } });
    const listed = (await view('sessions', { limit: 1 })) as { total: number; sessions: JsonObject[] };
    expect(listed).toMatchObject({ total: 2, sessions: [{ key: 'two', caller: 'agent:bob' }] });
    const id = String(listed.sessions[0]?.sessionId);
    expect(await view('transcript', { id })).toMatchObject({
      total: 2,
      entries: [{ message: { role: 'user', content: 'hello' } }, { message: { role: 'assistant' } }],
    });
    await expect(view('transcript', { id: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(view('sessions', { limit: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('notifies open pages of every step of an order, and shows whether it is being worked on', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    await assistant.order('hello', { sessionKey: 'one' });
    const { sessions } = (await view('sessions')) as { sessions: JsonObject[] };
    expect(sessions).toMatchObject([{ key: 'one', lastOrder: 'hello', working: false, doing: null }]);
    const session = String(sessions[0]?.sessionId);
    // At least: queued, the message, the answer, the end of the order.
    const told = assistant.events.filter(({ topic }) => topic === 'assistant.changed');
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(told.every(({ data }) => data.session === session)).toBe(true);
    await assistant.services.runs.enqueue(session, 'later', 'and now?');
    expect(await view('transcript', { id: session })).toMatchObject({
      session: { lastOrder: 'and now?', working: true },
    });
  });

  it('reports whether the model answers', async () => {
    mock.onMessage('ready', { content: 'ready' });
    expect(await view('status')).toMatchObject({ backend: 'model', model: 'mock/one', configured: true });
    expect(await view('status', { ping: true })).toMatchObject({ reachable: true });
    mock.clearFixtures();
    mock.onMessage('ready', { error: { message: 'no' }, status: 401 });
    expect(await view('status', { ping: true })).toMatchObject({
      reachable: false,
      problem: { code: 'assistant_auth' },
    });
  });

  it('reports what is missing in the configuration', async () => {
    const bare = openAssistant({ store, config: {} });
    const services = { services: bare.services, person: { kind: 'person', id: 'ada' } as const };
    expect(await toolkit.views?.status?.({}, services)).toMatchObject({
      configured: false,
      problem: { code: 'assistant_not_configured' },
    });
    await bare.close();
  });
});

describe('persona and memory', () => {
  it('are files that a person edits, read with every order', async () => {
    mock.onMessage('hello', { content: 'Hi.' });
    await assistant.order('hello');
    const persona = join(store.dir, 'assistant', 'persona.md');
    expect(readFileSync(persona, 'utf8')).toContain('You are Clawdbot');
    writeFileSync(persona, 'You are Jeeves. <!-- not shown -->');
    writeFileSync(join(store.dir, 'assistant', 'memory.md'), 'The dog is called Rex.');
    await assistant.order('hello');
    const body = mock.getLastRequest()?.body as { messages: { role: string; content: string }[] };
    const system = body.messages.find(({ role }) => role === 'system')?.content ?? '';
    expect(system).toContain('You are Jeeves.');
    expect(system).toContain('The dog is called Rex.');
    expect(system).not.toContain('not shown');
    expect(system).not.toContain('Clawdbot');
  });
});
