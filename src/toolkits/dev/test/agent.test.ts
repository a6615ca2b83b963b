import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home } from '../../../../test/e2e/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { DevClient } from './support/client.ts';
import { git, makeRepo } from './support/dev.ts';

const SUM = 'export function sum(numbers) {\n  return numbers.reduce((a, b) => a - b, 0);\n}\n';
const TEST = `import assert from 'node:assert/strict';
import { sum } from '../src/sum.js';
assert.equal(sum([1, 2, 3]), 6, 'sum adds its numbers');
console.log('all tests pass');
`;

/** Only what tools answer is used below: no file of the clone is read, and no content is known in advance. */
describe('an agent that has only these tools', () => {
  let home: Home;
  let clone: string;
  let agent: DevClient;
  let run_id: string;

  beforeAll(async () => {
    home = createHome();
    clone = makeRepo(join(home.dir, 'work/app'), {
      'src/sum.js': SUM,
      'test/sum.test.js': TEST,
      'README.md': '# sums\n',
    });
    const command = JSON.stringify([process.execPath, 'test/sum.test.js']);
    writeFileSync(
      join(home.dir, 'config.toml'),
      `toolkits = ["dev"]\n[mcp_policy]\nmax_mutations_per_hour = 10000\n[log]\nlevel = "error"\n[dev.repos.app]\npath = ${JSON.stringify(clone)}\ntest = ${command}\n`,
      { mode: 0o600 },
    );
    agent = await DevClient.open(home);
    run_id = await agent.run('app');
  });
  afterAll(async () => {
    await agent?.close();
    home?.close();
  });

  const read = async (path: string, more: JsonObject = {}) =>
    (
      await agent.ok<{ content: string; commit: string; trust: string }>('code_read', {
        run_id,
        path,
        ...more,
      })
    ).result;
  const qa = async () =>
    (await agent.ok<{ status: string; report: JsonObject }>('qa_test', { run_id })).result;
  const checks = async (more: JsonObject) =>
    (
      await agent.ok<{ state: string; checks: { name: string; log_tail?: string }[] }>('github_checks_get', {
        run_id,
        ...more,
      })
    ).result;

  it('fixes a failing test end to end, with a person who approves and reviews', async () => {
    const issue = await agent.ok('github_issues_create', {
      run_id,
      title: 'sum is wrong',
      body: 'It subtracts.',
    });
    expect(issue.result.number).toBe(1);
    expect((await agent.ok('github_issues_list', { run_id })).result).toMatchObject({
      issues: [{ number: 1, title: 'sum is wrong', author: { kind: 'agent', trust: 'untrusted' } }],
    });
    expect((await agent.ok('github_issue_get', { run_id, issue_number: 1 })).result).toMatchObject({
      body: 'It subtracts.',
      state: 'open',
    });

    expect((await qa()).status).toBe('fail');
    const before = await checks({});
    expect(before).toMatchObject({ state: 'failure', checks: [{ name: 'qa_test' }] });
    expect(before.checks[0]?.log_tail).toContain('sum adds its numbers');

    const tree = await agent.ok<{ entries: { path: string }[] }>('code_tree', { run_id, recursive: true });
    expect(tree.result.entries.map(({ path }) => path)).toContain('src/sum.js');
    const found = await agent.ok<{ matches: { path: string; line: number }[] }>('code_search', {
      run_id,
      query: 'a - b',
    });
    expect(found.result.matches).toEqual([{ path: 'src/sum.js', line: 2, text: expect.any(String) }]);
    const { path = '', line = 0 } = found.result.matches[0] ?? {};
    const file = await read(path);
    expect(file).toMatchObject({ trust: 'untrusted', commit: git(clone, 'rev-parse', 'main') });
    expect((await read(path, { start_line: line, end_line: line })).content).toContain('a - b');

    const change: JsonObject = {
      run_id,
      base_branch: 'main',
      head_branch: 'fix/sum',
      commit_message: 'Add instead of subtracting',
      pr_title: 'Fix sum',
      pr_body: 'Fixes #1',
      files: [{ path, modified_content: file.content.replace('a - b', 'a + b') }],
    };
    const asked = await agent.ask(change);
    const shown = home.cli('approvals', 'show', asked);
    expect(shown).toContain('-  return numbers.reduce((a, b) => a - b, 0);');
    expect(shown).not.toContain('new file mode');
    home.cli('approvals', 'approve', asked);
    const opened = await agent.ok<{ pull_request: { number: number }; commit_hash: string }>(
      'code_branch_pr_create',
      { ...change, approval_id: asked },
    );
    const pr_number = opened.result.pull_request.number;
    expect((await agent.ok('github_pr_list', { run_id })).result).toMatchObject({
      pull_requests: [{ number: pr_number, state: 'open' }],
    });
    expect((await qa()).status).toBe('pass');
    expect((await checks({ pr_number })).state).toBe('success');

    const say = 'Please also write in the README what sum does.';
    home.cli('dev', 'pr', 'review', String(pr_number), '--repo', 'app', '--request-changes', '-m', say);
    const remarks = await agent.ok<{ comments: JsonObject[]; review_state: string }>(
      'github_pr_comments_list',
      {
        run_id,
        pr_number,
      },
    );
    expect(remarks.result).toMatchObject({
      review_state: 'changes_requested',
      comments: [
        {
          kind: 'review',
          state: 'changes_requested',
          body: say,
          author: { kind: 'person', trust: 'trusted' },
        },
      ],
    });

    const readme = await read('README.md');
    expect(readme.commit).toBe(opened.result.commit_hash);
    const update: JsonObject = {
      run_id,
      pr_number,
      commit_message: 'Say what sum does',
      files: [
        {
          path: 'README.md',
          original_content: readme.content,
          modified_content: `${readme.content}\n\`sum\` adds numbers.\n`,
        },
      ],
    };
    const permit = await agent.ask(update, 'code_branch_pr_update');
    const diff = home.cli('approvals', 'show', permit, '--diff');
    home.cli('approvals', 'approve', permit);
    const updated = await agent.ok<{ commit_hash: string; previous_head: string }>('code_branch_pr_update', {
      ...update,
      approval_id: permit,
    });
    expect(updated.result.previous_head).toBe(opened.result.commit_hash);
    expect(git(clone, 'rev-parse', 'fix/sum')).toBe(updated.result.commit_hash);
    expect(diff.trim()).toBe(git(clone, 'diff', '--binary', 'fix/sum~1', 'fix/sum'));
    expect((await qa()).status).toBe('pass');

    // The permit was for that head: neither it nor an equal request can be used on what the branch holds now.
    expect(await agent.refused('code_branch_pr_update', { ...update, approval_id: permit })).toMatchObject({
      code: 'approval_invalid',
    });

    home.cli('dev', 'pr', 'merge', String(pr_number), '--repo', 'app');
    expect(git(clone, 'show', 'main:src/sum.js')).toContain('a + b');
    expect((await agent.ok('github_issue_get', { run_id, issue_number: 1 })).result.state).toBe('closed');
  }, 120_000);

  it('is refused before a person is asked, when the change cannot be made', async () => {
    const change = (more: JsonObject, file: JsonObject = {}): JsonObject => ({
      run_id,
      base_branch: 'main',
      head_branch: 'fix/other',
      commit_message: 'm',
      pr_title: 't',
      files: [{ path: 'README.md', modified_content: 'changed\n', ...file }],
      ...more,
    });
    const current = await read('README.md', { ref: 'main' });
    const cases: [string, JsonObject][] = [
      ['conflict', change({}, { original_content: 'not this' })],
      ['invalid_input', change({}, { modified_content: current.content })],
      ['conflict', change({ head_branch: 'fix/sum' })],
      ['conflict', change({ head_branch: 'fix/sum/more' })],
      ['conflict', change({ head_branch: 'fix' })],
      ['not_allowed', change({}, { path: '.github/workflows/ci.yml' })],
      ['not_allowed', change({}, { path: 'package.json' })],
      ['not_allowed', change({}, { modified_content: `token = "${'ghp_'}${'a1B2'.repeat(10)}"\n` })],
    ];
    const waiting = home.cli('--json', 'approvals', 'list');
    for (const [code, args] of cases) {
      const dry = await agent.refused('code_branch_pr_create', {
        ...args,
        approval_id: 'none',
        dry_run: true,
      });
      expect(dry.code, JSON.stringify(args)).toBe(code);
      const refusal = await agent.session.client.callTool({
        name: 'approval_request',
        arguments: { tool: 'code_branch_pr_create', arguments: args, reason: 'r' },
      });
      const [said] = refusal.content as { text: string }[];
      expect(refusal.isError, JSON.stringify(args)).toBe(true);
      expect(said?.text).toContain(dry.message);
      expect(dry.message).not.toContain('a1B2a1B2');
    }
    expect(home.cli('--json', 'approvals', 'list')).toBe(waiting);
  }, 120_000);
});
