import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { type DevWorld, git, makeRepo, openWorld, tempFolder } from '../test/support/dev.ts';
import { quietSettings } from './clone.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const HOOKS = ['post-checkout', 'reference-transaction', 'post-index-change', 'post-merge', 'pre-push'];

/** The author of the clone wants a program to run; each that does leaves a file in `ran`. */
describe('a clone whose own configuration names programs', () => {
  let folder: string;
  let repo: string;
  let ran: string;
  let world: DevWorld;
  let run_id: string;

  beforeEach(async () => {
    folder = tempFolder();
    ran = join(folder, 'ran');
    mkdirSync(ran);
    repo = makeRepo(join(folder, 'app'), {
      'a.txt': 'one\n',
      '.gitattributes': '* filter=evil merge=evil diff=evil\n*.bin filter=a=b\n',
      'b.bin': 'b\n',
    });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    return world.close();
  });

  const mark = (name: string, then = 'false') => `touch ${join(ran, name)}; ${then}`;
  const set = (settings: Readonly<Record<string, string>>) => {
    for (const [key, value] of Object.entries(settings)) git(repo, 'config', key, value);
  };
  const open = async (config: JsonObject = {}) => {
    world = await openWorld({ cwd: repo, folder, config });
    run_id = await world.run('.');
  };
  const change = (head_branch: string) => ({
    run_id,
    approval_id: '1',
    base_branch: 'main',
    head_branch,
    commit_message: 'm',
    pr_title: 't',
    files: [{ path: 'a.txt', original_content: 'one\n', modified_content: 'two\n' }],
  });
  const test = async () => (await world.call('qa_test', { run_id })).data;
  const CAT = ['cat', 'a.txt', 'b.bin'];

  it('runs none of them: not for QA, for a change or for reading it', async () => {
    set({
      'filter.evil.smudge': mark('smudge', 'cat'),
      'filter.evil.clean': mark('clean', 'cat'),
      'filter.a=b.process': mark('process'),
      'filter.a=b.required': 'true',
      'merge.evil.driver': mark('merge-driver'),
      'diff.external': mark('diff-external'),
      'diff.evil.command': mark('diff-command'),
      'diff.evil.textconv': mark('textconv', 'cat'),
      'core.fsmonitor': mark('fsmonitor'),
      'core.hooksPath': join(repo, '.git/hooks'),
      'core.sshCommand': mark('ssh'),
      'core.pager': mark('pager', 'cat'),
      'core.editor': mark('editor'),
      'gpg.program': join(repo, '.git/hooks/post-merge'),
      'commit.gpgSign': 'true',
      'log.showSignature': 'true',
      'credential.helper': `!${mark('credential')}`,
      'pager.show': 'true',
    });
    for (const name of HOOKS) {
      const hook = join(repo, '.git/hooks', name);
      mkdirSync(join(repo, '.git/hooks'), { recursive: true });
      writeFileSync(hook, `#!/bin/sh\n${mark(`hook-${name}`)}\n`);
      chmodSync(hook, 0o755);
    }
    await open({ qa: { test: CAT } });
    expect(await test()).toMatchObject({ status: 'pass', report: { stdout: 'one\nb\n' } });
    await world.call('code_branch_pr_create', change('fix/a'));
    expect(await test()).toMatchObject({ status: 'pass', report: { stdout: 'two\nb\n' } });
    await world.call('github_pr_get', { run_id, pr_number: 1 });
    await world.call('github_pr_files_list', { run_id, pr_number: 1 });
    await world.view('diff', { number: 1 });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('merges text as git does by default where the clone names a merge driver', async () => {
    const lines = (first: string, last: string) => `${first}\n2\n3\n4\n5\n6\n${last}\n`;
    writeFileSync(join(repo, 'a.txt'), lines('1', '7'));
    git(repo, 'commit', '-q', '-a', '-m', 'lines');
    await open();
    const files = [{ path: 'a.txt', original_content: lines('1', '7'), modified_content: lines('one', '7') }];
    await world.call('code_branch_pr_create', { ...change('fix/a'), files });
    writeFileSync(join(repo, 'a.txt'), lines('1', 'seven'));
    git(repo, 'commit', '-q', '-a', '-m', 'other end');
    set({ 'merge.evil.driver': mark('merge-driver') });
    expect((await world.call('github_pr_get', { run_id, pr_number: 1 })).data).toMatchObject({
      mergeable: true,
    });
    await world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA });
    expect(git(repo, 'show', 'main:a.txt')).toBe(lines('one', 'seven').trim());
    expect(readdirSync(ran)).toEqual([]);
  });

  it.each(['the clone', 'a linked worktree'])(
    'runs no filter or hook when a person merges into a branch that %s has checked out',
    async (where) => {
      await open();
      await world.call('code_branch_pr_create', change('fix/a'));
      const linked = where !== 'the clone';
      const at = linked ? join(folder, 'beside') : repo;
      if (linked) {
        git(repo, 'checkout', '-q', '--detach');
        git(repo, 'worktree', 'add', '-q', at, 'main');
        git(repo, 'config', 'extensions.worktreeConfig', 'true');
      }
      const settings = {
        'filter.evil.smudge': mark('smudge', 'cat'),
        'filter.evil.clean': mark('clean', 'cat'),
        'filter.evil.required': 'true',
        'filter.a=b.process': mark('process'),
        'core.fsmonitor': mark('fsmonitor'),
        'core.hooksPath': join(repo, '.git/hooks'),
        'core.attributesFile': join(folder, 'attributes'),
        'branch.main.mergeOptions': '--squash',
        'merge.verifySignatures': 'true',
      };
      for (const [key, value] of Object.entries(settings))
        git(at, 'config', ...(linked ? ['--worktree'] : []), key, value);
      for (const name of HOOKS) {
        mkdirSync(join(repo, '.git/hooks'), { recursive: true });
        writeFileSync(join(repo, '.git/hooks', name), `#!/bin/sh\n${mark(`hook-${name}`)}\n`, {
          mode: 0o755,
        });
      }
      // Git looks at the content again, through the filter, where the time of a file differs.
      utimesSync(join(at, 'a.txt'), new Date(0), new Date(0));
      await world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA });
      expect(readdirSync(ran)).toEqual([]);
      expect(readFileSync(join(at, 'a.txt'), 'utf8')).toBe('two\n');
      expect(git(repo, 'show', 'main:a.txt')).toBe('two');
    },
  );

  it('is not used at all where its configuration puts its working tree elsewhere', async () => {
    const victim = join(folder, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, 'a.txt'), 'one\n');
    await open({ qa: { test: CAT } });
    await world.call('code_branch_pr_create', change('fix/a'));
    set({ 'core.worktree': victim });
    const refused = { code: 'not_allowed', message: expect.stringContaining('core.worktree') };
    const merge = () => world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA });
    await expect(merge()).rejects.toMatchObject(refused);
    await expect(test()).rejects.toMatchObject(refused);
    expect([readdirSync(victim), readFileSync(join(victim, 'a.txt'), 'utf8')]).toEqual([['a.txt'], 'one\n']);
  });

  it('merges into its own files where git keeps its git folder apart, as for a submodule', async () => {
    const gitDir = join(folder, 'super/.git/modules/app');
    mkdirSync(join(gitDir, '..'), { recursive: true });
    git(repo, 'init', '-q', '--separate-git-dir', gitDir);
    git(repo, 'config', 'core.worktree', '../../../../app');
    await open({ qa: { test: CAT } });
    await world.call('code_branch_pr_create', change('fix/a'));
    expect(await test()).toMatchObject({ status: 'pass', report: { stdout: 'two\nb\n' } });
    await world.call('dev_pr_merge', { repo: '.', pr_number: 1 }, { principal: ADA });
    expect(readFileSync(join(repo, 'a.txt'), 'utf8')).toBe('two\n');
    expect(git(repo, 'status', '--porcelain')).toBe('');
  });

  it('is not used at all where its configuration includes more under a condition', async () => {
    writeFileSync(
      join(repo, '.git/more'),
      `[filter "evil"]\n\tsmudge = "touch ${join(ran, 'smudge')}; cat"\n`,
    );
    await open({ qa: { test: CAT } });
    set({ 'includeIf.gitdir:**/worktrees/**.path': 'more' });
    await expect(test()).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('includeif.gitdir:**/worktrees/**.path'),
    });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('runs no filter or merge driver whose name is empty', async () => {
    writeFileSync(join(repo, '.gitattributes'), '* filter= merge=\n');
    git(repo, 'commit', '-q', '-a', '-m', 'attributes');
    await open({ qa: { test: CAT } });
    await world.call('code_branch_pr_create', change('fix/a'));
    writeFileSync(join(repo, 'a.txt'), 'three\n');
    git(repo, 'commit', '-q', '-a', '-m', 'conflict');
    set({ 'filter..smudge': mark('smudge', 'cat'), 'merge..driver': mark('merge-driver') });
    expect(await test()).toMatchObject({ status: 'pass' });
    await world.call('github_pr_get', { run_id, pr_number: 1 });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('is not used at all where the name of a filter is no text', async () => {
    writeFileSync(join(repo, '.gitattributes'), Buffer.from('* filter=\xff\n', 'latin1'));
    git(repo, 'commit', '-q', '-a', '-m', 'attributes');
    await open({ qa: { test: CAT } });
    const filter = `[filter "\xff"]\n\tsmudge = "${mark('smudge', 'cat')}"\n`;
    appendFileSync(join(repo, '.git/config'), Buffer.from(filter, 'latin1'));
    await expect(test()).rejects.toMatchObject({ code: 'not_allowed' });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('runs no program of an included file either, also one that came later', async () => {
    writeFileSync(join(repo, '.git/more'), '');
    set({ 'include.path': 'more' });
    await open({ qa: { test: CAT } });
    expect(await test()).toMatchObject({ status: 'pass' });
    writeFileSync(
      join(repo, '.git/more'),
      `[filter "evil"]\n\tsmudge = "touch ${join(ran, 'smudge')}; cat"\n`,
    );
    expect(await test()).toMatchObject({ status: 'pass' });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('runs no filter that the person installed for themselves after the clone was first looked at', async () => {
    const personal = join(folder, 'gitconfig');
    writeFileSync(personal, '');
    vi.stubEnv('GIT_CONFIG_GLOBAL', personal);
    await open({ qa: { test: CAT } });
    expect(await test()).toMatchObject({ status: 'pass' });
    writeFileSync(personal, `[filter "evil"]\n\tsmudge = "${mark('smudge', 'cat')}"\n`);
    expect(await test()).toMatchObject({ status: 'pass' });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('lets filters run at checkout only for a repository the person says so of', async () => {
    set({ 'filter.evil.smudge': 'tr o 0' });
    const app = { path: repo, test: CAT };
    world = await openWorld({ cwd: folder, folder, config: { repos: { app: { ...app, filters: true } } } });
    run_id = await world.run('app');
    expect(await test()).toMatchObject({ report: { stdout: '0ne\nb\n' } });
  });

  it('does not reach for objects over a network that is not configured, and says what is missing', async () => {
    const blob = git(repo, 'rev-parse', 'main:a.txt');
    rmSync(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    set({
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.promisor': 'true',
      'remote.origin.url': 'ssh://nowhere.invalid/x',
      'core.sshCommand': mark('ssh'),
    });
    await open({ qa: { test: CAT } });
    await expect(test()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('[dev.repos.NAME]'),
    });
    expect(readdirSync(ran)).toEqual([]);
  });

  it('is checked out whole for QA even where its own working tree is sparse', async () => {
    makeRepo(join(folder, 'wide'), { 'in/a.txt': 'in\n', 'out/b.txt': 'out\n', 'a.txt': 'top\n' });
    repo = join(folder, 'wide');
    git(repo, 'sparse-checkout', 'set', 'in');
    await open({ qa: { test: ['cat', 'in/a.txt', 'out/b.txt'] } });
    expect(await test()).toMatchObject({ status: 'pass', report: { stdout: 'in\nout\n' } });
  });

  it('keeps no trace of a worktree whose command destroyed its link to the clone', async () => {
    await open({ qa: { test: ['sh', '-c', 'rm -f .git; echo gone'] } });
    expect(await test()).toMatchObject({ status: 'pass' });
    expect(git(repo, 'worktree', 'list', '--porcelain')).not.toContain('prunable');
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('is refused when another user owns it, with what to do', async () => {
    await open();
    // Only root can give a directory away. Git's own switch makes it see another owner for everyone; a program of this
    // name sets it, because runGit passes no variable of git on.
    const bin = join(folder, 'bin');
    const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim();
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec '${real}' "$@"\n`, {
      mode: 0o755,
    });
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
    const other = await openWorld({ cwd: repo, config: { repos: { app: { path: repo } } } });
    await expect(other.run('app')).rejects.toMatchObject({
      code: 'not_allowed',
      message: expect.stringContaining('safe.directory'),
    });
    await other.close();
    const here = await openWorld({ cwd: repo });
    await expect(here.run('.')).rejects.toMatchObject({
      message: expect.stringContaining('safe.directory'),
    });
    await here.close();
  });
});

describe('the settings that keep git from running programs', () => {
  it('cover hooks that are named in the configuration, as git knows them since 2.54', () => {
    expect(quietSettings(['hook.a.b.event', 'hook.a.b.command', 'core.bare'])).toEqual([
      ['hook.a.b.event', ''],
      ['hook.a.b.enabled', 'false'],
    ]);
  });

  it('disable nothing where nothing is named', () => {
    expect(quietSettings(['core.bare', 'remote.origin.url', 'merge.ff', 'filter.x'])).toEqual([]);
  });
});
