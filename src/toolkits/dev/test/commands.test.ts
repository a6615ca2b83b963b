import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../../../../test/cli/support.ts';
import { bwrapWorks } from '../qa/sandbox.ts';
import { git, makeRepo } from './support/dev.ts';

let terminal: Terminal;
let repo: string;
beforeEach(() => {
  terminal = openTerminal();
  repo = makeRepo(join(terminal.home, 'clone'), { 'a.txt': 'one\ntwo\n' });
  terminal.configure(`[dev.repos.clone]\npath = "${repo}"\ntest = ["cat", "a.txt"]\n`);
});
afterEach(() => terminal.close());

const inClone = ['--repo', 'clone'];

async function call(tool: string, args: object): Promise<Record<string, unknown>> {
  const { out } = await terminal.run('call', tool, '--args', JSON.stringify(args));
  const answer = JSON.parse(out) as { ok: boolean; result: Record<string, unknown> };
  expect(answer).toMatchObject({ ok: true });
  return answer.result;
}

const startRun = async (): Promise<string> =>
  String((await call('runs_create', { repo: 'clone', purpose: 'numbers' })).run_id);

/** A pull request as an agent makes it: a person permits the exact change first. */
async function openPull(run: string): Promise<void> {
  const change = {
    run_id: run,
    base_branch: 'main',
    head_branch: 'add-three',
    commit_message: 'Add three',
    pr_title: 'Add three \u001b[31mred',
    files: [
      { path: 'a.txt', original_content: 'one\ntwo\n', modified_content: 'one\ntwo\nthree\n' },
      { path: 'b.txt', original_content: '', modified_content: 'new\n' },
    ],
  };
  const { uuid } = await terminal.json<{ uuid: string }>(
    'approvals',
    'permit',
    'code_branch_pr_create',
    '--args',
    JSON.stringify(change),
  );
  await call('code_branch_pr_create', { ...change, approval_id: uuid });
}

describe('countersign dev', () => {
  it('shows repositories, runs and every call of a run', async () => {
    expect((await terminal.run('dev', 'repos')).out).toMatch(/^clone +local +\/.*\/clone$/m);
    expect((await terminal.run('dev', 'runs')).out).toContain('No runs yet');
    const run = await startRun();
    expect((await terminal.run('dev', 'runs')).out).toMatch(new RegExp(`^${run} .*numbers$`, 'm'));
    const { out } = await terminal.run('dev', 'run', run);
    expect(out).toContain('Repository  clone\nPurpose     numbers\n');
    expect(out).toMatch(/runs_create +person:\S+ +ok/);
    expect(out).toContain(`countersign audit export --run ${run}`);
    const unknown = await terminal.run('dev', 'run', 'nope');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('countersign dev runs') });
    expect(unknown.err).not.toContain('runs_create');
  });

  it('says of a registered repository that its folder is not there', async () => {
    terminal.configure(`[dev.repos.clone]\npath = "${repo}"\n[dev.repos.gone]\npath = "${repo}-gone"\n`);
    const { out } = await terminal.run('dev', 'repos');
    expect(out).toMatch(/^gone +local +\/.*\/clone-gone$/m);
    expect(out).toContain(`Cannot use gone: Directory ${repo}-gone not found.`);
    expect(out).not.toContain('Cannot use clone');
  });

  it('lists, shows and closes an issue of the local forge', async () => {
    const run = await startRun();
    await call('github_issues_create', { run_id: run, title: 'A bug', body: 'It fails.', labels: ['bug'] });
    expect((await terminal.run('dev', 'issues', ...inClone)).out).toMatch(/#1 +open .*bug +A bug/);
    expect((await terminal.run('dev', 'issue', 'show', '#1', ...inClone)).out).toContain('  It fails.');
    const closed = await terminal.run('dev', 'issue', 'close', '1', '--approve', ...inClone);
    expect(closed).toMatchObject({ code: 0, out: 'Closed issue #1: A bug\n' });
    expect((await terminal.run('dev', 'issues', ...inClone)).out).toBe('No open issues in clone.\n');
  });

  it('shows a pull request, prints a diff git accepts, and merges it', async () => {
    await openPull(await startRun());
    const shown = await terminal.run('dev', 'pr', 'show', '1', ...inClone);
    expect(shown.out).toMatch(/add-three \(\w{12}\) → main \(\w{12}\), can be merged/);
    expect(shown.out).toMatch(/b\.txt +added +1 +0/);
    expect(shown.out).not.toContain('\u001b');
    expect((await terminal.run('dev', 'prs', ...inClone)).out).toMatch(/#1 +open .*add-three → main/);

    const { diff } = await terminal.json<{ diff: string }>('dev', 'pr', 'diff', '1', ...inClone);
    expect(diff).toContain('--- /dev/null\n+++ b/b.txt\n');
    const patch = join(terminal.home, 'change.diff');
    writeFileSync(patch, diff);
    git(repo, 'apply', patch);
    expect(readFileSync(join(repo, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    git(repo, 'checkout', '-q', '--', 'a.txt');
    git(repo, 'clean', '-qfd');

    const moved = await terminal.run('dev', 'pr', 'merge', '1', '--expect', '0'.repeat(40), ...inClone);
    expect(moved.code).toBe(1);
    const merged = await terminal.run('dev', 'pr', 'merge', '1', '--squash', '--approve', ...inClone);
    expect(merged).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Merged #1 into main as \w{12}\.$/m),
    });
    expect(git(repo, 'show', 'main:b.txt')).toBe('new');
    expect((await terminal.run('dev', 'pr', 'merge', '1', ...inClone)).code).toBe(1);
  });

  it('shows what waits as a diff with the commit it is bound to, and nothing that steers the terminal', async () => {
    const change = {
      run_id: await startRun(),
      base_branch: 'main',
      head_branch: 'x',
      commit_message: 'm',
      pr_title: 'Sly \u001b[2Ktitle',
      files: [
        { path: 'a.txt', original_content: 'one\ntwo\n', modified_content: 'one\n2\u001b[8m\n' },
        { path: 'c.txt', modified_content: 'whole\n' },
      ],
    };
    const request = { tool: 'code_branch_pr_create', arguments: change, reason: 'Because \u001b[31mred' };
    const asked = await terminal.run('call', 'approval_request', '--args', JSON.stringify(request));
    const { approval_id } = JSON.parse(asked.out) as { approval_id: string };
    const { out } = await terminal.run('approvals', 'show', approval_id);
    expect(out).toContain(`Bound to    repo = clone, base_commit = ${git(repo, 'rev-parse', 'main')}`);
    expect(out).toContain('@@ -1,2 +1,2 @@\n one\n-two\n+2‹U+001B›[8m\n');
    expect(out).toContain('new file mode 100644\n');
    expect(out).toContain('Characters that are not seen are written out');
    expect(out).not.toContain('"files"');
    const listed = await terminal.run('approvals', 'list');
    expect(out + listed.out).not.toContain('\u001b');
    expect(out).toContain('Because ‹U+001B›[31mred');
  });

  it('says on a pull request what tests said on its commit', async () => {
    const run = await startRun();
    await openPull(run);
    const shown = async () => (await terminal.run('dev', 'pr', 'show', '1', ...inClone)).out;
    expect(await shown()).toContain('Neither qa_test nor qa_lint has run on this commit.');
    await call('qa_test', { run_id: run });
    expect(await shown()).toMatch(
      /^qa_test on this commit: passed \(exit code 0, \d+ ms\)\. To read the report: countersign dev report /m,
    );
    git(repo, 'checkout', '-q', 'add-three');
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'later');
    expect(await shown()).toContain('Neither qa_test nor qa_lint has run on this commit.');
  });

  it('does not say closed of what is merged, and names the repositories there are', async () => {
    await openPull(await startRun());
    await terminal.run('dev', 'pr', 'merge', '1', ...inClone);
    const closed = await terminal.run('dev', 'pr', 'close', '1', ...inClone);
    expect(closed).toMatchObject({ code: 1, err: expect.stringContaining('is already merged') });
    const elsewhere = await terminal.run('dev', 'prs', '--repo', 'elsewhere');
    expect(elsewhere.err).toMatch(/Repository "elsewhere" not found\. Choose one with --repo: .*clone/);
  });

  it('says why a QA command was not run', async () => {
    const run = await startRun();
    await call('qa_lint', { run_id: run });
    const { out } = await terminal.run('dev', 'reports', '--run', run);
    expect(out).toMatch(/qa_lint +error +No lint command is configured for clone/);
    const [report] = await terminal.json<{ call_id: string }[]>('dev', 'reports', '--run', run);
    const shown = await terminal.run('dev', 'report', report?.call_id ?? '');
    expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('under [dev.qa]') });
  });

  it('closes a pull request without merging and keeps its branch', async () => {
    await openPull(await startRun());
    const { out } = await terminal.run('dev', 'pr', 'close', '1', '--approve', ...inClone);
    expect(out).toContain('The branch add-three still exists.');
    expect(git(repo, 'branch', '--list', 'add-three')).toContain('add-three');
    expect((await terminal.run('dev', 'prs', '--state', 'closed', ...inClone)).out).toMatch(/#1 +closed/);
  });

  it('lists QA reports and shows one with its output', async () => {
    const run = await startRun();
    await call('qa_test', { run_id: run });
    const [report] = await terminal.json<{ call_id: string; status: string }[]>(
      'dev',
      'reports',
      '--run',
      run,
    );
    expect(report?.status).toBe('pass');
    const { out } = await terminal.run('dev', 'report', report?.call_id ?? '');
    expect(out).toContain('Command  cat a.txt');
    expect(out).toContain('one\ntwo');
    expect((await terminal.run('dev', 'report', 'nope')).code).toBe(1);
  });

  it('has doctor say whether test commands are confined', async () => {
    const finding = async () => /^(.) tests +(.*)$/m.exec((await terminal.run('doctor')).out)?.slice(1);
    const confined = ['✓', 'test and lint commands run in a bubblewrap sandbox'];
    const free = [
      '!',
      'test and lint commands run unsandboxed, with your permissions: bubblewrap is not installed or cannot run here',
    ];
    expect(await finding()).toEqual((await bwrapWorks()) ? confined : free);
    terminal.configure(
      `[dev.qa]\nsandbox = "off"\n[dev.repos.clone]\npath = "${repo}"\ntest = ["cat", "a.txt"]\n`,
    );
    expect(await finding()).toEqual([
      '!',
      'test and lint commands run unsandboxed, with your permissions: dev.qa.sandbox is "off"',
    ]);
    terminal.configure(`[dev.repos.clone]\npath = "${repo}"\n`);
    expect(await finding()).toBeUndefined();
  });

  it('distinguishes usage errors from failures', async () => {
    expect((await terminal.run('dev', 'pr', 'show', 'abc', ...inClone)).code).toBe(2);
    expect((await terminal.run('dev', 'prs', '--state', 'odd', ...inClone)).code).toBe(2);
    expect((await terminal.run('dev', 'prs', '--repo', 'elsewhere')).code).toBe(1);
    expect((await terminal.run('dev', 'pr', 'show', '9', ...inClone)).code).toBe(1);
  });
});
