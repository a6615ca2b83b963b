import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, startWeb, type WebServer } from '../../../../test/web/support.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { git, makeRepo } from './support/dev.ts';

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n} of a file that is long enough\n`).join('');
const BINARY = Buffer.from([
  0,
  1,
  2,
  255,
  254,
  0,
  10,
  13,
  ...Array.from({ length: 600 }, (_, n) => (n * 7) % 256),
]);
const OTHER = Buffer.from([...BINARY].reverse());

const FILES: Readonly<Record<string, string>> = {
  'src/a.txt': LINES,
  'src/gone.txt': 'to be deleted\nin two lines\n',
  'src/old-name.txt': LINES.replaceAll('line', 'row'),
  'bin/run': '#!/bin/sh\necho hello\n',
  'win.txt': 'one\r\ntwo\r\nthree\r\n',
  'no-newline.txt': 'first\nlast without end',
  'ünï/grüße 文件.md': 'hallo\n',
  'package.json': '{ "name": "x" }\n',
};

/** Each kind of change as an agent sends it, never with `original_content`: the base alone decides what is shown. */
const KINDS: Readonly<Record<string, readonly JsonObject[]>> = {
  edit: [
    { path: 'src/a.txt', modified_content: LINES.replace('line 3 ', 'LINE 3 ').replace(/line 30.*\n/, '') },
  ],
  add: [{ path: 'docs/new file.md', modified_content: '# New\n\n+not a header\n' }],
  delete: [{ path: 'src/gone.txt', modified_content: '', delete: true }],
  rename: [
    { path: 'src/new-name.txt', previous_path: 'src/old-name.txt', modified_content: '', keep_content: true },
    {
      path: 'src/b.txt',
      previous_path: 'src/a.txt',
      modified_content: LINES.replace('line 7 ', 'line seven '),
    },
  ],
  mode: [{ path: 'bin/run', modified_content: '', keep_content: true, executable: true }],
  binary: [
    { path: 'logo.bin', modified_content: OTHER.toString('base64'), encoding: 'base64' },
    { path: 'fresh.bin', modified_content: BINARY.toString('base64'), encoding: 'base64' },
  ],
  empty: [
    { path: 'empty.txt', modified_content: '' },
    { path: 'src/gone.txt', modified_content: '' },
  ],
  CRLF: [{ path: 'win.txt', modified_content: 'one\r\n2\r\nthree\nfour\r\n' }],
  'no newline at end': [
    { path: 'no-newline.txt', modified_content: 'first\nlast with end\n' },
    { path: 'bin/run', modified_content: '#!/bin/sh\necho hello' },
  ],
  'unicode name': [{ path: 'ünï/grüße 文件.md', modified_content: 'grüße\n' }],
  protected: [{ path: 'package.json', modified_content: '{ "name": "y" }\n' }],
  '300 files': Array.from({ length: 300 }, (_, n) => ({
    path: `many/${n % 7}/file-${n}.txt`,
    modified_content: `number ${n}\n`,
  })),
};

describe('what a person sees of a change before they approve it', () => {
  let web: WebServer;
  let browser: Browser;
  let page: Page;
  let folder: string;
  let repo: string;
  let run_id: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-diff-'));
    repo = makeRepo(join(folder, 'app'), FILES);
    writeFileSync(join(repo, 'logo.bin'), BINARY);
    chmodSync(join(repo, 'bin/run'), 0o644);
    git(repo, 'add', '-A');
    git(repo, 'commit', '-q', '-m', 'second');
    const at = `path = ${JSON.stringify(repo)}\nallow_protected = ["package.json"]\n`;
    web = await startWeb({
      toolkits: 'dev',
      config: `toolkits = ["dev"]\n[mcp_policy]\nmax_mutations_per_hour = 10000\n[dev]\nmax_files = 400\n[dev.limits]\npull_requests = 100\n[dev.repos.app]\n${at}`,
    });
    browser = await launchBrowser();
    ({ page } = await web.signIn(browser));
    const made = (await web.call('runs_create', { repo: 'app', purpose: 'diffs' })) as { result: JsonObject };
    run_id = String(made.result.run_id);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await web?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(KINDS))(
    'is byte for byte the git diff of the branch that is made: %s',
    async (kind, files) => {
      const head = `change/${kind.replaceAll(' ', '-')}`;
      const args = {
        run_id,
        base_branch: 'main',
        head_branch: head,
        commit_message: `Change: ${kind}`,
        pr_title: `Change: ${kind}`,
        files,
      };
      const asked = (await web.call('approval_request', {
        tool: 'code_branch_pr_create',
        arguments: args,
        reason: 'please',
      })) as JsonObject;
      const id = String(asked.approval_queue_id);
      const inTerminal = await web.cli('approvals', 'show', id);
      const alone = await web.cli('approvals', 'show', id, '--diff');
      await page.goto(`${web.url}/inbox/${id}`);
      await page.getByRole('button', { name: 'Show as git diff' }).click();
      const onPage = await page.getByRole('region', { name: 'Git diff' }).locator('pre').textContent();

      await web.cli('approvals', 'approve', id);
      const reply = (await web.call('code_branch_pr_create', { ...args, approval_id: id })) as {
        ok: boolean;
        result: { pull_request: { number: number } };
      };
      expect(reply.ok, JSON.stringify(reply).slice(0, 500)).toBe(true);
      const real = bytes('diff', '--binary', `main...${head}`);
      expect(real.length).toBeGreaterThan(0);
      expect(alone).toBe(real.toString('utf8'));
      expect(onPage).toBe(real.toString('utf8'));
      expect(inTerminal.endsWith(real.toString('utf8'))).toBe(true);

      const shown = await web.cli(
        'dev',
        'pr',
        'diff',
        String(reply.result.pull_request.number),
        '--repo',
        'app',
      );
      expect(shown).toBe(real.toString('utf8'));
      expect(treeAfter(shown)).toBe(git(repo, 'rev-parse', `${head}^{tree}`));
      if (kind === 'protected') expect(inTerminal).toContain('PROTECTED FILE: package.json');
    },
    120_000,
  );

  const bytes = (...args: string[]): Buffer =>
    execFileSync('git', args, {
      cwd: repo,
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      maxBuffer: 1e9,
    });

  /** The tree that applying a diff to main gives. */
  function treeAfter(diff: string): string {
    const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
    const run = (input: string, ...args: string[]): string =>
      execFileSync('git', args, { cwd: repo, env, input }).toString().trim();
    run('', 'read-tree', 'main');
    run(diff, 'apply', '--cached', '--whitespace=nowarn');
    return run('', 'write-tree');
  }
});
