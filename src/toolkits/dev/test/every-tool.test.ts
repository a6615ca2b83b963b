import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { ARTIFACT, COMMIT, DevClient, metaOf, TIME, UUID } from './support/client.ts';
import { git, snapshot } from './support/dev.ts';
import { doubledPlace, emulatedPlace, localPlace, type Place } from './support/places.ts';

const PLACES: readonly (readonly [name: string, open: () => Promise<Place>])[] = [
  ['a clone on disk', () => localPlace(false)],
  ['a clone with a bare repository as push remote', () => localPlace(true)],
  ['GitHub as emulate plays it', emulatedPlace],
  ['GitHub over a bare repository', doubledPlace],
];

/** One process and one agent per place; the tests of a place build on each other, as an agent's calls do. */
describe.each(PLACES)('the ten tools, through a real client on %s', (_name, open) => {
  let place: Place;
  let agent: DevClient;
  let run_id: string;
  let readme: string;
  let pr_number: number;
  let before: string | undefined;

  beforeAll(async () => {
    place = await open();
    readme = await place.readme();
    before = place.clone && snapshot(place.clone);
    agent = await DevClient.open(place.home);
    await agent.session.client.listTools();
  });
  afterAll(async () => {
    await agent.close();
    await place.close();
  });

  const onGithub = () => place.repo === 'octocat/app' || place.double !== undefined;
  const author = () =>
    onGithub()
      ? {
          login: 'octocat',
          kind: 'person',
          association: expect.any(String),
          trust: expect.stringMatching(/trusted$/),
        }
      : { login: 'local', kind: 'agent', trust: 'untrusted' };
  const change = (more: JsonObject = {}): JsonObject => ({
    run_id,
    base_branch: 'main',
    head_branch: 'fix/greeting',
    commit_message: 'Grüße',
    pr_title: 'Say it',
    pr_body: 'Because.',
    files: [
      { path: 'README.md', original_content: readme, modified_content: `${readme}more\n` },
      { path: 'docs/new.md', modified_content: 'ünï\r\n' },
    ],
    ...more,
  });

  it('runs_create starts a run', async () => {
    const reply = await agent.ok('runs_create', { repo: place.repo, purpose: 'every tool' });
    run_id = String(reply.result.run_id);
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: { run_id: UUID, repo: place.repo, purpose: 'every tool', created_at: TIME },
    });
    expect(await agent.refused('runs_create', { repo: 'not/allowed', purpose: 'x' })).toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'repo_not_allowed' },
    });
    expect((await agent.refused('runs_create', { repo: place.repo, purpose: ' ' })).code).toBe(
      'invalid_input',
    );
  });

  it('github_issues_create shows, creates once, and answers the same again', async () => {
    const args = { run_id, title: 'Broken', body: 'It breaks.', labels: ['bug'] };
    expect(await agent.ok('github_issues_create', { ...args, dry_run: true })).toEqual({
      ok: true,
      meta: metaOf(run_id, { dry_run: true }),
      result: { would_create: { repo: place.repo, title: 'Broken', body: 'It breaks.', labels: ['bug'] } },
    });
    const first = await agent.ok('github_issues_create', args);
    expect(first).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: { number: expect.any(Number), title: 'Broken', html_url: expect.stringContaining('/issues/') },
    });
    const again = await agent.ok('github_issues_create', args);
    expect(again.result).toEqual(first.result);
    expect(again.meta).toMatchObject({ run_id, replayed: true, dry_run: false });
    expect((await agent.refused('github_issues_create', { ...args, run_id: 'nope' })).code).toBe('not_found');
    expect((await agent.refused('github_issues_create', { ...args, title: 'x'.repeat(257) })).code).toBe(
      'invalid_input',
    );
    expect((await agent.refused('github_issues_create', { ...args, surprise: 1 })).code).toBe(
      'invalid_input',
    );
  });

  it('github_issues_batch_create creates what is missing', async () => {
    const issues: JsonObject[] = [
      { title: 'Broken', body: 'It breaks.', labels: ['bug'] },
      { title: 'Second', body: '' },
    ];
    const dry = await agent.ok('github_issues_batch_create', { run_id, issues, dry_run: true });
    expect(dry).toMatchObject({
      meta: { run_id, dry_run: true },
      result: { status: 'ok', created_fresh: 0 },
    });
    const reply = await agent.ok('github_issues_batch_create', { run_id, issues });
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: {
        status: 'ok',
        mode: 'partial',
        total: 2,
        processed: 2,
        errors: 0,
        replayed: 1,
        created_fresh: 1,
        results: [
          { index: 0, replayed: true, issue: expect.objectContaining({ title: 'Broken' }) },
          { index: 1, issue: { number: expect.any(Number), title: 'Second', html_url: expect.any(String) } },
        ],
      },
    });
    expect((await agent.refused('github_issues_batch_create', { run_id, issues: [] })).code).toBe(
      'invalid_input',
    );
    const many = Array.from({ length: 51 }, (_, n) => ({ title: `${n}`, body: '' }));
    expect((await agent.refused('github_issues_batch_create', { run_id, issues: many })).code).toBe(
      'invalid_input',
    );
  });

  it('code_patch_generate makes a patch with context', async () => {
    const args = {
      run_id,
      path: 'src/x.txt',
      original_content: 'a\nb\nc\n',
      modified_content: 'a\nB\nc\nd\n',
    };
    const patch =
      'diff --git a/src/x.txt b/src/x.txt\n--- a/src/x.txt\n+++ b/src/x.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n';
    expect(await agent.ok('code_patch_generate', args)).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: { path: 'src/x.txt', patch, line_delta: 1, patch_artifact_id: ARTIFACT },
    });
    const dry = await agent.ok('code_patch_generate', { ...args, dry_run: true });
    expect(dry).toEqual({
      ok: true,
      meta: metaOf(run_id, { dry_run: true }),
      result: { path: 'src/x.txt', patch, line_delta: 1 },
    });
    expect(await agent.refused('code_patch_generate', { ...args, path: '../x' })).toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'path_policy_traversal' },
    });
  });

  it('code_branch_pr_create shows the plan, needs a permit, and opens the pull request', async () => {
    const dry = await agent.ok('code_branch_pr_create', change({ approval_id: 'unchecked', dry_run: true }));
    expect(dry).toEqual({
      ok: true,
      meta: metaOf(run_id, { dry_run: true }),
      result: {
        base_branch: 'main',
        head_branch: 'fix/greeting',
        base_commit: COMMIT,
        planned_commands: expect.any(Array),
        patch: expect.stringContaining('+more'),
        patch_artifact_id: ARTIFACT,
      },
    });
    expect((dry.result.planned_commands as string[]).length).toBeGreaterThan(3);
    expect(await agent.refused('code_branch_pr_create', change({ approval_id: '12345' }))).toMatchObject({
      code: 'approval_invalid',
    });
    const waiting = await agent.ask(change());
    expect((await agent.refused('code_branch_pr_create', change({ approval_id: waiting }))).code).toBe(
      'approval_required',
    );
    place.home.cli('approvals', 'approve', waiting);
    const other = change({ approval_id: waiting, commit_message: 'Something else' });
    expect((await agent.refused('code_branch_pr_create', other)).code).toBe('approval_invalid');

    const reply = await agent.ok<{ commit_hash: string; pull_request: { number: number } }>(
      'code_branch_pr_create',
      change({ approval_id: waiting }),
    );
    pr_number = reply.result.pull_request.number;
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: {
        base_branch: 'main',
        head_branch: 'fix/greeting',
        base_commit: dry.result.base_commit,
        planned_commands: dry.result.planned_commands,
        commit_hash: COMMIT,
        pull_request: pull(reply.result.commit_hash),
        patch_artifact_id: dry.result.patch_artifact_id,
      },
    });
    if (place.target) {
      expect(git(place.target, 'rev-parse', 'fix/greeting')).toBe(reply.result.commit_hash);
      expect(git(place.target, 'show', '-s', '--format=%B', 'fix/greeting')).toBe('Grüße');
      expect(git(place.target, 'cat-file', '-s', 'fix/greeting:docs/new.md')).toBe('7');
    }
    expect((await agent.refused('code_branch_pr_create', change({ approval_id: waiting }))).code).toBe(
      'approval_invalid',
    );
  });

  const pull = (sha: unknown) => ({
    number: expect.any(Number),
    title: 'Say it',
    body: 'Because.',
    state: 'open',
    draft: false,
    html_url: expect.stringContaining('/pull'),
    merged: false,
    ...(place.double ? {} : { mergeable: true }),
    base: { ref: 'main', sha: COMMIT },
    head: { ref: 'fix/greeting', sha },
    author: author(),
    created_at: TIME,
  });

  it('code_branch_pr_create reports stale files and hostile paths, and touches nothing', async () => {
    const stale = change({
      head_branch: 'fix/stale',
      files: [{ path: 'README.md', original_content: 'old\n', modified_content: 'new\n' }],
    });
    expect(
      await agent.refused('code_branch_pr_create', { ...stale, approval_id: 'x', dry_run: true }),
    ).toMatchObject({
      code: 'conflict',
      detail: { conflicts: [{ path: 'README.md', reason: 'changed', base_blob: COMMIT }] },
    });
    const hostile = change({ approval_id: 'x', files: [{ path: '.git/hooks/x', modified_content: 'x' }] });
    expect(await agent.refused('code_branch_pr_create', hostile)).toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'path_policy_forbidden' },
    });
    const reserved = change({ approval_id: 'x', head_branch: 'main' });
    expect((await agent.refused('code_branch_pr_create', reserved)).code).toBe('invalid_input');
  });

  it('github_pr_get reads it as data with its author', async () => {
    const reply = await agent.ok('github_pr_get', { run_id, pr_number });
    expect(reply).toEqual({ ok: true, meta: metaOf(run_id), result: { ...pull(COMMIT), number: pr_number } });
    expect((await agent.refused('github_pr_get', { run_id, pr_number: 9999 })).code).toBe('not_found');
    expect((await agent.refused('github_pr_get', { run_id, pr_number: 0 })).code).toBe('invalid_input');
  });

  it('github_pr_files_list lists its files', async () => {
    const reply = await agent.ok<{ files: JsonObject[]; count: number }>('github_pr_files_list', {
      run_id,
      pr_number,
    });
    const emulated = place.repo === 'octocat/app';
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: {
        files: expect.any(Array),
        // emulate answers an empty list, no matter what the pull request changes.
        count: emulated ? 0 : 2,
        summary: {
          total_files: emulated ? 0 : 2,
          total_additions: expect.any(Number),
          total_deletions: expect.any(Number),
          total_changes: expect.any(Number),
        },
        truncated: false,
        author: author(),
      },
    });
    expect(reply.result.files.map(({ filename, status }) => [filename, status])).toEqual(
      emulated
        ? []
        : [
            ['README.md', 'modified'],
            ['docs/new.md', 'added'],
          ],
    );
    for (const file of reply.result.files) {
      expect(file).toEqual({
        filename: expect.any(String),
        status: expect.any(String),
        additions: expect.any(Number),
        deletions: expect.any(Number),
        changes: expect.any(Number),
        blob_url: expect.any(String),
        raw_url: expect.any(String),
        patch: expect.stringMatching(/^@@/),
      });
    }
    expect((await agent.refused('github_pr_files_list', { run_id, pr_number: 9999 })).code).toBe('not_found');
  });

  it('github_pr_comment_create comments once', async () => {
    const args = { run_id, pr_number, body: 'Looks good.' };
    expect(await agent.ok('github_pr_comment_create', { ...args, dry_run: true })).toEqual({
      ok: true,
      meta: metaOf(run_id, { dry_run: true }),
      result: { would_comment: { repo: place.repo, pr_number, body: 'Looks good.' } },
    });
    const reply = await agent.ok('github_pr_comment_create', args);
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id),
      result: { id: expect.any(Number), body: 'Looks good.', html_url: expect.any(String) },
    });
    const again = await agent.ok('github_pr_comment_create', args);
    expect(again.result).toEqual(reply.result);
    expect(again.meta.replayed).toBe(true);
    expect((await agent.refused('github_pr_comment_create', { ...args, body: ' ' })).code).toBe(
      'invalid_input',
    );
    expect((await agent.refused('github_pr_comment_create', { ...args, pr_number: 9999 })).code).toBe(
      'not_found',
    );
  });

  it.each([
    ['qa_test', 'pass', 0],
    ['qa_lint', 'fail', 3],
  ] as const)('%s says %s on the branch of the run', async (tool, status, exit_code) => {
    const dry = await agent.ok(tool, { run_id, dry_run: true });
    expect(dry).toMatchObject({
      meta: { run_id, dry_run: true },
      result: { status: 'dry_run', report: { exit_code: 0 } },
    });
    const reply = await agent.ok<{ report: JsonObject }>(tool, { run_id });
    if (!place.clone) {
      expect(reply).toMatchObject({
        ok: true,
        result: {
          status: 'error',
          error: { code: 'qa_workdir_invalid' },
          report: { exit_code: -1, stdout: '' },
        },
      });
      return;
    }
    const commit = git(place.target ?? place.clone, 'rev-parse', 'fix/greeting');
    expect(reply).toEqual({
      ok: true,
      meta: metaOf(run_id, {
        qa_artifacts: {
          stdout_artifact_id: ARTIFACT,
          stderr_artifact_id: ARTIFACT,
          report_artifact_id: ARTIFACT,
        },
      } as never),
      result: {
        status,
        summary: expect.stringMatching(
          status === 'pass' ? /^passed \(exit_code=0, / : /^failed \(exit_code=3, /,
        ),
        report: {
          command: expect.stringContaining('-e'),
          phase: 'command',
          exit_code,
          duration_ms: expect.any(Number),
          stdout: status === 'pass' ? `${readme}more\n` : '',
          stderr: status === 'pass' ? '' : 'line 1: no\n',
          stdout_truncated: false,
          stderr_truncated: false,
          output_limit_bytes: 262_144,
          commit,
          tree: git(place.target ?? place.clone, 'rev-parse', 'fix/greeting^{tree}'),
          sandbox: expect.stringMatching(/^(bwrap|none)$/),
        },
      },
    });
  });

  it('leave evidence of every call, and of the clone nothing but the branch', async () => {
    const shown = JSON.parse(place.home.cli('dev', 'run', run_id, '--json')) as {
      calls: { tool: string; status: string; code?: string }[];
    };
    const statuses = (tool: string) =>
      shown.calls.filter((call) => call.tool === tool).map(({ status }) => status);
    // Also the call with arguments that are invalid.
    expect(statuses('github_pr_get')).toEqual(['ok', 'failed', 'failed']);
    expect(statuses('qa_lint')).toEqual(['dry_run', 'ok']);
    expect(statuses('code_branch_pr_create')).toEqual(
      expect.arrayContaining(['dry_run', 'refused', 'ok', 'failed']),
    );
    const { status, stdout } = place.home.failing('audit', 'verify');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('No problems found') });
    if (!place.clone || before === undefined) return;
    const mine = /^.*refs\/(heads|remotes\/origin)\/fix\/greeting\n?/gm;
    expect(snapshot(place.clone).replace(mine, '').trim()).toBe(before.trim());
  });
});
