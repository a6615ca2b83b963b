import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import {
  type DevWorld,
  git,
  makeRepo,
  openWorld,
  snapshot,
  tempFolder,
  type WorldOptions,
} from '../test/support/dev.ts';

const node = (script: string) => [process.execPath, '-e', script];
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A zombie still answers; it is dead all the same.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 500 && !holds(); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
};

describe('qa_test and qa_lint', () => {
  let folder: string;
  let repo: string;
  let world: DevWorld;
  const worlds: DevWorld[] = [];

  beforeEach(() => {
    folder = tempFolder();
    repo = makeRepo(join(folder, 'app'), { 'value.txt': 'base\n' });
  });
  afterEach(async () => {
    for (const each of worlds.splice(0)) await each.close();
  });

  const open = async (qa: JsonObject, more: Partial<WorldOptions> = {}) => {
    world = await openWorld({ cwd: repo, folder, config: { qa: { sandbox: 'off', ...qa } }, ...more });
    worlds.push(world);
    return world.run('.');
  };
  const change = (run_id: string, head_branch: string, text: string) => ({
    run_id,
    approval_id: '1',
    base_branch: 'main',
    head_branch,
    commit_message: 'm',
    pr_title: 't',
    files: [{ path: 'value.txt', original_content: 'base\n', modified_content: text }],
  });
  const report = (data: unknown) => (data as { report: Record<string, unknown> }).report;

  it('runs the command on the commit of the run and keeps its output as artifacts', async () => {
    const before = snapshot(repo);
    const run_id = await open({
      test: node('process.stdout.write(require("fs").readFileSync("value.txt")); console.error("warn")'),
    });
    writeFileSync(join(repo, 'value.txt'), 'edited but not committed\n');
    const { data, notes, evidence, artifacts, progress } = await world.call('qa_test', { run_id });
    const tree = git(repo, 'rev-parse', 'main^{tree}');
    expect(data).toMatchObject({
      status: 'pass',
      summary: expect.stringMatching(/^passed \(exit_code=0, \d+ms\)$/),
      report: {
        command: expect.stringContaining('readFileSync'),
        exit_code: 0,
        duration_ms: expect.any(Number),
        stdout: 'base\n',
        stderr: 'warn\n',
        stdout_truncated: false,
        stderr_truncated: false,
        output_limit_bytes: 262_144,
        commit: git(repo, 'rev-parse', 'main'),
        tree,
        sandbox: 'none',
        phase: 'command',
      },
    });
    const [stdout, stderr, kept] = artifacts;
    expect(notes).toMatchObject({
      qa_artifacts: {
        stdout_artifact_id: stdout?.id,
        stderr_artifact_id: stderr?.id,
        report_artifact_id: kept?.id,
      },
    });
    expect(evidence).toMatchObject({
      tests: { tool: 'qa.test', result: 'PASSED', tree, report: kept?.id },
    });
    expect(stdout).toMatchObject({ name: 'qa.test.stdout.txt', text: 'base\n' });
    expect(JSON.parse(kept?.text ?? '')).toMatchObject({
      status: 'pass',
      tree,
      stdout_artifact_id: stdout?.id,
    });
    // Which of the two streams is read first is up to the system.
    expect(progress.filter((line) => ['base', 'warn'].includes(line))).not.toEqual([]);
    git(repo, 'checkout', '-q', '--', '.');
    expect(snapshot(repo)).toBe(before);
  });

  it('looks at the head of the branch the run made last', async () => {
    const run_id = await open({
      lint: node('process.stdout.write(require("fs").readFileSync("value.txt"))'),
    });
    await world.call('code_branch_pr_create', change(run_id, 'fix/a', 'A\n'));
    const first = await world.call('qa_lint', { run_id });
    expect(report(first.data)).toMatchObject({ stdout: 'A\n', commit: git(repo, 'rev-parse', 'fix/a') });
    await world.call('code_branch_pr_create', change(run_id, 'fix/b', 'B\n'));
    expect(report((await world.call('qa_lint', { run_id })).data)).toMatchObject({ stdout: 'B\n' });
  });

  it('says fail with the exit code, also of a command that dies of a signal', async () => {
    const run_id = await open({
      test: node('process.exit(3)'),
      lint: node('process.kill(process.pid, "SIGSEGV")'),
    });
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({
      status: 'fail',
      report: { exit_code: 3 },
      summary: expect.stringContaining('failed (exit_code=3'),
    });
    expect((await world.call('qa_lint', { run_id })).data).toMatchObject({
      status: 'fail',
      report: { exit_code: 139 },
    });
  });

  it('says error when there is no command, no such program, or when setup fails', async () => {
    const run_id = await open({ test: ['no-such-program-anywhere'] });
    expect((await world.call('qa_lint', { run_id })).data).toMatchObject({
      status: 'error',
      error: { code: 'qa_command_empty' },
      report: { exit_code: -1 },
    });
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({
      status: 'error',
      report: {
        exit_code: -1,
        stderr: expect.stringContaining('no-such-program-anywhere could not be started'),
      },
      error: { code: 'qa_execution_failed' },
    });
    const other = await open({ test: node('0'), setup: node('console.log("half way"); process.exit(9)') });
    expect((await world.call('qa_test', { run_id: other })).data).toMatchObject({
      status: 'error',
      report: { phase: 'setup', exit_code: 9, stdout: 'half way\n' },
    });
  });

  it('runs setup first, in the same folder', async () => {
    const run_id = await open({
      setup: node('require("fs").writeFileSync("installed", "yes")'),
      test: node('process.stdout.write(require("fs").readFileSync("installed"))'),
    });
    expect(report((await world.call('qa_test', { run_id })).data)).toMatchObject({ stdout: 'yes' });
  });

  it('passes words to the program as they are, without a shell', async () => {
    const words = ['$(touch pwned)', '; touch pwned', '`id`', '*', '"'];
    const run_id = await open({
      test: [...node('console.log(JSON.stringify(process.argv.slice(1)))'), ...words],
    });
    expect(JSON.parse(String(report((await world.call('qa_test', { run_id })).data).stdout))).toEqual(words);
  });

  it('shows the command only what the configuration names of the environment', async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: '/home/x',
      GITHUB_TOKEN: 'secret',
      DATABASE_URL: 'secret',
      WANTED: 'yes',
      GIT_DIR: '/x',
    };
    const run_id = await open(
      { env: ['WANTED'], test: node('console.log(JSON.stringify(process.env))') },
      { env },
    );
    const seen = JSON.parse(String(report((await world.call('qa_test', { run_id })).data).stdout));
    expect(seen).toMatchObject({ HOME: '/home/x', WANTED: 'yes', CI: '1' });
    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(seen).not.toHaveProperty('GIT_DIR');
  });

  it('kills the whole process group at the timeout', async () => {
    const pids = join(folder, 'pids');
    const child = `require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" }).pid`;
    const script = `process.on("SIGTERM", () => {}); require("fs").writeFileSync(${JSON.stringify(pids)}, process.pid + " " + ${child}); console.log("started"); setInterval(() => {}, 1000)`;
    const run_id = await open({ timeout_seconds: 1, test: node(script) });
    const { data } = await world.call('qa_test', { run_id });
    expect(data).toMatchObject({
      status: 'timeout',
      report: { exit_code: -1 },
      summary: expect.stringMatching(/^timed out after \d+ms$/),
    });
    const [parent = 0, grandchild = 0] = readFileSync(pids, 'utf8').split(' ').map(Number);
    await until(() => !isAlive(parent) && !isAlive(grandchild));
    expect([isAlive(parent), isAlive(grandchild)]).toEqual([false, false]);
  });

  it('ends what a finished command left running in the background', async () => {
    const pidFile = join(folder, 'pid');
    const script = `const c = require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" }); require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(c.pid)); c.unref(); console.log("done"); process.exit(0)`;
    const run_id = await open({ test: node(script) });
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({ status: 'pass' });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await until(() => !isAlive(pid));
    expect(isAlive(pid)).toBe(false);
  });

  it('stops when the caller cancels and removes the worktree', async () => {
    const before = snapshot(repo);
    const run_id = await open({ test: node('console.log("go"); setInterval(() => {}, 1000)') });
    const cancel = new AbortController();
    const onProgress = (message: string) => message === 'go' && cancel.abort();
    await expect(world.call('qa_test', { run_id }, { signal: cancel.signal, onProgress })).rejects.toThrow(
      'abort',
    );
    expect(readdirSync(join(folder, 'data/dev/scratch'))).toEqual([]);
    expect(snapshot(repo)).toBe(before);
  });

  it('cuts long output in the reply, keeps more of it as artifact, and says so', async () => {
    const run_id = await open({
      output_limit_bytes: 1024,
      test: node('process.stdout.write("é".repeat(3000) + "the end")'),
    });
    const { data, artifacts } = await world.call('qa_test', { run_id });
    const { stdout } = report(data);
    expect(report(data)).toMatchObject({ stdout_truncated: true, stderr_truncated: false });
    expect(String(stdout)).toMatch(/^é+\n\[\d+ bytes omitted\]\né+the end$/);
    expect(artifacts[0]?.text).toBe(`${'é'.repeat(3000)}the end`);
  });

  it('shows the command in a dry run and starts nothing', async () => {
    const run_id = await open({ test: node('require("fs").writeFileSync("/tmp/never", "")') });
    const { data, artifacts } = await world.preview('qa_test', { run_id, dry_run: true });
    expect(data).toMatchObject({
      status: 'dry_run',
      report: { exit_code: 0, stdout: '', tree: git(repo, 'rev-parse', 'main^{tree}') },
      summary: 'dry run (no execution)',
    });
    expect(artifacts).toEqual([]);
    expect(existsSync('/tmp/never')).toBe(false);
  });

  it('never lets two runs on one clone see each other, and limits how many run in parallel', async () => {
    const log = join(folder, 'log');
    mkdirSync(log);
    const script = `const fs = require("fs"); const me = ${JSON.stringify(log)} + "/" + process.pid; fs.writeFileSync(me, ""); fs.writeFileSync("mine", fs.readFileSync("value.txt")); setTimeout(() => { console.log(fs.readFileSync("value.txt") + "" + fs.readFileSync("mine") + fs.readdirSync(".").sort() + " " + fs.readdirSync(${JSON.stringify(log)}).length); fs.unlinkSync(me) }, 200)`;
    await open({ max_concurrency: 2, test: node(script) });
    const runs = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const run_id = await world.run('.');
        await world.call('code_branch_pr_create', change(run_id, `fix/${name}`, `${name}\n`));
        return run_id;
      }),
    );
    const results = await Promise.all(runs.map((run_id) => world.call('qa_test', { run_id })));
    for (const [index, { data }] of results.entries()) {
      const name = ['a', 'b', 'c', 'd'][index];
      expect(String(report(data).stdout)).toMatch(
        new RegExp(`^${name}\\n${name}\\n\\.git,mine,value\\.txt [12]\\n$`),
      );
    }
    expect(results.flatMap(({ progress }) => progress)).toContain(
      'Waiting for another QA command to finish.',
    );
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('keeps a part of endless output, counts the rest, and refuses more once the day is used up', async () => {
    const marker = join(folder, 'ran');
    const noise = `require("fs").appendFileSync(${JSON.stringify(marker)}, "x"); process.stdout.write("y".repeat(1_000_000))`;
    const run_id = await open({ output_limit_bytes: 1024, daily_output_bytes: 20_000, test: node(noise) });
    const call = () => world.call('qa_test', { run_id });
    const { data, artifacts } = await call();
    expect(report(data)).toMatchObject({
      stdout: expect.stringContaining('[998976 bytes omitted]'),
      stdout_truncated: true,
    });
    const stored = artifacts.reduce((sum, { text }) => sum + text.length, 0);
    expect(stored).toBeLessThan(20_000);
    await call();
    await expect(call()).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('dev.qa.daily_output_bytes is 20000'),
      detail: { reason: 'qa_output_quota' },
    });
    expect(readFileSync(marker, 'utf8')).toBe('xx');
  });

  it('sweeps the checkout of a killed process at the next start', async () => {
    const scratch = join(folder, 'data/dev/scratch/999999999-dead');
    mkdirSync(join(scratch, 'tree/.git'), { recursive: true });
    await open({});
    expect(existsSync(scratch)).toBe(false);
  });

  it('refuses to run unconfined when the configuration demands bubblewrap and there is none', async () => {
    const run_id = await open({ sandbox: 'bwrap', test: node('0') });
    const { bwrapWorks } = await import('./sandbox.ts');
    if (await bwrapWorks()) {
      const { data } = await world.call('qa_test', { run_id });
      expect(data).toMatchObject({ report: { sandbox: 'bwrap' } });
    } else {
      await expect(world.call('qa_test', { run_id })).rejects.toMatchObject({ code: 'unavailable' });
    }
  });

  it('does not run hooks of the repository when it checks out', async () => {
    const hook = join(repo, '.git/hooks/post-checkout');
    mkdirSync(join(repo, '.git/hooks'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(folder, 'hooked')}\n`);
    chmodSync(hook, 0o755);
    const run_id = await open({ test: node('0') });
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({ status: 'pass' });
    expect(existsSync(join(folder, 'hooked'))).toBe(false);
  });
});
