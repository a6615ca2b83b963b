import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createEmulator, type Emulator } from 'emulate';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../contract/json.ts';
import { type DevWorld, openWorld, tempFolder } from '../../test/support/dev.ts';

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

describe('the tools against a GitHub emulator', () => {
  let github: Emulator;
  let world: DevWorld;
  let run_id: string;
  const api = async (path: string, token = 'tok') => {
    const response = await fetch(`${github.url}/repos/octocat/app${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (await response.json()) as never;
  };

  beforeAll(async () => {
    github = await createEmulator({
      service: 'github',
      port: await freePort(),
      seed: {
        tokens: { tok: { login: 'octocat', scopes: ['repo'] } },
        github: {
          users: [{ login: 'octocat' }],
          repos: [
            { owner: 'octocat', name: 'app', auto_init: true },
            { owner: 'octocat', name: 'other', auto_init: true },
          ],
          apps: [
            {
              app_id: 12345,
              slug: 'countersign',
              name: 'Countersign',
              permissions: { contents: 'write', issues: 'write', pull_requests: 'write', metadata: 'read' },
              installations: [{ installation_id: 100, account: 'octocat', repository_selection: 'all' }],
            },
          ],
        },
      },
    } as never);
  });
  afterAll(() => github.close());
  beforeEach(() => github.reset());
  afterEach(() => world.close());

  const open = async (credentials: JsonObject) => {
    const folder = tempFolder();
    const config = {
      forge: 'github',
      repo_allowlist: ['octocat/app'],
      github: { base_url: github.url, ...credentials },
    };
    world = await openWorld({ cwd: folder, folder, config });
    run_id = await world.run('octocat/app');
  };
  const withKey = (): JsonObject => {
    const path = join(tempFolder(), 'key.pem');
    const secret = github.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key');
    writeFileSync(path, secret?.value ?? '');
    return { app_id: 12345, private_key_path: path };
  };
  const change = (more: JsonObject = {}): JsonObject => ({
    run_id,
    approval_id: '1',
    base_branch: 'main',
    head_branch: 'fix/a',
    commit_message: 'Ünï commit',
    pr_title: 'Change',
    pr_body: 'Body',
    files: [
      { path: 'docs/new.md', modified_content: 'ünï\r\n' },
      { path: 'README.md', modified_content: '# changed\n' },
    ],
    ...more,
  });

  describe.each(['a token', 'a GitHub App'] as const)('with %s', (kind) => {
    beforeEach(() => open(kind === 'a token' ? { token: 'tok' } : withKey()));

    it('creates an issue with a hidden marker and finds it again by that', async () => {
      const args = { run_id, title: 'Broken', body: 'It breaks.', labels: ['bug'] };
      const { data } = await world.call('github_issues_create', args, { callId: 'call-1' });
      expect(data).toMatchObject({ title: 'Broken', html_url: expect.stringContaining('/issues/') });
      const { number } = data as { number: number };
      expect(await api(`/issues/${number}`)).toMatchObject({
        body: 'It breaks.\n\n<!-- countersign:call=call-1 -->',
        labels: [{ name: 'bug' }],
      });
      expect(await world.reconcile('github_issues_create', args, 'call-1')).toMatchObject({
        settled: 'done',
        data: { number },
      });
      expect(await world.reconcile('github_issues_create', args, 'call-2')).toEqual({ settled: 'not_done' });
      expect(await world.view('issues', { repo: 'octocat/app' })).toMatchObject({
        issues: [{ body: 'It breaks.' }],
      });
    });

    it('commits files through the Git data API, opens a pull request, reads it and comments on it', async () => {
      const { data, artifacts } = await world.call('code_branch_pr_create', change(), { callId: 'call-3' });
      const made = data as { commit_hash: string; base_commit: string; pull_request: { number: number } };
      const pr_number = made.pull_request.number;
      expect(data).toMatchObject({
        pull_request: {
          title: 'Change',
          body: 'Body',
          state: 'open',
          head: { ref: 'fix/a', sha: made.commit_hash },
        },
      });
      expect(artifacts[0]?.text).toContain('new file mode 100644');
      expect(await api(`/git/commits/${made.commit_hash}`)).toMatchObject({
        message: 'Ünï commit',
        parents: [{ sha: made.base_commit }],
      });
      const { content } = (await api('/contents/docs/new.md?ref=fix/a')) as { content: string };
      expect(Buffer.from(content, 'base64').toString()).toBe('ünï\r\n');
      expect(await api(`/pulls/${pr_number}`)).toMatchObject({
        body: 'Body\n\n<!-- countersign:call=call-3 -->',
      });

      const { data: pull } = await world.call('github_pr_get', { run_id, pr_number });
      expect(pull).toMatchObject({
        number: pr_number,
        title: 'Change',
        body: 'Body',
        merged: false,
        base: { ref: 'main' },
      });
      const args = { run_id, pr_number, body: 'Nice.' };
      const { data: comment } = await world.call('github_pr_comment_create', args, { callId: 'call-4' });
      expect(comment).toMatchObject({ id: expect.any(Number), body: 'Nice.' });
      expect(await world.reconcile('github_pr_comment_create', args, 'call-4')).toMatchObject({
        settled: 'done',
      });
      expect(await world.reconcile('code_branch_pr_create', change(), 'call-3')).toMatchObject({
        settled: 'done',
        data: { commit_hash: made.commit_hash, pull_request: { number: pr_number } },
      });
      expect(await world.view('pr', { repo: 'octocat/app', number: pr_number })).toMatchObject({
        comments: [{ body: 'Nice.' }],
      });

      const again = await world.call('code_branch_pr_create', change());
      expect(again.data).toMatchObject({
        existed: true,
        commit_hash: made.commit_hash,
        pull_request: { number: pr_number },
      });
      const other = change({ files: [{ path: 'README.md', modified_content: 'other\n' }] });
      await expect(world.call('code_branch_pr_create', other)).rejects.toMatchObject({
        code: 'conflict',
        detail: { reason: 'branch_exists' },
      });
    });

    it('previews a change without writing anything', async () => {
      const { data } = await world.preview('code_branch_pr_create', change({ dry_run: true }));
      expect(data).toMatchObject({
        planned_commands: expect.arrayContaining([
          expect.stringContaining('POST /repos/octocat/app/git/refs'),
        ]),
      });
      await expect(
        world.services.repos
          .resolve('octocat/app')
          .then(({ forge }) => forge.baseCommit('fix/a', AbortSignal.timeout(9000))),
      ).rejects.toMatchObject({ code: 'not_found' });
    });

    it('reports a conflict for a stale original and creates nothing', async () => {
      const stale = change({
        files: [{ path: 'README.md', original_content: 'old', modified_content: 'new' }],
      });
      await expect(world.call('code_branch_pr_create', stale)).rejects.toMatchObject({
        code: 'conflict',
        detail: { conflicts: [{ path: 'README.md', reason: 'changed' }] },
      });
    });

    it('creates a batch', async () => {
      const issues = Array.from({ length: 5 }, (_, n) => ({ title: `I${n}`, body: '' }));
      const { data } = await world.call('github_issues_batch_create', { run_id, issues });
      expect(data).toMatchObject({ status: 'ok', created_fresh: 5 });
    });

    it('says what GitHub refuses', async () => {
      await expect(world.call('github_pr_get', { run_id, pr_number: 999 })).rejects.toMatchObject({
        code: 'not_found',
        detail: { reason: 'github_not_found' },
      });
      await expect(
        world.call('github_pr_comment_create', { run_id, pr_number: 999, body: 'x' }),
      ).rejects.toMatchObject({ code: 'not_found', effect: 'none' });
    });
  });

  it('asks for App tokens that can do one thing on one repository', async () => {
    await open(withKey());
    await world.call('github_issues_create', { run_id, title: 'T', body: '' });
    const answer = await fetch(`${github.url}/_emulate/installation-tokens`);
    const { installation_tokens } = (await answer.json()) as { installation_tokens: JsonObject[] };
    expect(installation_tokens).toMatchObject([
      { permissions: { contents: 'read' }, repository_selection: 'selected', repository_ids: [1] },
      { permissions: { issues: 'write' }, repository_selection: 'selected', repository_ids: [1] },
    ]);
    expect(installation_tokens.map(({ permissions }) => Object.keys(permissions as JsonObject))).toEqual([
      ['contents'],
      ['issues'],
    ]);
  });

  it('refuses to send credentials in clear beyond this machine', async () => {
    const folder = tempFolder();
    const config = {
      forge: 'github',
      repo_allowlist: ['a/b'],
      github: { base_url: 'http://ghe.example.org/api/v3', token: 'tok' },
    };
    world = await openWorld({ cwd: folder, folder, config });
    await expect(world.run('a/b')).rejects.toThrow('must begin with https');
  });
});
