import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { encode } from 'gpt-tokenizer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectStdio, createHome, type Home, spawnCli } from '../e2e/support.ts';
import { startProtected } from './authorization-server.ts';
import { isAlive, reader, tool } from './scripted.ts';
import { connect, openPlace, SCRIPTED, stdioServer } from './support.ts';

const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');

let home: Home;
let script: string;
const write = (value: object): void => writeFileSync(script, JSON.stringify(value));
const lines = (name: string): string[] =>
  existsSync(`${script}.${name}`)
    ? readFileSync(`${script}.${name}`, 'utf8').split('\n').filter(Boolean)
    : [];

beforeEach(() => {
  home = createHome();
  script = join(home.dir, 'script.json');
});
afterEach(() => home.close());

const add = (): string =>
  home.cli('servers', 'add', 's', '--yes', '--changes', 'allow', '--', process.execPath, SCRIPTED, script);

describe('the gateway as a process', () => {
  it('answers tools/list from the pins and starts the server on its first call', async () => {
    write({ tools: [reader('look')] });
    add();
    const before = lines('starts').length;
    const { client, close } = await connectStdio(home);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('s__look');
    expect(lines('starts')).toHaveLength(before);
    const result = await client.callTool({ name: 's__look', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(lines('starts')).toHaveLength(before + 1);
    await close();
    await expect.poll(() => lines('starts').map(Number).filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });

  it('leaves no process behind when it is killed, grandchildren included', async () => {
    write({ tools: [reader('look')], grandchild: true, stubborn: true });
    add();
    const child = spawnCli(home, ['mcp', 'serve']);
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } })}\n`,
    );
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 's__look', arguments: {} } })}\n`,
    );
    await new Promise<void>((done) => {
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('"id":2')) done();
      });
    });
    const running = lines('starts').map(Number).filter(isAlive);
    expect(running).toHaveLength(2);
    child.kill('SIGKILL');
    await expect.poll(() => running.filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });

  it('finds a change indeterminate after it was killed in it, and never sends it again', async () => {
    write({ tools: [tool('act')], answers: { act: { hang: true } } });
    add();
    const child = spawn(process.execPath, [MAIN, 'call', 's__act', '--args', '{"text":"once"}'], {
      env: { PATH: process.env.PATH, HOME: home.dir, COUNTERSIGN_HOME: home.dir },
      stdio: 'ignore',
    });
    await expect.poll(() => lines('calls').length, { timeout: 60_000 }).toBe(1);
    child.kill('SIGKILL');
    await new Promise((done) => child.once('close', done));
    write({ tools: [tool('act')] });
    // The next server marks what an ended process left open.
    const { client, close } = await connectStdio(home);
    await client.listTools();
    await expect
      .poll(() => home.cli('status', '--json'), { timeout: 60_000, interval: 500 })
      .toMatch(/indeterminate/);
    await close();
    expect(lines('calls')).toHaveLength(1);
  });

  it('signs in at the command line, adds the server and calls it with the stored tokens', async () => {
    const remote = await startProtected();
    // Not the synchronous helper: the servers it talks to run in this process.
    const run = async (args: readonly string[], onStderr: (text: string) => void = () => {}) => {
      const child = spawnCli(home, args);
      let [out, error] = ['', ''];
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        error += chunk;
        onStderr(error);
      });
      const [code] = (await once(child, 'close')) as [number];
      return { code, out, error };
    };
    try {
      let opened = '';
      const login = await run(['servers', 'login', 'o', remote.url, '--no-browser'], (text) => {
        const link = /https?:\/\/\S+/.exec(text)?.[0];
        if (!link || opened) return;
        opened = link;
        void fetch(link);
      });
      expect(login).toMatchObject({ code: 0, out: expect.stringContaining('Signed in to o.') });
      expect(opened).toContain('code_challenge_method=S256');
      const added = await run(['servers', 'add', 'o', remote.url, '--yes']);
      expect(added).toMatchObject({ code: 0, out: expect.stringContaining('Trusted 1 tool of o.') });
      const called = await run(['call', 'o__whoami', '--json']);
      expect(called.code).toBe(0);
      const tokens = readFileSync(join(home.dir, 'server-tokens.json'), 'utf8');
      const secret = /access-[\w-]+/.exec(tokens)?.[0] ?? 'none';
      for (const { out, error } of [login, added, called]) expect(out + error).not.toContain(secret);
      const removed = await run(['servers', 'login', 'o', '--remove']);
      expect(removed.out).toContain('Deleted the tokens for o.');
      const refused = await run(['call', 'o__whoami']);
      expect(refused.out + refused.error).toContain('countersign servers login o');
    } finally {
      await remote.close();
    }
  });

  it('wraps one server under its own tool names, and trusts it like any other', async () => {
    write({ tools: [reader('look'), tool('get_config')] });
    const open = () =>
      connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [MAIN, 'wrap', 'w', '--', process.execPath, SCRIPTED, script],
          env: { PATH: process.env.PATH ?? '', HOME: home.dir, COUNTERSIGN_HOME: home.dir },
          stderr: 'ignore',
        }),
      );
    const first = await open();
    const names = async (client: typeof first) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(first)).not.toContain('look');
    await expect
      .poll(() => home.cli('approvals', 'list', '--json'), { timeout: 60_000 })
      .toContain('server_trust');
    home.cli('servers', 'trust', 'w', '--yes');
    // Without a restart: every process follows what people trust.
    await expect.poll(() => names(first), { timeout: 60_000 }).toContain('look');
    const { tools } = await first.listTools();
    expect(tools.find(({ name }) => name === 'get_config')?.description).toBe('Does get_config.');
    expect((await first.callTool({ name: 'look', arguments: {} })).content).toEqual([
      { type: 'text', text: 'done' },
    ]);
    await first.close();
    expect(lines('calls')).toHaveLength(1);
  });
});

it('lists 400 tools of 20 servers in discovery mode with few tokens and no process', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `server${index}`);
  const scripts = names.map((name) => join(home.dir, `${name}.json`));
  for (const [index, file] of scripts.entries()) {
    const tools = Array.from({ length: 20 }, (_, n) => reader(`tool_${index}_${n}`));
    writeFileSync(file, JSON.stringify({ tools }));
  }
  const place = await openPlace(
    names.map((name, index) => stdioServer(name, SCRIPTED, scripts[index] ?? '')).join('\n'),
  );
  try {
    for (const name of names.slice(0, 20)) await place.trust(name);
    await place.reopen();
    const starts = () =>
      scripts.flatMap((file) => readFileSync(`${file}.starts`, 'utf8').split('\n').filter(Boolean)).length;
    const before = starts();
    const { serve } = await import('./support.ts');
    const gateway = await serve(place.app, names, true);
    const client = await gateway.connect();
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(3);
    expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(1200);
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'tool_7_3' } });
    expect(JSON.stringify(found.structuredContent)).toContain('server7__tool_7_3');
    expect(starts()).toBe(before);
    await client.close();
    await gateway.close();
  } finally {
    await place.close();
  }
});
