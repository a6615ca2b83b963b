import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type DevWorld,
  git,
  makeRepo,
  openWorld,
  tempFolder,
  type WorldOptions,
} from '../test/support/dev.ts';
import { readAllowlist } from '../tool-allowlist.ts';
import { toolkit } from '../toolkit.ts';
import { ownerAndName } from './candidates.ts';

describe('which repositories may be used', () => {
  const worlds: DevWorld[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
  });
  const open = async (options: WorldOptions) => {
    const world = await openWorld(options);
    worlds.push(world);
    return world;
  };
  const create = (world: DevWorld, repo: string) => world.call('runs_create', { repo, purpose: 'p' });
  const refused = (reason = 'repo_not_allowed') =>
    expect.objectContaining({ code: 'not_allowed', detail: expect.objectContaining({ reason }) });

  it('is the current clone by default, by folder name, by dot and by the name of its origin', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'widgets'));
    git(repo, 'remote', 'add', 'origin', 'git@github.com:acme/gadgets.git');
    mkdirSync(join(repo, 'deep/down'), { recursive: true });
    const world = await open({ cwd: join(repo, 'deep/down'), folder });
    for (const name of ['.', 'widgets', 'acme/gadgets', 'Acme/Gadgets']) {
      expect((await create(world, name)).data).toMatchObject({ repo: 'acme/gadgets' });
    }
    await expect(create(world, 'acme/other')).rejects.toThrow('Allowed here: acme/gadgets.');
  });

  it('is nothing outside a clone', async () => {
    const folder = tempFolder();
    await expect(create(await open({ cwd: folder, folder }), '.')).rejects.toThrow(
      'This directory is not in a git repository, and none is registered. Run the command in a clone',
    );
  });

  it('is what the configuration registers, wherever the process runs', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'a'));
    const config = { repos: { tool: { path: repo, github: 'acme/tool' } } };
    const world = await open({ cwd: '/', folder, config });
    expect((await create(world, 'tool')).data).toMatchObject({ repo: 'tool' });
    expect((await create(world, 'acme/tool')).data).toMatchObject({ repo: 'tool' });
    await expect(create(world, '__proto__')).rejects.toThrow(refused());
  });

  it('is only what REPO_ALLOWLIST names once it is set, and nothing when it is empty', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'here'));
    const config = {
      repos: { one: { path: makeRepo(join(folder, 'one')) }, two: { path: makeRepo(join(folder, 'two')) } },
    };
    const some = await open({ cwd: repo, folder, config, env: { REPO_ALLOWLIST: ' two , acme/x' } });
    expect((await create(some, 'two')).data).toMatchObject({ repo: 'two' });
    for (const name of ['one', 'here', '.']) await expect(create(some, name)).rejects.toThrow(refused());
    const none = await open({ cwd: repo, folder, config, env: { REPO_ALLOWLIST: '' } });
    await expect(create(none, 'two')).rejects.toThrow(refused());
    const file = await open({ cwd: repo, folder, config: { ...config, repo_allowlist: ['here'] } });
    expect((await create(file, '.')).data).toMatchObject({ repo: 'here' });
    await expect(create(file, 'one')).rejects.toThrow(refused());
  });

  it('is nothing on GitHub until it is listed or registered', async () => {
    const folder = tempFolder();
    const bare = await open({ cwd: folder, folder, config: { forge: 'github' } });
    await expect(create(bare, 'acme/x')).rejects.toThrow(refused());
    const app = await open({ cwd: folder, folder, env: { GITHUB_APP_ID: '1', REPO_ALLOWLIST: 'acme/x' } });
    await expect(create(app, 'acme/y')).rejects.toThrow(refused());
    // Listed, so it is looked for on GitHub, where there are no credentials yet.
    await expect(create(app, 'acme/x')).rejects.toThrow(refused('github_auth_failed'));
  });

  it('is asked again with every call, so a repository removed from the list is closed immediately', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'a'));
    const storageUrl = join(folder, 'store.db');
    const config = { repos: { tool: { path: repo } } };
    const before = await open({ cwd: '/', folder, storageUrl, config });
    const run_id = await before.run('tool');
    const after = await open({ cwd: '/', folder, storageUrl, config: { ...config, repo_allowlist: [] } });
    await expect(after.call('github_issues_create', { run_id, title: 'T', body: 'B' })).rejects.toThrow(
      refused(),
    );
  });

  it('follows a run into a process that works elsewhere, where the clone has no name an agent could use', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'app'));
    const storageUrl = join(folder, 'store.db');
    const here = await open({ cwd: repo, folder, storageUrl });
    const run_id = await here.run('.');
    const elsewhere = await open({ cwd: makeRepo(join(folder, 'else/app')), folder, storageUrl });
    const { data } = await elsewhere.call('github_issues_create', { run_id, title: 'T', body: 'B' });
    expect(data).toMatchObject({ number: 1 });
    // Both clones are called app; what was made belongs to the one the run was started in.
    expect(await here.view('issues')).toMatchObject({ issues: [{ number: 1 }] });
    expect(await elsewhere.view('issues')).toMatchObject({ issues: [] });

    const outside = await open({ cwd: '/', folder, storageUrl });
    await expect(create(outside, 'app')).rejects.toThrow(refused());
    expect(await outside.view('repos')).toEqual({ repos: ['app'] });
    expect(await outside.view('issues', { repo: 'app' })).toMatchObject({ repo: 'app' });
    expect(await outside.view('issues', { repo })).toMatchObject({ issues: [{ number: 1 }] });
    await expect(create(outside, repo)).rejects.toThrow(refused());
    const strict = await open({ cwd: '/', folder, storageUrl, env: { REPO_ALLOWLIST: 'other' } });
    await expect(strict.call('github_issues_create', { run_id, title: 'U', body: 'B' })).rejects.toThrow(
      refused(),
    );
    await expect(strict.view('issues', { repo: 'app' })).rejects.toThrow(refused());
  });

  it('keeps the issues of a clone that is registered later and then moved', async () => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'a'));
    const storageUrl = join(folder, 'store.db');
    const first = await open({ cwd: repo, folder, storageUrl });
    await first.call('github_issues_create', { run_id: await first.run('.'), title: 'T', body: 'B' });
    const named = await open({ cwd: '/', folder, storageUrl, config: { repos: { tool: { path: repo } } } });
    expect(await named.view('issues', { repo: 'tool' })).toMatchObject({ issues: [{ number: 1 }] });
    renameSync(repo, join(folder, 'b'));
    const moved = await open({
      cwd: '/',
      folder,
      storageUrl,
      config: { repos: { tool: { path: join(folder, 'b') } } },
    });
    expect(await moved.view('issues', { repo: 'tool' })).toMatchObject({ issues: [{ number: 1 }] });
    await moved.call('github_issues_create', { run_id: await moved.run('tool'), title: 'U', body: 'B' });
    expect(await moved.view('issues', { repo: 'tool' })).toMatchObject({ issues: [{ number: 2 }, {}] });
  });

  it('says what is missing when a registered repository cannot be opened', async () => {
    const folder = tempFolder();
    const config = {
      repos: {
        nowhere: { path: join(folder, 'nope') },
        plain: { path: folder },
        empty: {},
        hub: { forge: 'github' },
      },
    };
    const world = await open({ cwd: '/', folder, config });
    await expect(create(world, 'nowhere')).rejects.toThrow(/^Directory \S+ not found/);
    await expect(create(world, 'plain')).rejects.toThrow('is not a git repository');
    await expect(create(world, 'empty')).rejects.toThrow('has no path to a clone');
    await expect(create(world, 'hub')).rejects.toThrow('has no github');
  });

  it('starts a run on a repository without commits, which QA then reports', async () => {
    const folder = tempFolder();
    const repo = join(folder, 'new');
    mkdirSync(repo);
    git(repo, 'init', '-q');
    const world = await open({ cwd: repo, folder, config: { qa: { test: ['true'] } } });
    const run_id = await world.run('.');
    expect((await world.call('qa_test', { run_id })).data).toMatchObject({
      status: 'error',
      error: { code: 'qa_workdir_invalid' },
    });
  });
});

describe('ownerAndName', () => {
  it.each([
    ['https://github.com/acme/x.git', 'acme/x'],
    ['https://user@ghe.example.org/acme/x', 'acme/x'],
    ['ssh://git@github.com/acme/x.y.git', 'acme/x.y'],
    ['git@github.com:acme/x.git', 'acme/x'],
    ['github.com:acme/x', 'acme/x'],
    ['/srv/git/x.git', undefined],
    ['../x', undefined],
    ['C:/git/x', undefined],
    ['https://gitlab.com/group/sub/x.git', undefined],
    ['', undefined],
  ])('reads %j as %j', (url, name) => expect(ownerAndName(url)).toBe(name));
});

describe('TOOL_ALLOWLIST', () => {
  it('names what no tool is called, and hides what it does not allow', () => {
    const read = (names: string, configured?: string[]) =>
      readAllowlist(toolkit.tools, configured, names === '' ? {} : { TOOL_ALLOWLIST: names });
    expect(read('github.isues.create')).toMatchObject({
      unknown: ['Tool "github.isues.create" not found; did you mean github.issues.create?'],
      source: 'environment TOOL_ALLOWLIST',
    });
    expect(read('', ['nonsense_of_some_length'])).toMatchObject({
      unknown: ['Tool "nonsense_of_some_length" not found'],
      source: 'dev.tool_allowlist',
    });
    // A later version of ToolHub has this one.
    expect(read('runs.create,code.repair_loop').unknown).toEqual([]);
    const { hidden } = read('github.pr.get,code_read');
    expect(hidden).toContain('code_branch_pr_create');
    for (const name of ['github_pr_get', 'code_read', 'runs_create']) expect(hidden).not.toContain(name);
    expect(read('').hidden).toEqual([]);
  });

  const LISTABLE = toolkit.tools.filter(
    ({ name, profiles }) => profiles.length > 0 && name !== 'runs_create',
  );

  it.each(LISTABLE.map(({ name }) => name))('refuses %s when it is not named', async (name) => {
    const folder = tempFolder();
    const repo = makeRepo(join(folder, 'app'));
    const storageUrl = join(folder, 'store.db');
    const world = await openWorld({ cwd: repo, folder, storageUrl });
    const run_id = await world.run('.');
    const strict = await openWorld({ cwd: repo, folder, storageUrl, env: { TOOL_ALLOWLIST: 'nothing' } });
    const args = { run_id, repo: '.', base_branch: 'main', head_branch: 'x', files: [] };
    const check = async () => strict.tool(name).check?.(args, strict.services);
    await expect(check()).rejects.toMatchObject({
      code: 'not_allowed',
      detail: { reason: 'tool_not_allowed' },
    });
    await strict.close();
    await world.close();
  });
});
