import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildChild } from '../../../../../test/support/child.ts';
import type { ToolError } from '../../../../contract/errors.ts';
import type { JsonObject } from '../../../../contract/json.ts';
import type { Outcome } from '../../../../contract/outcome.ts';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../../test/support/dev.ts';
import { startGithub } from '../../test/support/github-double.ts';
import type { GithubDouble } from '../../test/support/github-shapes.ts';

describe('a GitHub that is slow, moves, refuses or acts late', () => {
  let folder: string;
  let bare: string;
  let github: GithubDouble;
  let world: DevWorld;
  let run_id: string;
  let config: JsonObject;

  const open = async (commitWindowMs = 0) => {
    world = await openWorld({ cwd: '/', folder, config, commitWindowMs });
    run_id = await world.run('acme/app');
  };
  beforeEach(async () => {
    folder = tempFolder();
    bare = join(folder, 'hub.git');
    git(folder, 'clone', '-q', '--bare', makeRepo(join(folder, 'source'), { 'a.txt': 'one\n' }), bare);
    github = await startGithub(bare);
    config = {
      repos: { 'acme/app': { forge: 'github' } },
      github: { base_url: github.url, token: 'tok', timeout_seconds: 1 },
    };
  });
  afterEach(async () => {
    await world?.close();
    await github.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const toToolError = (work: Promise<unknown>): Promise<ToolError> =>
    work.then(
      () => expect.fail('It succeeded.'),
      (error: ToolError) => error,
    );

  it('ends a held request at its limit with timeout, however hard the garbage collector runs', async () => {
    const child = spawn(
      process.execPath,
      ['--expose-gc', await buildChild('dev-held'), folder, JSON.stringify(config)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    // Until the double is closed nothing is answered: only the limit can end these calls.
    github.fault = (request) =>
      request.includes('/pulls/1') || request.startsWith('POST') ? 'hold' : undefined;
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await new Promise((resolve) => child.once('close', resolve));
    const [read, write] = JSON.parse(said.split('\n')[1] ?? '[]') as JsonObject[];
    expect(read).toMatchObject({ code: 'timeout', effect: 'none' });
    expect(write).toMatchObject({ code: 'timeout', effect: 'unknown' });
    expect(String(read?.message)).toContain('GitHub did not answer within 1 s');
  }, 300_000);

  it.each([301, 302, 307, 308])(
    'refuses a redirect (%i) with the new name and sends nothing there',
    async (status) => {
      await open();
      github.movedTo = 'acme/renamed';
      const location = `${github.url}/repositories/77/issues`;
      github.fault = (request) =>
        request.includes('/repositories/') ? undefined : { status, headers: { location }, body: {} };
      for (const [name, args] of [
        ['github_issues_create', { run_id, title: 't', body: '' }],
        ['github_pr_get', { run_id, pr_number: 1 }],
      ] as const) {
        github.requests.length = 0;
        expect(await toToolError(world.call(name, args))).toMatchObject({
          code: 'not_found',
          effect: 'none',
          detail: { reason: 'github_moved', status, moved_to: 'acme/renamed' },
          message: expect.stringContaining(`GitHub answered ${status}: acme/app has moved to acme/renamed`),
        });
        expect(github.requests.slice(1)).toEqual(['GET /repositories/77']);
      }
      expect(github.issues).toEqual([]);
    },
  );

  it.each([
    ['401', { status: 401, body: { message: 'Bad credentials' } }, undefined],
    [
      'the primary rate limit',
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4102444800' } },
      '2100-01-01T00:00:00.000Z',
    ],
  ])('stops a batch at %s and reports the rest as unprocessed', async (_name, fault, retry_at) => {
    await open();
    let posts = 0;
    github.fault = (request) => {
      if (request === 'POST /issues') posts += 1;
      return request === 'POST /issues' && posts > 2 ? fault : undefined;
    };
    const inner = async (_tool: string, _args: JsonObject, run: () => Promise<Outcome>): Promise<Outcome> =>
      run().catch((error: ToolError) => ({ status: 'failed', fault: error }));
    const issues = Array.from({ length: 10 }, (_, n) => ({ title: `Issue ${n}`, body: '' }));
    const { data } = await world.call('github_issues_batch_create', { run_id, issues }, { inner });
    expect(posts).toBe(3);
    expect(data).toMatchObject({
      status: 'partial',
      processed: 3,
      created_fresh: 2,
      unprocessed: [3, 4, 5, 6, 7, 8, 9],
      ...(retry_at ? { retry_at } : {}),
    });
    const results = (data as { results: { error?: JsonObject }[] }).results;
    expect(results).toHaveLength(10);
    expect(results[9]?.error).toMatchObject({ code: 'not_processed', ...(retry_at ? { retry_at } : {}) });
  });

  it('keeps what GitHub itself says', async () => {
    await open();
    const errors = [{ resource: 'Issue', field: 'title', code: 'custom', message: 'title is too long' }];
    github.fault = (request) =>
      request === 'POST /issues'
        ? { status: 422, body: { message: 'Validation Failed', errors } }
        : request.includes('/git/ref/')
          ? { status: 409, body: { message: 'Git Repository is empty.' } }
          : undefined;
    const refused = await toToolError(world.call('github_issues_create', { run_id, title: 't', body: '' }));
    expect(refused).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('title is too long'),
    });
    const empty = await toToolError(world.call('code_read', { run_id, path: 'a.txt', ref: 'main' }));
    expect(empty).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Git Repository is empty.'),
    });
    github.fault = () => ({ status: 401, body: { message: 'Bad credentials' } });
    const denied = await toToolError(world.call('github_pr_get', { run_id, pr_number: 1 }));
    expect(denied).toMatchObject({ code: 'not_allowed', hint: expect.stringContaining('GITHUB_TOKEN') });
  });

  /** What GitHub does with a request whose sender has long gone. */
  const actLater = async (callId: string, ms: number) => {
    await sleep(ms);
    const body = `late\n\n<!-- countersign:call=${callId} -->`;
    github.issues.push({ id: 40, number: 40, title: 'late', body, labels: [], at: new Date().toISOString() });
  };
  const args = () => ({ run_id, title: 'late', body: 'late' });

  it('finds what GitHub made seconds after the connection was lost', async () => {
    await open(20_000);
    github.fault = (request) => (request === 'POST /issues' ? 'drop' : undefined);
    const startedAt = new Date();
    const lost = await toToolError(world.call('github_issues_create', args(), { callId: 'c-1' }));
    expect(lost).toMatchObject({ code: 'unavailable', effect: 'unknown' });
    const late = actLater('c-1', 2_000);
    expect(await world.reconcile('github_issues_create', args(), 'c-1', startedAt)).toMatchObject({
      settled: 'done',
      data: { number: 40 },
    });
    await late;
  }, 30_000);

  it('does not say that it did not happen while GitHub may still act', async () => {
    await open(20_000);
    github.fault = (request) => (request === 'POST /issues' ? 'drop' : undefined);
    const startedAt = new Date();
    await toToolError(world.call('github_issues_create', args(), { callId: 'c-1' }));
    expect(await world.reconcile('github_issues_create', args(), 'c-1', startedAt)).toMatchObject({
      settled: 'unknown',
    });
  }, 30_000);

  it('looks for earlier attempts before it sends the same again, however late GitHub was', async () => {
    await open();
    github.fault = (request) => (request === 'POST /issues' ? 'drop' : undefined);
    await toToolError(world.call('github_issues_create', args(), { callId: 'c-1' }));
    expect(await world.reconcile('github_issues_create', args(), 'c-1')).toEqual({ settled: 'not_done' });
    await actLater('c-1', 0);
    github.fault = () => undefined;
    github.requests.length = 0;
    const again = await world.call('github_issues_create', args(), { callId: 'c-2' });
    expect(again.data).toMatchObject({ number: 40 });
    expect(github.requests).not.toContain('POST /issues');
    // What is known to be done is not taken over: the same issue under another key is a new one.
    const third = await world.call('github_issues_create', args(), { callId: 'c-3' });
    expect(third.data).toMatchObject({ number: 1 });
  });
});
