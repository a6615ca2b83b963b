import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type App, openApp } from '../../../app/app.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { LOCAL_AGENT, type Principal } from '../../../contract/principal.ts';
import type { CallRequest, CallResult } from '../../../kernel/call/call.ts';
import { git, makeRepo, snapshot, tempFolder } from './support/dev.ts';

const ADA: Principal = { kind: 'person', id: 'ada' };

describe('the dev tools through the pipeline', () => {
  let home: string;
  let repo: string;
  let app: App;
  let now: Date | undefined;

  const start = async (more = '') => {
    writeFileSync(
      join(home, 'config.toml'),
      `toolkits = ["dev"]\n[log]\nlevel = "silent"\n[mcp_policy]\nmax_mutations_per_hour = 100000\n${more}
[dev.qa]\nsandbox = "off"\n[dev.repos.app]\npath = ${JSON.stringify(repo)}\ntest = ["cat", "a.txt"]\n`,
      { mode: 0o600 },
    );
    app = await openApp({
      env: { COUNTERSIGN_HOME: home, PATH: process.env.PATH },
      now: () => now ?? new Date(),
    });
  };
  beforeEach(async () => {
    now = undefined;
    home = tempFolder();
    repo = makeRepo(join(home, 'app'), { 'a.txt': 'one\n' });
    await start();
  });
  afterEach(async () => {
    await app.close();
    rmSync(home, { recursive: true, force: true });
  });

  const call = async (
    name: string,
    args: JsonObject,
    more: Pick<Partial<CallRequest>, 'principal' | 'idempotencyKey' | 'onProgress'> = {},
  ): Promise<CallResult> => {
    const bound = await app.inventory.resolve(name);
    if (!bound) throw new Error(`${name} is not there.`);
    return app.kernel.invoke({ bound, args, principal: LOCAL_AGENT, transport: 'test', ...more });
  };
  const outcomeOf = async (...args: Parameters<typeof call>): Promise<Outcome> =>
    (await call(...args)).outcome;
  const ok = async (...args: Parameters<typeof call>): Promise<JsonObject> => {
    const outcome = await outcomeOf(...args);
    expect(outcome.status, JSON.stringify(outcome)).toBe('ok');
    return (outcome as { data: JsonObject }).data;
  };
  const newRun = async () => String((await ok('runs_create', { repo: 'app', purpose: 'test' })).run_id);
  const issues = async (run_id: string) => {
    const made = await ok('github_issues_create', { run_id, title: `probe ${Math.random()}`, body: '' });
    return Number(made.number) - 1;
  };

  describe('replay', () => {
    it('creates the same issue once in a run, and again in another run or under a key of its own', async () => {
      const run_id = await newRun();
      const args = { run_id, title: 'T', body: 'B', labels: ['a', 'b'] };
      expect(await outcomeOf('github_issues_create', args)).toMatchObject({
        status: 'ok',
        replayed: false,
        data: { number: 1 },
      });
      const again = { ...args, title: ' T ', labels: ['b', 'a', 'a'] };
      expect(await outcomeOf('github_issues_create', again)).toMatchObject({
        status: 'ok',
        replayed: true,
        data: { number: 1 },
      });
      expect(await ok('github_issues_create', args, { idempotencyKey: 'second' })).toMatchObject({
        number: 2,
      });
      expect(await ok('github_issues_create', { ...args, run_id: await newRun() })).toMatchObject({
        number: 3,
      });
    });

    it('is not poisoned by a dry run', async () => {
      const args = { run_id: await newRun(), title: 'T', body: 'B' };
      expect(await outcomeOf('github_issues_create', { ...args, dry_run: true })).toMatchObject({
        status: 'dry_run',
        data: { would_create: { repo: 'app', title: 'T' } },
      });
      expect(await outcomeOf('github_issues_create', args)).toMatchObject({
        status: 'ok',
        replayed: false,
        data: { number: 1 },
      });
    });

    it('runs identical simultaneous calls only once', async () => {
      const args = { run_id: await newRun(), title: 'T', body: 'B' };
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => outcomeOf('github_issues_create', args)),
      );
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'ok', data: { number: 1 } });
      expect(outcomes.filter((outcome) => outcome.status === 'ok' && !outcome.replayed)).toHaveLength(1);
    });

    it('lets a batch that failed in part create only what is missing', async () => {
      await app.close();
      await start(
        '[[mcp_policy.rules]]\nid = "no-seven"\ntools = ["github_issues_create"]\nwhen = "args.title == \\"Issue 7\\""\naction = "deny"\n',
      );
      const run_id = await newRun();
      const list = Array.from({ length: 50 }, (_, n) => ({ title: `Issue ${n}`, body: '' }));
      const first = await ok('github_issues_batch_create', { run_id, issues: list });
      expect(first).toMatchObject({ status: 'partial', errors: 1, created_fresh: 49 });
      expect((first.results as JsonObject[])[7]).toMatchObject({
        index: 7,
        error: { code: 'policy_denied_user_rule' },
      });
      await app.close();
      await start();
      const second = await ok('github_issues_batch_create', { run_id, issues: list });
      expect(second).toMatchObject({ status: 'ok', errors: 0, replayed: 49, created_fresh: 1 });
      expect(await issues(run_id)).toBe(50);
    });

    it('is partial with the right items wherever the store fails, and makes up for exactly that item', async () => {
      const list = Array.from({ length: 50 }, (_, n) => ({ title: `Issue ${n}`, body: '' }));
      const { db } = app.database;
      for (let broken = 0; broken < 50; broken += 1) {
        const run_id = await newRun();
        await sql
          .raw(
            `create trigger broken before insert on dev_issues when new.title = 'Issue ${broken}' begin select raise(abort, 'disk'); end`,
          )
          .execute(db);
        const first = await ok('github_issues_batch_create', { run_id, issues: list });
        await sql.raw('drop trigger broken').execute(db);
        const failed = (first.results as JsonObject[]).filter(({ error }) => error);
        expect([first.status, first.errors, first.created_fresh]).toEqual(['partial', 1, 49]);
        expect(failed).toMatchObject([{ index: broken, error: { code: 'db_error' } }]);
        const second = await ok('github_issues_batch_create', { run_id, issues: list });
        expect([second.status, second.replayed, second.created_fresh]).toEqual(['ok', 49, 1]);
        const fresh = (second.results as JsonObject[]).filter(({ replayed }) => !replayed);
        expect(fresh).toMatchObject([{ index: broken, issue: { number: (broken + 1) * 50 } }]);
      }
    }, 300_000);

    it('lets a batch that was cut off go on under the permit it had, and not beyond it', async () => {
      await app.close();
      await start('require_approval_for = ["github_issues_batch_create"]\n');
      const run_id = await newRun();
      const args = { run_id, issues: ['one', 'two', 'three'].map((title) => ({ title, body: '' })) };
      const asked = { tool: 'github_issues_batch_create', arguments: args, reason: 'please' };
      const { approval_id } = await ok('approval_request', asked as unknown as JsonObject);
      await app.kernel.approvals.approve(String(approval_id), ADA);
      const { db } = app.database;
      await sql
        .raw(
          `create trigger broken before insert on dev_issues when new.title = 'two' begin select raise(abort, 'disk'); end`,
        )
        .execute(db);
      const { callId, outcome } = await call('github_issues_batch_create', args);
      expect(outcome).toMatchObject({ status: 'ok', data: { status: 'partial', created_fresh: 2 } });
      await sql.raw('drop trigger broken').execute(db);
      // As if the process had died before it could write down how the whole ended.
      const lost = 'indeterminate';
      await sql`update calls set status = ${lost} where call_id = ${callId}`.execute(db);
      await sql`update approvals set state = ${lost} where uuid = ${approval_id}`.execute(db);
      expect(await app.kernel.recover()).toMatchObject({ settled: 1, open: 0 });
      expect(await app.kernel.approvals.get(String(approval_id))).toMatchObject({
        state: 'approved',
        outcome: { message: expect.stringContaining('only the missing parts') },
      });
      expect(await ok('github_issues_batch_create', args)).toMatchObject({ replayed: 2, created_fresh: 1 });
      expect(await outcomeOf('github_issues_batch_create', args)).toMatchObject({ status: 'routed' });
      expect(await issues(run_id)).toBe(3);
    });

    it('writes the same comment once in a run', async () => {
      const run_id = await newRun();
      await propose(run_id);
      const args = { run_id, pr_number: 1, body: 'Hi' };
      expect(await outcomeOf('github_pr_comment_create', args)).toMatchObject({
        replayed: false,
        data: { id: 1 },
      });
      expect(await outcomeOf('github_pr_comment_create', args)).toMatchObject({
        replayed: true,
        data: { id: 1 },
      });
    });
  });

  const change = (run_id: string, more: JsonObject = {}): JsonObject => ({
    run_id,
    base_branch: 'main',
    head_branch: 'fix/a',
    commit_message: 'Say two',
    pr_title: 'Two',
    files: [{ path: 'a.txt', original_content: 'one\n', modified_content: 'two\n' }],
    ...more,
  });
  const permit = async (args: JsonObject, approver: Principal = ADA): Promise<string> => {
    const asked = await ok('approval_request', {
      tool: 'code_branch_pr_create',
      arguments: args,
      reason: 'please',
    });
    await app.kernel.approvals.approve(String(asked.approval_id), approver);
    return String(asked.approval_id);
  };
  const propose = async (run_id: string, more: JsonObject = {}): Promise<JsonObject> => {
    const args = change(run_id, more);
    return ok('code_branch_pr_create', { ...args, approval_id: await permit(args) });
  };

  describe('code_branch_pr_create', () => {
    it('happens under an approval for exactly this change, once', async () => {
      const run_id = await newRun();
      const args = change(run_id);
      const approval_id = await permit(args);
      expect(await ok('code_branch_pr_create', { ...args, approval_id })).toMatchObject({
        pull_request: { number: 1 },
      });
      git(repo, 'update-ref', '-d', 'refs/heads/fix/a');
      expect(await outcomeOf('code_branch_pr_create', { ...args, approval_id })).toMatchObject({
        fault: { code: 'approval_invalid' },
      });
      expect(git(repo, 'for-each-ref', 'refs/heads/fix')).toBe('');
    });

    it.each<[string, JsonObject]>([
      [
        'other content',
        { files: [{ path: 'a.txt', original_content: 'one\n', modified_content: 'evil\n' }] },
      ],
      ['another file', { files: [{ path: 'b.txt', modified_content: 'two\n' }] }],
      ['another branch', { head_branch: 'fix/b' }],
      ['another message', { commit_message: 'Say three' }],
      ['another title', { pr_title: 'Three' }],
    ])('is refused for %s than was approved', async (_what, other) => {
      const run_id = await newRun();
      const approval_id = await permit(change(run_id));
      const before = snapshot(repo);
      expect(
        await outcomeOf('code_branch_pr_create', { ...change(run_id, other), approval_id }),
      ).toMatchObject({
        fault: { code: 'approval_invalid' },
      });
      expect(snapshot(repo)).toBe(before);
    });

    it('is refused after the base moved, after the approval expired, before it is given, and without one', async () => {
      const run_id = await newRun();
      const args = change(run_id);
      const refusedWith = async (approval_id: string) => {
        const outcome = await outcomeOf('code_branch_pr_create', { ...args, approval_id });
        expect(outcome.status).not.toBe('ok');
        return (outcome as { fault: { code: string } }).fault.code;
      };
      expect(await refusedWith('nonsense')).toMatch(/^approval_|^not_found$/);
      const asked = await ok('approval_request', {
        tool: 'code_branch_pr_create',
        arguments: args,
        reason: 'r',
      });
      expect(await refusedWith(String(asked.approval_id))).toBe('approval_required');
      const early = await permit(args);
      git(repo, 'commit', '-q', '--allow-empty', '-m', 'moved');
      expect(await refusedWith(early)).toBe('approval_invalid');
      const late = await permit(args);
      now = new Date(Date.now() + 25 * 3_600_000);
      expect(await refusedWith(late)).toBe('approval_invalid');
      expect(git(repo, 'for-each-ref', 'refs/heads/fix')).toBe('');
    });

    it('is made on the commit the permit was checked against, or not at all, when the base moves in between', async () => {
      const run_id = await newRun();
      const permitted = git(repo, 'rev-parse', 'main');
      // Progress is reported after the permit was checked and before anything of the base is read.
      const moving = (move: () => void) => {
        let moved = false;
        return () => {
          if (!moved) move();
          moved = true;
        };
      };
      const args = change(run_id);
      const away = moving(() => git(repo, 'commit', '-q', '--allow-empty', '-m', 'moved'));
      const moved = await outcomeOf(
        'code_branch_pr_create',
        { ...args, approval_id: await permit(args) },
        { onProgress: away },
      );
      expect(moved).toMatchObject({
        status: 'failed',
        fault: { code: 'conflict', effect: 'none', detail: { reason: 'base_moved' } },
      });
      expect(git(repo, 'for-each-ref', 'refs/heads/fix')).toBe('');

      // The base is back by the time git makes the branch; in between it pointed elsewhere.
      git(repo, 'reset', '-q', '--hard', permitted);
      const other = change(run_id, { head_branch: 'fix/b' });
      const approval_id = await permit(other);
      git(repo, 'branch', 'elsewhere', git(repo, 'commit-tree', '-m', 'x', 'main^{tree}'));
      let turns = 0;
      const there = () => {
        turns += 1;
        git(repo, 'update-ref', 'refs/heads/main', turns === 1 ? 'elsewhere' : permitted);
      };
      const data = await ok('code_branch_pr_create', { ...other, approval_id }, { onProgress: there });
      expect(data).toMatchObject({ base_commit: permitted });
      expect(git(repo, 'rev-parse', 'fix/b^')).toBe(permitted);
    });

    it('cannot be approved by its requester', async () => {
      const args = change(await newRun());
      await expect(permit(args, LOCAL_AGENT)).rejects.toThrow();
    });

    it('leaves approval_id unchecked in a dry run and changes nothing', async () => {
      const args = { ...change(await newRun()), approval_id: 'none', dry_run: true };
      const before = snapshot(repo);
      expect(await outcomeOf('code_branch_pr_create', args)).toMatchObject({
        status: 'dry_run',
        data: { planned_commands: expect.any(Array), patch: expect.stringContaining('+two') },
      });
      expect(snapshot(repo)).toBe(before);
    });

    it('refuses hostile paths before anything else', async () => {
      const args = change(await newRun(), {
        files: [{ path: '../x', modified_content: 'x' }],
        approval_id: 'none',
      });
      const outcome = await outcomeOf('code_branch_pr_create', args);
      expect(outcome).toMatchObject({
        fault: { code: 'not_allowed', detail: { reason: 'path_policy_traversal' } },
      });
    });
  });

  it('groups the evidence of a run, with QA on the tree of its branch', async () => {
    const run_id = await newRun();
    await propose(run_id);
    const { outcome, runId, evidenceHash } = await call('qa_test', { run_id });
    expect(outcome).toMatchObject({
      status: 'ok',
      data: { status: 'pass', report: { stdout: 'two\n', tree: git(repo, 'rev-parse', 'fix/a^{tree}') } },
      notes: { qa_artifacts: { report_artifact_id: expect.stringMatching(/^sha256:/) } },
    });
    expect(runId).toBe(run_id);
    expect(evidenceHash).toMatch(/^[0-9a-f]{64}$/);
    const calls = await app.kernel.telemetry.calls({ runId: run_id });
    expect(calls.map(({ tool }) => tool).sort()).toEqual(
      expect.arrayContaining(['code_branch_pr_create', 'qa_test']),
    );
  });

  it('lets a person merge through the kernel and never an agent', async () => {
    const run_id = await newRun();
    await propose(run_id);
    const args = { repo: 'app', pr_number: 1 };
    expect((await outcomeOf('dev_pr_merge', args)).status).not.toBe('ok');
    expect(await ok('dev_pr_merge', args, { principal: ADA })).toMatchObject({ merged: true });
    expect(git(repo, 'show', 'main:a.txt')).toBe('two');
  });
});
