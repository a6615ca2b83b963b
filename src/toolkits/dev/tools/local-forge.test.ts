import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { type DevWorld, git, makeRepo, openWorld, snapshot, tempFolder } from '../test/support/dev.ts';

const ADA = { kind: 'person', id: 'ada' } as const;

describe('on a local clone', () => {
  let world: DevWorld;
  let repo: string;
  let run_id: string;

  beforeEach(async () => {
    const folder = tempFolder();
    repo = makeRepo(join(folder, 'widgets'), {
      'README.md': 'hello\n',
      'src/a.txt': 'one\ntwo\nthree\n',
      'bin/run.sh': '#!/bin/sh\n',
    });
    git(repo, 'update-index', '--chmod=+x', 'bin/run.sh');
    git(repo, 'commit', '-q', '-m', 'executable');
    git(repo, 'checkout', '-q', '--', '.');
    world = await openWorld({ cwd: repo, folder });
    run_id = await world.run('widgets');
  });
  afterEach(() => world.close());

  const change = (more: JsonObject = {}): JsonObject => ({
    run_id,
    approval_id: '1',
    base_branch: 'main',
    head_branch: 'fix/greeting',
    commit_message: 'Say it louder',
    pr_title: 'Louder',
    pr_body: 'Because.',
    files: [
      { path: 'README.md', original_content: 'hello\n', modified_content: 'HELLO\n' },
      { path: 'docs/new.md', modified_content: 'ünï\r\n' },
      { path: 'bin/run.sh', original_content: '#!/bin/sh\n', modified_content: '#!/bin/sh\necho hi\n' },
    ],
    ...more,
  });

  it('starts a run under the name of the folder, from its current commit', async () => {
    const { data, notes } = await world.call('runs_create', { repo: '.', purpose: '  tidy up ' });
    expect(data).toEqual({
      run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      repo: 'widgets',
      purpose: 'tidy up',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(notes).toEqual({ run_id: (data as { run_id: string }).run_id });
    expect(await world.view('runs')).toMatchObject({ runs: [{ repo: 'widgets', base_branch: 'main' }, {}] });
  });

  it('reads branches, tags and commits that they lead to, and nothing that git keeps beside them', async () => {
    const path = 'README.md';
    const write = (text: string) => writeFileSync(join(repo, path), text);
    write('older\n');
    git(repo, 'commit', '-q', '-a', '-m', 'discarded');
    const discarded = git(repo, 'rev-parse', 'HEAD');
    write('tagged\n');
    git(repo, 'commit', '-q', '-a', '--amend', '-m', 'kept');
    git(repo, 'tag', '-a', 'v1', '-m', 'one');
    const kept = git(repo, 'rev-parse', 'HEAD');
    write('stashed\n');
    git(repo, 'stash', 'push', '-q');
    const stash = git(repo, 'rev-parse', 'stash');
    const read = (ref: string) => world.call('code_read', { run_id, path, ref });
    for (const ref of ['main', 'v1', kept, kept.slice(0, 10), 'HEAD'])
      expect((await read(ref)).data, ref).toMatchObject({ content: ref === 'HEAD' ? 'hello\n' : 'tagged\n' });

    const missing = [
      stash,
      stash.slice(0, 10),
      discarded,
      'stash',
      `x-g${stash}`,
      `main-1-g${stash.slice(0, 12)}`,
    ];
    const revisions = [
      ...[
        'main@{1}',
        'HEAD@{1}',
        'stash@{0}',
        '@{-1}',
        'main@{upstream}',
        '@',
        'refs/stash',
        'refs/heads/main',
      ],
      ...['main~1', 'main^', 'main^{/first}', ':/first', 'main..v1', 'main...v1', '^main', 'main:README.md'],
      ...['--all', '-1', 'main\n', 'ma*', '../HEAD', 'main.lock'],
    ];
    const tools: { tool: string; args: JsonObject }[] = [
      { tool: 'code_read', args: { path } },
      { tool: 'code_tree', args: {} },
      { tool: 'code_search', args: { query: 'e' } },
      { tool: 'github_checks_get', args: {} },
    ];
    for (const { tool, args } of tools) {
      for (const ref of missing)
        await expect(world.call(tool, { run_id, ...args, ref }), `${tool} ${ref}`).rejects.toMatchObject({
          code: 'not_found',
          detail: { reason: 'ref_not_found' },
        });
      for (const ref of revisions)
        await expect(world.call(tool, { run_id, ...args, ref }), `${tool} ${ref}`).rejects.toMatchObject({
          code: 'invalid_input',
          detail: { reason: 'ref_invalid' },
        });
    }
    // A branch to build on is looked up the same way.
    const onStash = change({ base_branch: `x-g${stash}` });
    await expect(world.call('code_branch_pr_create', onStash)).rejects.toMatchObject({
      code: 'not_found',
      detail: { reason: 'base_not_found' },
    });
  });

  it('creates issues with numbers of their own and finds them by their call', async () => {
    const args = { run_id, title: ' Broken ', body: 'It breaks.', labels: ['b', 'a', 'b'] };
    const first = await world.call('github_issues_create', args, { callId: 'call-1' });
    const second = await world.call('github_issues_create', { ...args, title: 'Other' });
    expect(first.data).toEqual({
      number: 1,
      title: 'Broken',
      html_url: 'countersign://dev/widgets/issues/1',
    });
    expect(second.data).toMatchObject({ number: 2 });
    expect(await world.reconcile('github_issues_create', args, 'call-1')).toEqual({
      settled: 'done',
      data: first.data,
    });
    expect(await world.reconcile('github_issues_create', args, 'call-x')).toEqual({ settled: 'not_done' });
    expect(await world.view('issue', { number: 1 })).toMatchObject({
      issue: { labels: ['a', 'b'], author: { login: 'local', kind: 'agent', trust: 'untrusted' } },
    });
  });

  it('previews an issue without creating it', async () => {
    const { data } = await world.preview('github_issues_create', {
      run_id,
      title: 'T',
      body: 'B',
      dry_run: true,
    });
    expect(data).toEqual({ would_create: { repo: 'widgets', title: 'T', body: 'B', labels: [] } });
    expect(await world.view('issues')).toMatchObject({ issues: [] });
  });

  it.each<[string, JsonObject, string]>([
    ['a blank title', { title: '   ' }, 'must not be blank'],
    ['a title of too many bytes', { title: 'é'.repeat(129) }, 'at most 256 bytes'],
    ['too long a body', { body: 'x'.repeat(65_537) }, 'at most 65536 bytes'],
    ['too many labels', { labels: Array.from({ length: 21 }, (_, n) => `l${n}`) }, 'labels'],
    ['a blank label', { labels: [' '] }, 'must not be blank'],
    ['too long a label', { labels: ['x'.repeat(51)] }, 'at most 50 bytes'],
    ['an unknown argument', { extra: 1 }, 'is not a known argument'],
  ])('refuses an issue with %s', async (_what, wrong, why) => {
    await expect(
      world.call('github_issues_create', { run_id, title: 'T', body: 'B', ...wrong }),
    ).rejects.toThrow(why);
  });

  it('refuses calls for a run that does not exist', async () => {
    await expect(
      world.call('github_issues_create', { run_id: 'nope', title: 'T', body: 'B' }),
    ).rejects.toMatchObject({
      code: 'not_found',
      detail: { reason: 'run_not_found' },
    });
  });

  it('commits to a new branch, opens a pull request and leaves the working tree as it was', async () => {
    writeFileSync(join(repo, 'README.md'), 'the person is editing this\n');
    writeFileSync(join(repo, 'untracked.txt'), 'mine\n');
    const before = snapshot(repo);
    const { data, artifacts } = await world.call('code_branch_pr_create', change());
    const base = git(repo, 'rev-parse', 'main');
    const head = git(repo, 'rev-parse', 'fix/greeting');
    expect(data).toMatchObject({
      base_branch: 'main',
      head_branch: 'fix/greeting',
      base_commit: base,
      commit_hash: head,
      pull_request: {
        number: 1,
        title: 'Louder',
        body: 'Because.',
        state: 'open',
        draft: false,
        merged: false,
        mergeable: true,
        base: { ref: 'main', sha: base },
        head: { ref: 'fix/greeting', sha: head },
        author: { login: 'local', kind: 'agent', trust: 'untrusted' },
      },
      patch_artifact_id: artifacts[0]?.id,
    });
    expect(git(repo, 'log', '-1', '--format=%P|%an|%B', head)).toBe(`${base}|Countersign|Say it louder`);
    expect(git(repo, 'show', `${head}:README.md`)).toBe('HELLO');
    expect(git(repo, 'cat-file', '-s', `${head}:docs/new.md`)).toBe('7');
    expect(git(repo, 'ls-tree', head, 'bin/run.sh')).toContain('100755');
    git(repo, 'update-ref', '-d', 'refs/heads/fix/greeting');
    expect(snapshot(repo)).toBe(before);
  });

  it('keeps a patch as artifact that git applies to the base', async () => {
    const { artifacts } = await world.call('code_branch_pr_create', change());
    const clone = join(world.folder, 'other');
    git(world.folder, 'clone', '-q', '--branch', 'main', repo, clone);
    writeFileSync(join(clone, '.git/p'), artifacts[0]?.text ?? '');
    git(clone, 'apply', '--index', '.git/p');
    expect(git(clone, 'write-tree')).toBe(git(repo, 'rev-parse', 'fix/greeting^{tree}'));
  });

  it('shows planned commands and the patch in a dry run and changes nothing', async () => {
    const before = snapshot(repo);
    const { data } = await world.preview(
      'code_branch_pr_create',
      change({ dry_run: true, approval_id: 'none' }),
    );
    expect(data).toMatchObject({
      patch: expect.stringContaining('+HELLO'),
      patch_artifact_id: expect.any(String),
    });
    const { planned_commands } = data as { planned_commands: string[] };
    expect(planned_commands.join('\n')).toMatch(
      /read-tree[\s\S]*hash-object[\s\S]*write-tree[\s\S]*commit-tree[\s\S]*update-ref/,
    );
    expect(data).not.toHaveProperty('commit_hash');
    expect(snapshot(repo)).toBe(before);
    expect(await world.view('prs', { state: 'all' })).toMatchObject({ prs: [] });
  });

  it('binds a permit to the repository and the base commit of now', async () => {
    const bind = () => world.tool('code_branch_pr_create').bind?.(change() as never, world.services);
    const first = await bind();
    expect(first).toEqual({ repo: 'widgets', base_commit: git(repo, 'rev-parse', 'main') });
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'moved');
    expect(await bind()).not.toEqual(first);
  });

  it('reports a conflict for each file that is not what the caller believes', async () => {
    const files = [
      { path: 'README.md', original_content: 'stale\n', modified_content: 'x\n' },
      { path: 'gone.txt', original_content: 'was here\n', modified_content: 'x\n' },
      { path: 'src/a.txt', original_content: 'one\ntwo\nthree\n', modified_content: 'fine\n' },
      { path: 'bin/run.sh', original_content: '', modified_content: 'x\n' },
    ];
    const before = snapshot(repo);
    await expect(world.call('code_branch_pr_create', change({ files }))).rejects.toMatchObject({
      code: 'conflict',
      effect: 'none',
      detail: {
        conflicts: [
          { path: 'README.md', reason: 'changed', base_blob: git(repo, 'rev-parse', 'main:README.md') },
          { path: 'gone.txt', reason: 'missing', base_blob: null },
          { path: 'bin/run.sh', reason: 'changed' },
        ],
      },
    });
    expect(snapshot(repo)).toBe(before);
  });

  it('refuses a change that changes nothing, a missing base and a file that is not text', async () => {
    const same = change({ files: [{ path: 'README.md', modified_content: 'hello\n' }] });
    await expect(world.call('code_branch_pr_create', same)).rejects.toMatchObject({
      detail: { reason: 'nothing_to_change' },
    });
    await expect(world.call('code_branch_pr_create', change({ base_branch: 'nope' }))).rejects.toMatchObject({
      code: 'not_found',
    });
    writeFileSync(join(repo, 'photo'), Buffer.from([0xff, 0xfe, 0x00]));
    git(repo, 'add', 'photo');
    git(repo, 'commit', '-q', '-m', 'binary');
    const binary = change({ files: [{ path: 'photo', modified_content: 'text' }] });
    await expect(world.call('code_branch_pr_create', binary)).rejects.toMatchObject({
      detail: { conflicts: [{ path: 'photo', reason: 'not_text' }] },
    });
  });

  it('takes over an equal branch, answers the same pull request, and refuses a different one', async () => {
    const first = (await world.call('code_branch_pr_create', change())).data as { commit_hash: string };
    const again = await world.call('code_branch_pr_create', change());
    expect(again.data).toMatchObject({
      commit_hash: first.commit_hash,
      existed: true,
      pull_request: { number: 1 },
    });
    const other = change({ files: [{ path: 'README.md', modified_content: 'other\n' }] });
    await expect(world.call('code_branch_pr_create', other)).rejects.toMatchObject({
      code: 'conflict',
      detail: { reason: 'branch_exists' },
    });
    const below = change({ head_branch: 'fix/greeting/deeper' });
    await expect(world.call('code_branch_pr_create', below)).rejects.toMatchObject({
      detail: { reason: 'branch_exists' },
    });
    expect(await world.view('prs', { state: 'all' })).toMatchObject({ prs: [{ number: 1 }] });
  });

  it('opens a pull request for an equal branch that a person made', async () => {
    await world.call('code_branch_pr_create', change());
    await world.call('dev_pr_close', { repo: '.', pr_number: 1 }, { principal: ADA });
    const { data } = await world.call('code_branch_pr_create', change());
    expect(data).toMatchObject({ existed: true, pull_request: { state: 'open', number: 2 } });
  });

  it('does not answer with a pull request into another base', async () => {
    git(repo, 'branch', 'next', 'main');
    await world.call('code_branch_pr_create', change({ base_branch: 'next' }));
    expect((await world.call('code_branch_pr_create', change())).data).toMatchObject({
      existed: true,
      pull_request: { number: 2, base: { ref: 'main' } },
    });
  });

  it('reads a pull request, its files from git, and comments on it', async () => {
    await world.call('code_branch_pr_create', change());
    const { data: pull } = await world.call('github_pr_get', { run_id, pr_number: 1 });
    expect(pull).toMatchObject({
      number: 1,
      title: 'Louder',
      mergeable: true,
      base: { ref: 'main' },
      head: { ref: 'fix/greeting' },
    });
    const { data: listed } = await world.call('github_pr_files_list', { run_id, pr_number: 1 });
    expect(listed).toMatchObject({
      count: 3,
      truncated: false,
      summary: { total_files: 3, total_additions: 3, total_deletions: 1, total_changes: 4 },
      files: [
        {
          filename: 'README.md',
          status: 'modified',
          additions: 1,
          deletions: 1,
          changes: 2,
          patch: '@@ -1 +1 @@\n-hello\n+HELLO',
        },
        { filename: 'bin/run.sh', status: 'modified' },
        { filename: 'docs/new.md', status: 'added' },
      ],
    });
    const args = { run_id, pr_number: 1, body: 'Looks good.' };
    const { data: comment } = await world.call('github_pr_comment_create', args, { callId: 'c1' });
    expect(comment).toEqual({
      id: 1,
      body: 'Looks good.',
      html_url: 'countersign://dev/widgets/pull/1#comment-1',
    });
    expect(await world.reconcile('github_pr_comment_create', args, 'c1')).toMatchObject({
      settled: 'done',
      data: { id: 1 },
    });
    await expect(world.call('github_pr_comment_create', { ...args, pr_number: 9 })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(world.call('github_pr_comment_create', { ...args, body: ' \n' })).rejects.toThrow(
      'must not be blank',
    );
  });

  it('lists renamed, removed, binary and retyped files as git sees them', async () => {
    await world.call('code_branch_pr_create', change());
    git(repo, 'checkout', '-q', 'fix/greeting');
    git(repo, 'mv', 'src/a.txt', 'src/b.txt');
    git(repo, 'rm', '-q', 'docs/new.md');
    writeFileSync(join(repo, 'x.bin'), Buffer.from([0, 1, 2]));
    git(repo, 'rm', '-q', 'README.md');
    git(repo, 'add', '-A');
    execSymlink(repo);
    git(repo, 'commit', '-q', '-m', 'more');
    git(repo, 'checkout', '-q', 'main');
    const { data } = await world.call('github_pr_files_list', { run_id, pr_number: 1 });
    const files = (
      data as { files: { filename: string; status: string; patch?: string; previous_filename?: string }[] }
    ).files;
    expect(files.map(({ filename, status }) => [filename, status])).toEqual([
      ['README.md', 'changed'],
      ['bin/run.sh', 'modified'],
      ['src/b.txt', 'renamed'],
      ['x.bin', 'added'],
    ]);
    expect(files[1]?.patch).toContain('+echo hi');
    expect(files[2]?.previous_filename).toBe('src/a.txt');
    expect(files[3]).not.toHaveProperty('patch');
  });

  it('merges for a person, moving the checked out base with its files, and refuses agents', async () => {
    await world.call('code_branch_pr_create', change());
    await expect(world.call('dev_pr_merge', { repo: 'widgets', pr_number: 1 })).rejects.toMatchObject({
      code: 'not_allowed',
    });
    writeFileSync(join(repo, 'untracked.txt'), 'mine\n');
    const { data } = await world.call(
      'dev_pr_merge',
      { repo: '.', pr_number: 1 },
      { principal: ADA, callId: 'm1' },
    );
    expect(data).toMatchObject({
      merged: true,
      state: 'closed',
      merge_commit: git(repo, 'rev-parse', 'main'),
    });
    expect(readFileSync(join(repo, 'README.md'), 'utf8')).toBe('HELLO\n');
    expect(git(repo, 'status', '--porcelain')).toBe('?? untracked.txt');
    expect(git(repo, 'log', '-1', '--format=%P').split(' ')).toHaveLength(2);
    const { data: files } = await world.call('github_pr_files_list', { run_id, pr_number: 1 });
    expect(files).toMatchObject({ count: 3 });
    expect(await world.reconcile('dev_pr_merge', { repo: '.', pr_number: 1 }, 'm1')).toMatchObject({
      settled: 'done',
    });
    await expect(
      world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  it('does not merge over uncommitted changes, nor another head than the one looked at', async () => {
    await world.call('code_branch_pr_create', change());
    writeFileSync(join(repo, 'README.md'), 'being edited\n');
    const before = snapshot(repo);
    await expect(
      world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA }),
    ).rejects.toMatchObject({
      code: 'conflict',
      detail: { reason: 'base_busy' },
    });
    await expect(
      world.call(
        'dev_pr_merge',
        { repo: '.', pr_number: 1, expected_head: 'f'.repeat(40) },
        { principal: ADA },
      ),
    ).rejects.toMatchObject({ detail: { reason: 'head_moved' } });
    expect(snapshot(repo)).toBe(before);
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { state: 'open', merged: false } });
  });

  it('squashes where the base is not checked out, without touching any working tree', async () => {
    await world.call('code_branch_pr_create', change());
    git(repo, 'checkout', '-q', '-b', 'elsewhere');
    await world.call('dev_pr_merge', { repo: '.', pr_number: 1, method: 'squash' }, { principal: ADA });
    expect(git(repo, 'log', '-1', '--format=%s|%P', 'main')).toBe(
      `Louder (#1)|${git(repo, 'rev-parse', 'elsewhere')}`,
    );
    expect(git(repo, 'status', '--porcelain')).toBe('');
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { merged: true } });
  });

  it('reports conflicting pull requests as not mergeable and sees merges made with git itself', async () => {
    await world.call('code_branch_pr_create', change());
    git(repo, 'checkout', '-q', '-b', 'side');
    writeFileSync(join(repo, 'README.md'), 'different\n');
    git(repo, 'commit', '-q', '-am', 'clash');
    git(repo, 'branch', '-f', 'main', 'side');
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { mergeable: false } });
    await expect(
      world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA }),
    ).rejects.toMatchObject({
      detail: { reason: 'merge_conflict' },
    });
    git(repo, 'branch', '-f', 'main', 'fix/greeting');
    expect(await world.view('pr', { number: 1 })).toMatchObject({ pr: { merged: true, state: 'closed' } });
  });

  it('closes issues and pull requests for a person', async () => {
    await world.call('github_issues_create', { run_id, title: 'T', body: 'B' });
    await world.call('dev_issue_close', { repo: '.', issue_number: 1 }, { principal: ADA });
    expect(await world.view('issues')).toMatchObject({ issues: [] });
    expect(await world.view('issues', { state: 'closed' })).toMatchObject({
      issues: [{ number: 1, state: 'closed' }],
    });
  });

  it('shows a pull request and its diff to people', async () => {
    await world.call('code_branch_pr_create', change());
    expect(await world.view('diff', { number: 1 })).toMatchObject({
      files: [{ path: 'README.md', patch: expect.stringContaining('-hello\n+HELLO\n') }, {}, {}],
    });
    expect(await world.view('pr', { number: '1' })).toMatchObject({
      files: [{ filename: 'README.md' }, {}, {}],
      comments: [],
    });
    expect(await world.view('repos')).toEqual({ repos: ['widgets'] });
    await expect(world.view('pr', { number: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('makes a patch, for a new file when the base has none', async () => {
    const args = {
      run_id,
      path: 'src/a.txt',
      original_content: 'one\ntwo\nthree\n',
      modified_content: 'one\n2\nthree\nfour\n',
    };
    const { data, artifacts } = await world.call('code_patch_generate', args);
    expect(data).toEqual({
      path: 'src/a.txt',
      line_delta: 1,
      patch:
        'diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n',
      patch_artifact_id: artifacts[0]?.id,
    });
    const fresh = await world.call('code_patch_generate', {
      ...args,
      path: 'n.txt',
      original_content: '',
      modified_content: 'x\n',
    });
    expect(fresh.data).toMatchObject({ patch: expect.stringContaining('new file mode 100644') });
    const empty = await world.call('code_patch_generate', {
      ...args,
      path: 'README.md',
      original_content: '',
      modified_content: 'x\n',
    });
    expect((empty.data as { patch: string }).patch).not.toContain('new file');
    const dry = await world.preview('code_patch_generate', { ...args, dry_run: true });
    expect(dry.data).not.toHaveProperty('patch_artifact_id');
    expect(dry.artifacts).toEqual([]);
  });
});

function execSymlink(repo: string): void {
  const blob = git(repo, 'hash-object', '-w', '--stdin', '--path', 'x');
  git(repo, 'update-index', '--add', '--cacheinfo', `120000,${blob},README.md`);
}
