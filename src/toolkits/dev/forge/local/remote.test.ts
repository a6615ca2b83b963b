import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DevWorld, git, makeRepo, openWorld, tempFolder, writeFiles } from '../../test/support/dev.ts';

describe('a local forge with a push remote', () => {
  let world: DevWorld;
  let repo: string;
  let remote: string;
  let run_id: string;

  beforeEach(async () => {
    const folder = tempFolder();
    repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    remote = join(folder, 'remote.git');
    git(folder, 'clone', '-q', '--bare', repo, remote);
    git(repo, 'remote', 'add', 'hub', remote);
    const config = {
      repos: { app: { path: repo, remote: 'hub' } },
      qa: { sandbox: 'off', test: ['cat', 'a.txt'] },
    };
    world = await openWorld({ cwd: '/', folder, config });
    run_id = await world.run('app');
  });
  afterEach(() => world.close());

  const change = (text = 'two\n', original = 'one\n') => ({
    run_id,
    approval_id: '1',
    base_branch: 'main',
    head_branch: 'fix/a',
    commit_message: 'm',
    pr_title: 't',
    files: [{ path: 'a.txt', original_content: original, modified_content: text }],
  });
  const nothingLeft = async () => {
    expect(git(repo, 'for-each-ref', 'refs/heads/fix')).toBe('');
    expect(await world.view('prs', { repo: 'app', state: 'all' })).toMatchObject({ prs: [] });
  };

  it('pushes the branch, never running hooks of the clone', async () => {
    mkdirSync(join(repo, '.git/hooks'), { recursive: true });
    writeFileSync(join(repo, '.git/hooks/pre-push'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(repo, '.git/hooks/pre-push'), 0o755);
    const { data } = await world.call('code_branch_pr_create', change());
    const commit = (data as { commit_hash: string }).commit_hash;
    expect(git(remote, 'rev-parse', 'fix/a')).toBe(commit);
    expect(git(repo, 'rev-parse', 'fix/a')).toBe(commit);
    expect((data as { planned_commands: string[] }).planned_commands.join('\n')).toContain('push hub ');
    const again = await world.call('code_branch_pr_create', change());
    expect(again.data).toMatchObject({ existed: true, commit_hash: commit });
  });

  it('starts from the remote, also when the clone lags behind, and moves no branch of the clone', async () => {
    const other = join(world.folder, 'other');
    git(world.folder, 'clone', '-q', remote, other);
    writeFiles(other, { 'a.txt': 'newer\n' });
    git(other, 'commit', '-q', '-am', 'newer');
    git(other, 'push', '-q', 'origin', 'main');
    const mine = git(repo, 'rev-parse', 'main');
    await expect(world.call('code_branch_pr_create', change())).rejects.toMatchObject({
      detail: { conflicts: [{ path: 'a.txt', reason: 'changed' }] },
    });
    await world.call('code_branch_pr_create', change('two\n', 'newer\n'));
    expect(git(repo, 'rev-parse', 'fix/a^')).toBe(git(remote, 'rev-parse', 'main'));
    expect(git(repo, 'rev-parse', 'main')).toBe(mine);
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({ report: { stdout: 'two\n' } });
  });

  it('refuses a branch the remote has with other content, and leaves nothing behind', async () => {
    git(remote, 'update-ref', 'refs/heads/fix/a', 'main');
    await expect(world.call('code_branch_pr_create', change())).rejects.toMatchObject({
      code: 'conflict',
      effect: 'none',
      detail: { reason: 'branch_exists' },
    });
    await nothingLeft();
  });

  const update = (more = {}) => ({
    run_id,
    approval_id: '1',
    pr_number: 1,
    commit_message: 'more',
    files: [{ path: 'a.txt', original_content: 'two\n', modified_content: 'three\n' }],
    ...more,
  });

  it('pushes the commit of an update, from the head it was approved on', async () => {
    await world.call('code_branch_pr_create', change());
    const { data } = await world.call('code_branch_pr_update', update());
    const { commit_hash, previous_head, planned_commands } = data as {
      commit_hash: string;
      previous_head: string;
      planned_commands: string[];
    };
    expect(git(remote, 'rev-parse', 'fix/a', 'fix/a^').split('\n')).toEqual([commit_hash, previous_head]);
    expect(git(repo, 'rev-parse', 'fix/a')).toBe(commit_hash);
    expect(planned_commands.join('\n')).toContain('push hub ');
  });

  it('refuses an update when the branch has moved on the remote, and changes nothing', async () => {
    await world.call('code_branch_pr_create', change());
    const here = git(repo, 'rev-parse', 'fix/a');
    const moved = git(remote, 'commit-tree', '-m', 'theirs', '-p', here, `${here}^{tree}`);
    git(remote, 'update-ref', 'refs/heads/fix/a', moved);
    await expect(world.call('code_branch_pr_update', update())).rejects.toMatchObject({
      code: 'conflict',
      effect: 'none',
      detail: { reason: 'head_moved', head_branch: 'fix/a' },
    });
    expect(git(remote, 'rev-parse', 'fix/a')).toBe(moved);
    expect(git(repo, 'rev-parse', 'fix/a')).toBe(here);
  });

  it('continues an update that was pushed but never arrived in the clone', async () => {
    await world.call('code_branch_pr_create', change());
    const before = git(repo, 'rev-parse', 'fix/a');
    await world.call('code_branch_pr_update', update(), { callId: 'u1' });
    const pushed = git(remote, 'rev-parse', 'fix/a');
    // As a process leaves it that ended between the push and the branch of the clone.
    git(repo, 'update-ref', 'refs/heads/fix/a', before);
    expect(await world.reconcile('code_branch_pr_update', update(), 'u1')).toMatchObject({
      settled: 'not_done',
      left: expect.stringContaining(pushed.slice(0, 12)),
    });
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // A new commit would have another date.
    const { data } = await world.call('code_branch_pr_update', update(), { callId: 'u2' });
    expect(data).toMatchObject({ commit_hash: pushed, previous_head: before });
    expect(git(repo, 'rev-parse', 'fix/a')).toBe(pushed);
    expect(await world.reconcile('code_branch_pr_update', update(), 'u2')).toMatchObject({ settled: 'done' });
  });

  it('says so when the remote does not take the branch', async () => {
    mkdirSync(join(remote, 'hooks'), { recursive: true });
    writeFileSync(join(remote, 'hooks/pre-receive'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(remote, 'hooks/pre-receive'), 0o755);
    await expect(world.call('code_branch_pr_create', change())).rejects.toMatchObject({
      code: 'unavailable',
      effect: 'none',
    });
    await nothingLeft();
  });

  it('fails before anything is made when the remote is gone', async () => {
    renameSync(remote, `${remote}.away`);
    await expect(world.call('code_branch_pr_create', change())).rejects.toMatchObject({
      code: 'unavailable',
      effect: 'none',
    });
    renameSync(`${remote}.away`, remote);
    await nothingLeft();
    expect((await world.call('code_branch_pr_create', change())).data).toMatchObject({
      pull_request: { number: 1 },
    });
  });
});

describe('simultaneous calls on one clone', () => {
  it('make each branch once and give every call an answer that is true', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    const world = await openWorld({ cwd: repo, folder });
    const run_id = await world.run('.');
    const attempt = (head_branch: string, text: string) =>
      world.call('code_branch_pr_create', {
        run_id,
        approval_id: '1',
        base_branch: 'main',
        head_branch,
        commit_message: 'm',
        pr_title: text,
        files: [{ path: 'a.txt', original_content: 'one\n', modified_content: `${text}\n` }],
      });
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => attempt(`fix/${n % 4}`, n < 4 ? `first ${n}` : `second ${n}`)),
    );
    const won = results.filter((result) => result.status === 'fulfilled');
    const lost = results.filter((result) => result.status === 'rejected');
    expect(won).toHaveLength(4);
    for (const { reason } of lost) expect(reason).toMatchObject({ code: 'conflict', effect: 'none' });
    const { prs } = (await world.view('prs')) as { prs: { title: string; head: { ref: string } }[] };
    expect(prs.map(({ head }) => head.ref).sort()).toEqual(['fix/0', 'fix/1', 'fix/2', 'fix/3']);
    for (const { title, head } of prs) expect(git(repo, 'show', `${head.ref}:a.txt`)).toBe(title);
    await world.close();
  });

  it('see a base that moves before the branch is made', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'app'), { 'a.txt': 'one\n' });
    const world = await openWorld({ cwd: repo, folder });
    const run_id = await world.run('.');
    const { local } = await world.services.repos.resolve('.');
    const base = git(repo, 'rev-parse', 'main');
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'moved');
    const plan = {
      baseBranch: 'main',
      headBranch: 'fix/late',
      baseCommit: base,
      message: 'm',
      title: 't',
      body: '',
      removed: [],
      sides: { before: new Map(), after: new Map() },
      files: [{ path: 'a.txt', mode: '100644', content: Buffer.from('two\n') }],
    };
    const stamp = {
      callId: 'c',
      author: { kind: 'agent', id: 'x' } as const,
      runId: run_id,
      at: new Date(),
      signal: AbortSignal.timeout(30_000),
    };
    await expect(local?.publish(plan, stamp)).rejects.toMatchObject({
      code: 'conflict',
      detail: { reason: 'base_moved' },
    });
    expect(git(repo, 'for-each-ref', 'refs/heads/fix')).toBe('');
    expect(await world.view('prs', { state: 'all' })).toMatchObject({ prs: [] });
    await world.close();
  });
});
