import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../../test/support/child.ts';
import {
  modelConfig,
  openAssistantStore,
  startModel,
  type TestAssistantStore,
} from '../test/support/assistant.ts';

let mock: LLMock;
let store: TestAssistantStore;
const children: Child[] = [];

beforeEach(async () => {
  mock = await startModel();
  store = await openAssistantStore();
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL');
    await child.ended;
  }
  await store.close();
  await mock.stop();
});

const startProcess = async ({ role = '', leaseMs = 30_000 } = {}): Promise<Child> => {
  const config = JSON.stringify(modelConfig(mock, 'openai-chat'));
  const child = await startChild('assistant-process', [store.dir, config, role, String(leaseMs)]);
  children.push(child);
  await child.said('ready');
  return child;
};

interface Said {
  id?: string;
  text?: string;
  code?: string;
  tool?: string;
  taken?: number;
  notices?: string[];
  storedAt?: string | null;
}

const lines = (child: Child): Said[] =>
  child
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Said);

const until = async (child: Child, is: (said: Said) => boolean): Promise<Said> => {
  for (;;) {
    const found = lines(child).find(is);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const order = (child: Child, id: string, message: string, more: object = {}): Promise<Said> => {
  child.send(JSON.stringify({ id, message, sessionKey: 'one', ...more }));
  return until(child, (said) => said.id === id);
};

/** Until the killed process is no longer believed alive. */
const leaseIsOver = async (): Promise<void> => {
  const db = store.open();
  for (;;) {
    const row = await db.selectFrom('assistant_runs').select('lease_until').executeTakeFirstOrThrow();
    if (Date.parse(row.lease_until) < Date.now()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const lastUser = (request: ChatCompletionRequest): string =>
  String(request.messages.findLast((message) => message.role === 'user')?.content ?? '');

describe('sessions over real processes', () => {
  it('let one order run at a time: twenty simultaneously over three processes each get their own answer', async () => {
    mock.on({ userMessage: /^number \d+$/ }, (request) => ({ content: `answer to ${lastUser(request)}` }));
    const processes = [await startProcess(), await startProcess(), await startProcess()];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const child = processes[n % 3];
        return child ? order(child, `o${n}`, `number ${n}`) : undefined;
      }),
    );
    expect(results.map((said) => said?.text)).toEqual(
      Array.from({ length: 20 }, (_, n) => `answer to number ${n}`),
    );
    const sizes = mock.getRequests().map((entry) => (entry.body as { messages: unknown[] }).messages.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => 2 * n + 2));
  });

  it('remember the colour in a second process and after a restart', async () => {
    mock.onMessage('Remember that', { content: 'I will.' });
    mock.on(
      {
        userMessage: 'favorite color?',
        predicate: ({ messages }) => JSON.stringify(messages).includes('color is blue'),
      },
      { content: 'Blue.' },
    );
    const first = await startProcess();
    const second = await startProcess();
    await order(first, 'a', 'Remember that my favorite color is blue.');
    expect(await order(second, 'b', "What's my favorite color?")).toMatchObject({ text: 'Blue.' });
    first.process.kill('SIGKILL');
    second.send('close');
    await second.ended;
    expect(await order(await startProcess(), 'c', "What's my favorite color?")).toMatchObject({
      text: 'Blue.',
    });
  });
});

describe('an order whose process is killed', () => {
  let thoughts = 0;

  /** Resolves when the model has been asked; it never answers. */
  const neverAnswers = (): Promise<void> =>
    new Promise((resolve) => {
      mock.onMessage('think', () => {
        resolve();
        return new Promise(() => {});
      });
    });

  /** Long enough for a busy machine to ask the model first: what it was not asked would be asked later, and answered. */
  const timesOut = async (child: Child, asked: Promise<void>): Promise<void> => {
    const said = order(child, 'x', 'think', { timeoutMs: 4_000 });
    await asked;
    expect(await said).toMatchObject({ code: 'timeout' });
  };

  const answersNow = () => {
    thoughts = 0;
    mock.clearFixtures();
    mock.onMessage('think', () => {
      thoughts += 1;
      return { content: 'Thought at last.' };
    });
  };

  const hangsOnce = () => {
    mock.on(
      { userMessage: 'do it', hasToolResult: false },
      {
        content: 'Starting.',
        toolCalls: [{ name: 'hang', arguments: {} }],
      },
    );
  };

  it('is resumed where it stopped when the same message comes again', async () => {
    const asked = neverAnswers();
    const first = await startProcess({ leaseMs: 3_000 });
    first.send(JSON.stringify({ id: 'x', message: 'think', sessionKey: 'one' }));
    await asked;
    first.process.kill('SIGKILL');
    await first.ended;
    answersNow();
    const second = await startProcess();
    await leaseIsOver();
    const said = await order(second, 'y', 'think');
    expect(said.text).toBe('Thought at last.');
    expect(said.notices?.[0]).toContain('has been resumed');
  });

  it('is said to be interrupted when another message comes', async () => {
    hangsOnce();
    mock.onMessage('hello', { content: 'Hi.' });
    const first = await startProcess({ leaseMs: 3_000 });
    first.send(JSON.stringify({ id: 'x', message: 'do it', sessionKey: 'one' }));
    await until(first, (said) => said.tool === 'hang');
    first.process.kill('SIGKILL');
    await first.ended;
    const said = await order(await startProcess(), 'y', 'hello');
    expect(said.text).toBe('Hi.');
    expect(said.notices?.join()).toContain('was interrupted before it was answered');
    // It had used a tool, so the model is informed as well.
    expect(JSON.stringify(mock.getLastRequest()?.body)).toContain('the outcome of this call is unknown');
  });

  it('is finished by `countersign up` when its caller had timed out, and the answer waits there', async () => {
    const asked = neverAnswers();
    const first = await startProcess({ leaseMs: 3_000 });
    await timesOut(first, asked);
    first.process.kill('SIGKILL');
    await first.ended;
    answersNow();
    const up = await startProcess({ role: 'up' });
    await until(up, (said) => said.taken === 1);
    const said = await order(await startProcess(), 'y', 'think');
    expect(said.text).toBe('Thought at last.');
    expect(thoughts).toBe(1);
  });

  it('is handed over immediately when the process closes in good order', async () => {
    const asked = neverAnswers();
    const up = await startProcess({ role: 'up' });
    const first = await startProcess();
    await timesOut(first, asked);
    answersNow();
    first.send('close');
    expect(await first.ended).toBe(0);
    await until(up, (said) => said.taken === 1);
    expect(await order(up, 'y', 'think')).toMatchObject({ text: 'Thought at last.' });
  });
});
