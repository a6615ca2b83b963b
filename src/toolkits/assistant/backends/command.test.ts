import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import {
  openAssistant,
  openAssistantStore,
  type TestAssistant,
  type TestAssistantStore,
} from '../test/support/assistant.ts';

let store: TestAssistantStore;
let assistant: TestAssistant | undefined;

beforeEach(async () => {
  store = await openAssistantStore();
});

afterEach(async () => {
  await assistant?.close();
  assistant = undefined;
  await store.close();
});

/** A command-line agent of our own: a script run by this very Node. */
const agent = (script: string, args: string[], more: JsonObject = {}, env: Record<string, string> = {}) => {
  const path = join(store.dir, 'agent.mjs');
  writeFileSync(path, script);
  const command = [process.execPath, path, ...args];
  const PATH = process.env.PATH ?? '';
  assistant = openAssistant({
    store,
    config: { backend: 'command', command, ...more },
    env: { PATH, ...env },
  });
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

const ECHO = 'console.log(JSON.stringify(process.argv.slice(2)))';

describe('a command-line agent', () => {
  it('gets message and session as arguments, each one argument regardless of its content, without a shell', async () => {
    const message = 'say "hi"; $(touch /tmp/x) `id` {session} && echo';
    const result = await agent(ECHO, ['--session', '{session}', '--', '{message}']).order(message, {
      sessionKey: 'k',
    });
    const [session] = (await assistant?.services.sessions.list()) ?? [];
    expect(JSON.parse(result.text)).toEqual(['--session', session?.id, '--', message]);
  });

  it('gets the message on standard input when the template does not mention it', async () => {
    const script = 'process.stdin.pipe(process.stdout)';
    const result = await agent(script, []).order('--help me\nplease');
    expect(result.text).toBe('--help me\nplease');
  });

  it('is not handed a message that it would take for an option', async () => {
    const fault = await toToolError(agent(ECHO, ['{message}']).order('--yolo'));
    expect(fault.code).toBe('invalid_input');
  });

  it('is called by the other template from the second turn on, with the same session', async () => {
    const path = join(store.dir, 'agent.mjs');
    const running = agent(ECHO, ['new', '{session}'], {
      command_resume: [process.execPath, path, 'resume', '{session}'],
    });
    const first = JSON.parse((await running.order('a', { sessionKey: 'k' })).text) as string[];
    const second = JSON.parse((await running.order('b', { sessionKey: 'k' })).text) as string[];
    expect([first[0], second[0]]).toEqual(['new', 'resume']);
    expect(second[1]).toBe(first[1]);
  });

  it('can read the conversation so far from a file', async () => {
    const script =
      "import { readFileSync } from 'node:fs'; console.log(readFileSync(process.argv[2], 'utf8') || 'empty')";
    const running = agent(script, ['{transcript}']);
    expect((await running.order('remember blue', { sessionKey: 'k' })).text).toBe('empty');
    expect((await running.order('what?', { sessionKey: 'k' })).text).toContain('## user\n\nremember blue');
  });

  it('sees only a filtered environment', async () => {
    const script = 'console.log(JSON.stringify(process.env))';
    const running = agent(
      script,
      [],
      { command_env: ['WANTED'] },
      { WANTED: 'yes', ANTHROPIC_API_KEY: 'sk-secret' },
    );
    const env = JSON.parse((await running.order('x')).text) as Record<string, string>;
    expect(env.WANTED).toBe('yes');
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  it('returns pictures and files that it leaves in its folder', async () => {
    const script = `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.COUNTERSIGN_FILES + '/a.png', 'png');
      writeFileSync(process.env.COUNTERSIGN_FILES + '/notes.txt', 'text');
      console.log('See the files.')`;
    const running = agent(script, []);
    expect((await running.order('x')).text).toBe('See the files.');
    expect(running.attached).toEqual([
      { type: 'image', mimeType: 'image/png', data: Buffer.from('png').toString('base64') },
      {
        type: 'resource',
        uri: 'attachment://notes.txt',
        mimeType: 'text/plain',
        blob: Buffer.from('text').toString('base64'),
      },
    ]);
  });

  it('has long output cut, which is said', async () => {
    const running = agent("console.log('x'.repeat(5000))", [], { command_output_bytes: 100 });
    const result = await running.order('x');
    expect(result.text).toBe('x'.repeat(100));
    expect(result.notices[0]).toContain('cut at 100 bytes');
  });

  it('that fails is an error that quotes its last words', async () => {
    const fault = await toToolError(agent("console.error('not signed in'); process.exit(3)", []).order('x'));
    expect(fault).toMatchObject({ code: 'assistant_error', effect: 'partial' });
    expect(fault.message).toMatch(/ended with code 3, saying “not signed in”/);
  });

  it('that is not executable is distinguished from one that is missing', async () => {
    const file = fileURLToPath(import.meta.url);
    assistant = openAssistant({ store, config: { backend: 'command', command: [file] } });
    const fault = await toToolError(assistant.order('x'));
    expect(fault).toMatchObject({ code: 'assistant_not_configured' });
    expect(fault.message).toContain(`${file} is not executable. Make it executable`);
  });

  it('that is not installed is an error of configuration', async () => {
    assistant = openAssistant({
      store,
      config: { backend: 'command', command: ['no-such-agent'] },
      env: { PATH: '/bin' },
    });
    const fault = await toToolError(assistant.order('x'));
    expect(fault.code).toBe('assistant_not_configured');
  });

  it('that takes too long is ended together with what it started', async () => {
    const pidFile = join(store.dir, 'pid');
    const script = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
      setInterval(() => {}, 1000);`;
    const fault = await toToolError(agent(script, [], { timeout_seconds: 2 }).order('x'));
    expect(fault).toMatchObject({ code: 'timeout', effect: 'partial' });
    const { readFileSync } = await import('node:fs');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const isAlive = () => {
      try {
        process.kill(pid, 0);
        // A zombie still has its number; its state shows.
        return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
      } catch {
        return false;
      }
    };
    while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it('is stopped when the caller cancels', async () => {
    const caller = new AbortController();
    const running = agent("console.log('started'.repeat(1000)); setInterval(() => {}, 1000)", []);
    const waiting = toToolError(running.order('x', { signal: caller.signal }));
    while (!running.progress.some((text) => text.includes('bytes so far'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    caller.abort('stop');
    expect(await waiting).toMatchObject({ code: 'cancelled', effect: 'partial' });
  });
});
