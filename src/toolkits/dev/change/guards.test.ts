import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { dev } from '../config.ts';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../test/support/dev.ts';
import { findSecrets, neutralise } from './guards.ts';

const rules = (content: JsonObject = {}) => dev.schema.parse({ content }).content;
/** Written in parts, so that no scanner takes this file for a leak. */
const TOKEN = `${'ghp_'}${'aB3d'.repeat(10)}`;

describe('texts of agents', () => {
  it.each([
    ['ask @ada and @acme/team', 'ask `@ada` and `@acme/team`'],
    ['mail ada@example.org', 'mail ada@example.org'],
    [
      'code `@ada` and\n```\n@ada https://evil.test\n```',
      'code `@ada` and\n```\n@ada https://evil.test\n```',
    ],
    ['see https://evil.test/a?b=1.', 'see `https://evil.test/a?b=1.`'],
    ['[text](https://evil.test/x)', '[text](`https://evil.test/x`)'],
    ['https://github.com/acme/app/pull/1', 'https://github.com/acme/app/pull/1'],
    ['https://gist.github.com/x', 'https://gist.github.com/x'],
    ['https://github.com@evil.test/', '`https://github.com@evil.test/`'],
    ['https://notgithub.com/', '`https://notgithub.com/`'],
  ])('notify and link no one that is not allowed: %s', (text, expected) => {
    expect(neutralise(text, rules())).toBe(expected);
  });

  it('are left alone where the configuration allows it', () => {
    const text = 'ask @Ada, @bob: https://example.org';
    expect(neutralise(text, rules({ mentions: ['*'], link_hosts: ['*'] }))).toBe(text);
    expect(neutralise(text, rules({ mentions: ['ada'], link_hosts: ['example.org'] }))).toBe(
      'ask @Ada, `@bob`: https://example.org',
    );
  });
});

describe('the secret scan', () => {
  const file = (patch: string) => ({
    path: 'a.env',
    status: 'modified' as const,
    additions: 1,
    deletions: 1,
    binary: false,
    patch,
  });

  it('names the place of an added secret, and takes what is removed or stays for what it is', () => {
    const head = 'diff --git a/a.env b/a.env\n--- a/a.env\n+++ b/a.env\n';
    expect(findSecrets([file(`${head}@@ -4,3 +4,3 @@\n keep\n-old\n+key = ${TOKEN}\n end\n`)])).toEqual([
      { kind: 'a GitHub token', path: 'a.env', line: 5 },
    ]);
    expect(findSecrets([file(`${head}@@ -1,2 +1,1 @@\n-key = ${TOKEN}\n ${TOKEN}\n`)])).toEqual([]);
  });

  it.each([
    `-----BEGIN ${'RSA PRIVATE'} KEY-----`,
    `AKIA${'ABCDEFGH12345678'}`,
    `postgres://user:${'s3cretpass'}@db.example.org/x`,
    `sk-ant-${'a'.repeat(40)}`,
  ])('knows %s', (text) => {
    expect(findSecrets([file(`@@ -0,0 +1 @@\n+${text}\n`)])).toHaveLength(1);
  });

  it.each(['const key = process.env.GITHUB_TOKEN;', 'https://user:$PASSWORD@host/', 'sk-learn', 'AKIA'])(
    'lets through what is no secret: %s',
    (text) => {
      expect(findSecrets([file(`@@ -0,0 +1 @@\n+${text}\n`)])).toEqual([]);
    },
  );
});

describe('the guards of a run', () => {
  let world: DevWorld;
  let run_id: string;
  const open = async (config: JsonObject) => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'app'), {
      'src/a.ts': 'a\n',
      'package.json': '{}\n',
      'AGENTS.md': 'x\n',
    });
    world = await openWorld({ cwd: '/', folder, config: { ...config, repos: { app: { path: repo } } } });
    run_id = await world.run('app');
  };
  afterEach(() => world.close());
  const issue = (n: number, more: JsonObject = {}) =>
    world.call('github_issues_create', { run_id, title: `Issue ${n}`, body: 'b', ...more });
  const change = (file: JsonObject): JsonObject => ({
    run_id,
    approval_id: 'x',
    base_branch: 'main',
    head_branch: 'fix/a',
    commit_message: 'm',
    pr_title: 't',
    files: [{ modified_content: 'changed\n', ...file }],
  });
  const present = async (file: JsonObject) => {
    const tool = world.tool('code_branch_pr_create');
    const args = change(file);
    await tool.check?.(args, world.services);
    const binding = await tool.bind?.(args, world.services);
    return tool.present?.(args, {
      services: world.services,
      binding,
      earlier: undefined,
      principal: { kind: 'agent', id: 'local' },
      asked: undefined,
      signal: new AbortController().signal,
    });
  };

  it('stop at the caps of each kind, before anything is sent, and start again in a new run', async () => {
    await open({ limits: { issues: 2, pull_requests: 0 } });
    await issue(1);
    await issue(2);
    await expect(issue(3)).rejects.toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'run_limit', kind: 'issues', limit: 2 },
      hint: expect.stringContaining('dev.limits.issues'),
    });
    await expect(present({ path: 'src/a.ts' })).rejects.toMatchObject({ detail: { kind: 'pull_requests' } });
    run_id = await world.run('app');
    await issue(3);
  });

  it('stop comments and updates at their caps, before a person is asked', async () => {
    await open({ limits: { comments: 1, updates: 1 } });
    await world.call('code_branch_pr_create', change({ path: 'src/a.ts' }));
    const comment = (body: string) => world.call('github_pr_comment_create', { run_id, pr_number: 1, body });
    await comment('first');
    await expect(comment('second')).rejects.toMatchObject({
      detail: { reason: 'run_limit', kind: 'comments', limit: 1 },
      hint: expect.stringContaining('dev.limits.comments'),
    });
    const update = (text: string): JsonObject => ({
      run_id,
      approval_id: 'x',
      pr_number: 1,
      commit_message: 'm',
      files: [{ path: 'src/a.ts', modified_content: text }],
    });
    await world.call('code_branch_pr_update', update('one\n'));
    const capped = { detail: { reason: 'run_limit', kind: 'updates', limit: 1 } };
    const tool = world.tool('code_branch_pr_update');
    const { services } = world;
    const args = update('two\n');
    const binding = await tool.bind?.(args, services);
    const signal = new AbortController().signal;
    const principal = { kind: 'agent', id: 'test' } as const;
    const context = { services, binding, signal, principal, asked: undefined, earlier: undefined };
    await expect(tool.present?.(args, context)).rejects.toMatchObject(capped);
    await expect(world.preview('code_branch_pr_update', args)).rejects.toMatchObject(capped);
    await expect(world.call('code_branch_pr_update', args)).rejects.toMatchObject(capped);
  });

  it('write mentions and links in commit messages as code, on a new branch and on an update', async () => {
    await open({ content: { mentions: ['ada'] } });
    const said = 'Thanks @ada and @octocat, see https://evil.test/x';
    const written = 'Thanks @ada and `@octocat`, see `https://evil.test/x`';
    await world.call('code_branch_pr_create', { ...change({ path: 'src/a.ts' }), commit_message: said });
    const repo = join(world.folder, 'app');
    expect(git(repo, 'log', '-1', '--format=%B', 'fix/a')).toBe(written);
    const files = [{ path: 'src/a.ts', modified_content: 'again\n' }];
    const update = { run_id, approval_id: 'x', pr_number: 1, commit_message: said, files };
    await world.call('code_branch_pr_update', update, { callId: 'u1' });
    expect(git(repo, 'log', '-1', '--format=%B', 'fix/a')).toBe(written);
    expect(await world.reconcile('code_branch_pr_update', update, 'u1')).toMatchObject({ settled: 'done' });
  });

  it('put the prefix before titles, allow listed labels and refuse a secret without repeating it', async () => {
    await open({ content: { title_prefix: '[agent] ', labels: ['bug', 'area/*'] } });
    expect((await issue(1, { labels: ['bug', 'area/ui'] })).data).toMatchObject({ title: '[agent] Issue 1' });
    await expect(issue(2, { labels: ['urgent'] })).rejects.toMatchObject({
      detail: { reason: 'label_not_allowed', labels: ['urgent'] },
    });
    const fault = await issue(3, { body: `a\nuse ${TOKEN}` }).catch((error: Error) => error);
    expect(fault).toMatchObject({
      detail: { reason: 'secret_found', places: ['body line 2 (a GitHub token)'] },
    });
    expect(JSON.stringify(fault)).not.toContain(TOKEN);
    const leak = await present({ path: 'src/a.ts', modified_content: `a\nconst t = '${TOKEN}';\n` }).catch(
      (error: Error) => error,
    );
    expect(leak).toMatchObject({ detail: { places: ['src/a.ts line 2 (a GitHub token)'] } });
    expect(String(leak)).not.toContain(TOKEN);
  });

  it('protect manifests and instructions unless a rule allows them, and then say so loudly', async () => {
    await open({});
    for (const path of [
      'package.json',
      'sub/package-lock.json',
      'AGENTS.md',
      '.mcp.json',
      '.husky/pre-commit',
      '.vscode/x',
    ])
      await expect(present({ path }), path).rejects.toMatchObject({
        detail: { reason: 'path_policy_forbidden' },
      });
    await world.close();
    await open({ allow_protected: ['package.json'] });
    expect((await present({ path: 'package.json' }))?.risks).toContain(
      'PROTECTED FILE: package.json (rule package.json)',
    );
    await expect(present({ path: 'AGENTS.md' })).rejects.toMatchObject({ code: 'not_allowed' });
    // Moving a protected file away is a change of it too.
    const moved = { path: 'src/b.md', previous_path: 'AGENTS.md', modified_content: '', keep_content: true };
    await expect(present(moved)).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('keep changes inside the allowlist of paths', async () => {
    await open({ path_allowlist: ['src/'] });
    expect((await present({ path: 'src/a.ts' }))?.body?.at(-1)).toMatchObject({
      type: 'diff',
      files: [{ path: 'src/a.ts' }],
    });
    await expect(present({ path: 'docs/x.md' })).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('dev.path_allowlist'),
    });
  });
});
