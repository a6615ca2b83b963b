import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../contract/json.ts';
import { previewDiff } from '../../../../lib/preview-diff.ts';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../../test/support/dev.ts';
import { startGithub } from '../../test/support/github-double.ts';
import type { GithubDouble } from '../../test/support/github-shapes.ts';

const WHO = { user: { login: 'eve', type: 'User' }, author_association: 'NONE' };

describe('reading and changing more on GitHub', () => {
  let bare: string;
  let github: GithubDouble;
  let world: DevWorld;
  let run_id: string;
  let logs: Server;

  beforeEach(async () => {
    const folder = tempFolder();
    const source = makeRepo(join(folder, 'source'), {
      'src/a.ts': 'one\ntwo needle\nthree\n',
      'src/old.ts': 'export const value = 1;\nexport const other = 2;\n',
      'docs/x.md': 'x\n',
      'run.sh': '#!/bin/sh\n',
    });
    bare = join(folder, 'hub.git');
    git(folder, 'clone', '-q', '--bare', source, bare);
    github = await startGithub(bare);
    world = await openWorld({
      cwd: '/',
      folder,
      config: {
        repos: { 'acme/app': { forge: 'github' } },
        github: { base_url: github.url, token: 'tok' },
      },
    });
    run_id = await world.run('acme/app');
    logs = createServer((request, response) => {
      // Our credentials must not travel to where the logs lie.
      response.end(request.headers.authorization ? 'leaked' : `${'.'.repeat(20_000)}\nlast line: boom\n`);
    });
    await new Promise<void>((resolve) => logs.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    logs.close();
    await world.close();
    await github.close();
  });
  const read = async (name: string, args: JsonObject = {}) =>
    (await world.call(name, { run_id, ...args })).data;

  it('reads files, lists directories and searches the default branch', async () => {
    expect(await read('code_read', { path: 'src/a.ts', start_line: 2, end_line: 2 })).toMatchObject({
      content: 'two needle\n',
      start_line: 2,
      end_line: 2,
      total_lines: 3,
      trust: 'untrusted',
    });
    expect(await read('code_tree', { path: 'src' })).toMatchObject({
      entries: [{ path: 'src/a.ts', kind: 'file' }, { path: 'src/old.ts' }],
    });
    expect(await read('code_search', { query: 'needle' })).toMatchObject({
      matches: [{ path: 'src/a.ts', line: 2, text: 'two needle' }],
      truncated: false,
    });
    await expect(read('code_read', { path: 'src/none.ts' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(read('code_read', { path: '../x' })).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('reads issues, comments, reviews and the checks with the end of a failed log', async () => {
    await world.call('github_issues_create', {
      run_id,
      title: 'Call @someone',
      body: 'see https://evil.test/x',
    });
    expect(await read('github_issue_get', { issue_number: 1 })).toMatchObject({
      title: 'Call @someone',
      body: 'see `https://evil.test/x`',
      author: { trust: 'untrusted' },
    });
    expect(await read('github_issues_list', { per_page: 1 })).toMatchObject({
      issues: [{ number: 1 }],
      next_page: 2,
    });
    const { pr_number } = await openPull();
    await world.call('github_pr_comment_create', { run_id, pr_number, body: 'plain, @octocat' });
    github.reviews.push(
      {
        id: 7,
        state: 'CHANGES_REQUESTED',
        body: 'no',
        html_url: 'u',
        submitted_at: '2030-01-01T00:00:00Z',
        ...WHO,
      },
      { id: 8, state: 'COMMENTED', body: 'hm', html_url: 'u', submitted_at: '2030-01-02T00:00:00Z', ...WHO },
    );
    github.lineComments.push({
      id: 9,
      path: 'src/a.ts',
      line: 3,
      body: 'here',
      html_url: 'u',
      created_at: '2030-01-03T00:00:00Z',
      ...WHO,
    });
    expect(await read('github_pr_comments_list', { pr_number })).toMatchObject({
      review_state: 'changes_requested',
      comments: [
        { kind: 'comment', body: 'plain, `@octocat`' },
        { kind: 'review', state: 'changes_requested', author: { login: 'eve', trust: 'untrusted' } },
        { kind: 'review', state: 'commented' },
        { kind: 'line_comment', path: 'src/a.ts', line: 3 },
      ],
    });
    expect(await read('github_pr_comments_list', { pr_number, per_page: 2, page: 2 })).toMatchObject({
      comments: [{ id: 8 }, { id: 9 }],
    });
    github.checkRuns.push(
      { id: 6, name: 'lint', status: 'completed', conclusion: 'success', html_url: 'h', output: {} },
      { id: 5, name: 'build', status: 'completed', conclusion: 'failure', html_url: 'h', output: {} },
    );
    const location = `http://127.0.0.1:${(logs.address() as AddressInfo).port}/log`;
    github.fault = (request) =>
      request === 'GET /actions/jobs/5/logs' ? { status: 302, headers: { location } } : undefined;
    const checks = (await read('github_checks_get', { pr_number })) as {
      state: string;
      checks: { log_tail?: string }[];
    };
    expect(checks).toMatchObject({
      state: 'failure',
      checks: [{ name: 'build' }, { name: 'lint' }],
      trust: 'untrusted',
    });
    expect(await read('github_checks_get', { pr_number, per_page: 1, page: 1 })).toMatchObject({
      checks: [{ name: 'build' }],
      next_page: 2,
    });
    const rest = await read('github_checks_get', { pr_number, per_page: 1, page: 2 });
    expect(rest).toMatchObject({ state: 'failure', checks: [{ name: 'lint' }] });
    expect(rest).not.toHaveProperty('next_page');
    expect(checks.checks[0]?.log_tail).toBe('last line: boom\n');
  });

  const change = (more: JsonObject = {}): JsonObject => ({
    run_id,
    approval_id: 'x',
    base_branch: 'main',
    head_branch: 'fix/a',
    commit_message: 'm',
    pr_title: 't',
    files: [
      { path: 'src/a.ts', modified_content: 'one\nzwei\nthree\n' },
      { path: 'src/new.ts', previous_path: 'src/old.ts', modified_content: '', keep_content: true },
      { path: 'docs/x.md', modified_content: '', delete: true },
      { path: 'run.sh', modified_content: '', keep_content: true, executable: true },
      { path: 'b.bin', modified_content: Buffer.from([0, 1, 2, 250]).toString('base64'), encoding: 'base64' },
    ],
    ...more,
  });
  const openPull = async (): Promise<{ pr_number: number; commit: string }> => {
    const { data } = await world.call('code_branch_pr_create', change());
    const made = data as { commit_hash: string; pull_request: { number: number } };
    return { pr_number: made.pull_request.number, commit: made.commit_hash };
  };
  const present = async (name: string, args: JsonObject) => {
    const tool = world.tool(name);
    const binding = await tool.bind?.(args, world.services);
    const shown = await tool.present?.(args, {
      services: world.services,
      binding,
      earlier: undefined,
      principal: { kind: 'agent', id: 'local' },
      asked: undefined,
      signal: new AbortController().signal,
    });
    const diff = shown?.body?.find((block) => block.type === 'diff');
    if (!diff) throw new Error(`${name} shows no diff.`);
    return previewDiff(diff).toString();
  };
  const diff = (from: string, to: string): string =>
    execFileSync('git', [`--git-dir=${bare}`, 'diff', '--binary', from, to]).toString();

  it('shows what git will print of a move, a deletion, a mode and a binary file, before and after', async () => {
    const before = await present('code_branch_pr_create', change());
    const { pr_number } = await openPull();
    expect(before).toBe(diff('main', 'fix/a'));
    const { forge } = await world.services.repos.resolve('acme/app');
    const files = await forge.pullDiff(pr_number, new AbortController().signal);
    expect(previewDiff({ files }).toString()).toBe(before);
  });

  it('adds a commit to its own pull request and to no other', async () => {
    const { pr_number, commit } = await openPull();
    const update = {
      run_id,
      approval_id: 'x',
      pr_number,
      commit_message: 'more',
      files: [{ path: 'src/a.ts', original_content: 'one\nzwei\nthree\n', modified_content: 'one\n' }],
    };
    const before = await present('code_branch_pr_update', update);
    const { data } = await world.call('code_branch_pr_update', update);
    expect(data).toMatchObject({ previous_head: commit, pull_request: { number: pr_number } });
    expect(git(bare, 'rev-parse', 'fix/a~1')).toBe(commit);
    expect(before).toBe(diff('fix/a~1', 'fix/a'));
    const other = await world.run('acme/app');
    await expect(world.call('code_branch_pr_update', { ...update, run_id: other })).rejects.toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'not_of_this_run' },
    });
  });

  it('takes branches, tags and commits as ref, and no other revision', async () => {
    for (const ref of ['main~1', 'main@{1}', 'refs/pull/1/head', 'main...fix/a', '-1'])
      await expect(read('code_read', { path: 'src/a.ts', ref }), ref).rejects.toMatchObject({
        code: 'invalid_input',
        detail: { reason: 'ref_invalid' },
      });
    const commit = git(bare, 'rev-parse', 'main');
    expect(await read('code_read', { path: 'src/a.ts', ref: commit })).toMatchObject({ commit });
  });

  it('searches the default branch also once the run has a branch of its own', async () => {
    await openPull();
    expect(await read('code_search', { query: 'needle' })).toMatchObject({
      commit: git(bare, 'rev-parse', 'main'),
      matches: [{ path: 'src/a.ts', line: 2 }],
    });
    await expect(read('code_search', { query: 'needle', ref: 'fix/a' })).rejects.toMatchObject({
      code: 'invalid_input',
      detail: { reason: 'search_default_branch_only' },
    });
  });

  it('searches a clone at any commit it holds, and asks GitHub about others', async () => {
    const clone = join(world.folder, 'clone');
    git(world.folder, 'clone', '-q', bare, clone);
    git(clone, 'checkout', '-q', '-b', 'side');
    git(clone, 'commit', '-q', '--allow-empty', '-m', 'side');
    git(clone, 'push', '-q', 'origin', 'side');
    const config = {
      repos: { app: { forge: 'github', github: 'acme/app', path: clone } },
      github: { base_url: github.url, token: 'tok' },
    };
    const other = await openWorld({ cwd: '/', config });
    try {
      const run = await other.run('app');
      const search = async (more: JsonObject) => {
        github.requests.length = 0;
        return (await other.call('code_search', { run_id: run, query: 'needle', ...more })).data;
      };
      const found = { matches: [{ path: 'src/a.ts', line: 2, text: 'two needle' }] };
      for (const ref of ['main', 'side']) {
        expect(await search({ ref })).toMatchObject({ ...found, commit: git(bare, 'rev-parse', ref) });
        expect(github.requests).not.toContain('GET /search/code');
      }
      const newer = git(bare, 'commit-tree', '-m', 'newer', '-p', 'main', 'main^{tree}');
      git(bare, 'update-ref', 'refs/heads/main', newer);
      expect(await search({ ref: 'main' })).toMatchObject({ ...found, commit: newer });
      expect(github.requests).toContain('GET /search/code');
    } finally {
      await other.close();
    }
  });

  it('does not take an earlier commit with the same message for a lost update', async () => {
    const { pr_number } = await openPull();
    const update = (text: string) => ({
      run_id,
      approval_id: 'x',
      pr_number,
      commit_message: 'same words',
      files: [{ path: 'src/a.ts', modified_content: text }],
    });
    await world.call('code_branch_pr_update', update('one\n'));
    github.fault = (request) => (request.startsWith('PATCH /git/refs') ? 'drop' : undefined);
    await expect(
      world.call('code_branch_pr_update', update('two\n'), { callId: 'lost' }),
    ).rejects.toMatchObject({ effect: 'unknown' });
    expect(await world.reconcile('code_branch_pr_update', update('two\n'), 'lost')).toEqual({
      settled: 'not_done',
    });
    github.fault = (request) => (request.startsWith('PATCH /git/refs') ? 'act-and-drop' : undefined);
    const { data } = await world.call('code_branch_pr_update', update('two\n'), { callId: 'arrived' });
    expect(await world.reconcile('code_branch_pr_update', update('two\n'), 'arrived')).toMatchObject({
      settled: 'done',
      data: { commit_hash: (data as JsonObject).commit_hash },
    });
  });

  it('refuses a branch that exists or cannot exist before anyone is asked', async () => {
    await openPull();
    for (const head_branch of ['fix/a', 'fix/a/b', 'fix', 'main/x'])
      await expect(
        present('code_branch_pr_create', change({ head_branch })),
        head_branch,
      ).rejects.toMatchObject({
        code: 'conflict',
        detail: { reason: 'branch_exists' },
      });
  });
});
