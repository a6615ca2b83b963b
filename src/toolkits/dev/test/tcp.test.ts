import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home } from '../../../../test/e2e/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { makeRepo } from './support/dev.ts';

const MAIN = resolve(process.env.TEST_DIST ?? 'dist', 'main.js');

/** As a client written for ToolHub speaks: one JSON-RPC message per line, and the envelope straight in `result`. */
describe('a ToolHub client over TCP', () => {
  let home: Home;
  let child: ChildProcess | undefined;
  let socket: Socket | undefined;
  let answers: AsyncIterator<string>;
  let id = 0;

  beforeAll(() => {
    home = createHome();
    const repo = makeRepo(join(home.dir, 'app'));
    writeFileSync(
      join(home.dir, 'config.toml'),
      `toolkits = ["dev"]\n[log]\nlevel = "error"\n[dev.repos.app]\npath = ${JSON.stringify(repo)}\n`,
      { mode: 0o600 },
    );
  });
  afterEach(() => {
    socket?.destroy();
    child?.kill('SIGTERM');
  });
  afterAll(() => home.close());

  const start = async (env: Record<string, string>): Promise<string> => {
    child = spawn(process.execPath, [MAIN, 'mcp', 'serve'], {
      env: { PATH: process.env.PATH ?? '', HOME: home.dir, COUNTERSIGN_HOME: home.dir, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    const ended = new Promise<void>((done) => child?.once('close', () => done()));
    const listening = new Promise<void>((done) =>
      child?.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('tcp://')) done();
      }),
    );
    await Promise.race([ended, listening]);
    return said;
  };
  const call = async (method: string, params: JsonObject): Promise<JsonObject> => {
    id += 1;
    socket?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return (JSON.parse((await answers.next()).value as string) as { result: JsonObject }).result;
  };
  const tool = (name: string, args: JsonObject) => call('tools/call', { name, arguments: args });
  const connectTo = async (said: string) => {
    const port = Number(/tcp:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
    socket = connect(port, '127.0.0.1');
    answers = createInterface({ input: socket })[Symbol.asyncIterator]();
    await call('initialize', {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'toolhub-client', version: '1' },
    });
  };

  it('is served by mcp serve at TOOLHUB_MCP_LISTEN and finds the envelope directly in the result', async () => {
    await connectTo(await start({ TOOLHUB_MCP_LISTEN: ':0' }));
    const run = await tool('runs_create', { repo: 'app', purpose: 'p' });
    expect(run).toMatchObject({ run_id: expect.any(String), repo: 'app', purpose: 'p', ok: true });
    const { run_id } = run;
    const made = await tool('github_issues_create', { run_id: String(run_id), title: 't', body: 'b' });
    expect(made).toMatchObject({
      ok: true,
      meta: { run_id, dry_run: false, tool_call_id: expect.any(String) },
      result: { number: 1, title: 't' },
      structuredContent: { ok: true, result: { number: 1 } },
      isError: false,
    });
    // An invalid call belongs to its run too, and was meant as a dry run.
    const invalid = await tool('github_issues_create', { run_id: String(run_id), titel: 't', dry_run: true });
    expect(invalid).toMatchObject({
      ok: false,
      meta: { run_id, dry_run: true },
      error: { code: 'invalid_input' },
      isError: true,
    });
    const calls = home.cli('dev', 'run', String(run_id));
    expect(calls).toContain('invalid_input');
  }, 60_000);

  it('lists only what TOOL_ALLOWLIST allows, and does not start with a name no tool has', async () => {
    await connectTo(
      await start({ TOOLHUB_MCP_LISTEN: '127.0.0.1:0', TOOL_ALLOWLIST: 'github.pr.get,qa.test' }),
    );
    const { tools } = (await call('tools/list', {})) as unknown as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name).filter((name) => !/^(approval|audit|policy)/.test(name));
    expect(names).toEqual(['runs_create', 'github_pr_get', 'qa_test']);
    child?.kill('SIGTERM');
    const said = await start({ TOOLHUB_MCP_LISTEN: ':0', TOOL_ALLOWLIST: 'github.pr.gte' });
    expect(said).toContain('TOOL_ALLOWLIST');
    expect(said).toContain('did you mean github.pr.get?');
  }, 60_000);
});
