import type { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/cli/support.ts';
import { startModel } from './support/assistant.ts';

interface Status {
  readonly assistant?: Record<string, unknown>;
}
interface Doctor {
  readonly findings: readonly { check: string; status: string; detail: string; fix?: string }[];
}

describe('status and doctor on the assistant', () => {
  let mock: LLMock;
  let terminal: Terminal;

  beforeEach(async () => {
    mock = await startModel();
    terminal = openTerminal(`toolkits = ["assistant"]
[assistant]
model = "mock/one"
retries = 0
[assistant.providers.mock]
kind = "openai"
api = "chat"
base_url = "${mock.url}/v1"
api_key = "sk-test"
`);
  });
  afterEach(async () => {
    terminal.close();
    await mock.stop();
  });

  const found = async () => {
    const { findings } = await terminal.json<Doctor>('doctor');
    return findings.find(({ check }) => check === 'assistant');
  };

  it('name the model; only doctor asks it', async () => {
    mock.onMessage('ready', { content: 'ready' });
    expect((await terminal.run('status')).out).toContain('Assistant      mock/one, 0 sessions\n');
    expect((await terminal.json<Status>('status')).assistant).toMatchObject({
      backend: 'model',
      model: 'mock/one',
      configured: true,
      sessions: 0,
    });
    expect(mock.getRequests()).toHaveLength(0);
    expect(await found()).toEqual({
      check: 'assistant',
      status: 'ok',
      detail: 'mock/one, responding, 0 sessions',
    });
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('tell a model that refuses as a fault, with what to do and without the key', async () => {
    mock.onMessage('ready', { error: { message: 'Incorrect API key provided: sk-test' }, status: 401 });
    expect(await found()).toMatchObject({
      status: 'fail',
      detail: 'mock/one rejected the credentials (HTTP 401).',
      fix: expect.stringMatching(/\S/),
    });
    const { code, out } = await terminal.run('doctor');
    expect(code).toBe(1);
    expect(out).toContain('✗ assistant');
    expect(out).not.toContain('sk-test');
  });

  it('warn when nothing is set up, and stay silent where the assistant is not among the toolkits', async () => {
    terminal.configure('toolkits = ["assistant"]\n');
    expect((await terminal.run('status')).out).toMatch(/^Assistant {6}No model is configured\./m);
    expect(await found()).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('Set [assistant] model'),
    });
    terminal.configure('toolkits = ["x"]\n');
    expect((await terminal.run('status')).out).not.toContain('Assistant');
    expect(await terminal.json<Status>('status')).not.toHaveProperty('assistant');
    expect(await found()).toBeUndefined();
  });
});
