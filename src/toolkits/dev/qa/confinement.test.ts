import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import {
  type CallOptions,
  type DevWorld,
  git,
  makeRepo,
  openWorld,
  snapshot,
  tempFolder,
  writeFiles,
} from '../test/support/dev.ts';
import { bwrapWorks } from './sandbox.ts';

const SECRET = 'S3CRET-a84be1f0';
const works = await bwrapWorks();

interface Reply {
  readonly status: string;
  readonly report: {
    readonly stdout: string;
    readonly stderr: string;
    readonly sandbox: string;
    exit_code: number;
  };
  readonly error?: { readonly code: string; readonly message: string };
}

/** Files below these folders that hold the secret, as far as the script can see. */
const SEARCH = `
const fs = require('fs'), path = require('path');
const found = [];
const walk = (at, depth) => {
  let names; try { names = fs.readdirSync(at) } catch { return }
  for (const name of names) {
    const one = path.join(at, name);
    let is; try { is = fs.lstatSync(one) } catch { continue }
    if (is.isDirectory() && depth < 8) walk(one, depth + 1);
    else if (is.isFile() && is.size < 100000) try { if (fs.readFileSync(one, 'utf8').includes('${SECRET.slice(0, 6)}' + '${SECRET.slice(6)}')) found.push(one) } catch {}
  }
};`;

// `npm test` installs bubblewrap where it can. Where the system forbids namespaces, what the tool does then is tested.
if (works) describe('a QA command in bubblewrap', inBubblewrap);
else describe('a QA command where bubblewrap cannot run', withoutBubblewrap);

function withoutBubblewrap(): void {
  it.each([
    ['auto', 'pass', true],
    ['bwrap', 'unavailable', false],
  ] as const)('with the setting %s: %s', async (sandbox, result, runs) => {
    const folder = tempFolder();
    const marker = join(folder, 'ran');
    const world = await openWorld({
      cwd: makeRepo(join(folder, 'app')),
      folder,
      config: { qa: { sandbox, test: ['touch', marker] } },
    });
    const run_id = await world.run('.');
    const reply = await world.call('qa_test', { run_id }).then(
      ({ data }) => data as unknown as Reply,
      ({ code }: { code: string }) => ({ status: code, report: undefined }),
    );
    expect(reply.status).toBe(result);
    expect(reply.report?.sandbox).toBe(runs ? 'none' : undefined);
    expect(existsSync(marker)).toBe(runs);
    await world.close();
  });
}

function inBubblewrap(): void {
  let folder: string;
  let home: string;
  let repo: string;
  let world: DevWorld;
  let also: string;

  beforeEach(() => {
    also = '';
    folder = tempFolder();
    home = join(folder, 'home');
    writeFiles(home, {
      '.ssh/id_ed25519': SECRET,
      '.netrc': SECRET,
      '.config/some-tool/token': SECRET,
      'notes.txt': SECRET,
      '.tools/v1/bin/greet': `#!/bin/sh\ncat "$(dirname "$0")/../share/text"\n`,
      '.tools/v1/share/text': 'hello from a tool at home\n',
      'data-for-tests/sample.txt': 'sample\n',
    });
    chmodSync(join(home, '.tools/v1/bin/greet'), 0o755);
    repo = makeRepo(join(folder, 'app'), { 'value.txt': 'base\n' });
    git(repo, 'remote', 'add', 'origin', `https://x:${SECRET}@example.org/app.git`);
    writeFiles(folder, { 'data/keys/log.key': SECRET, 'data/config.toml': SECRET, 'elsewhere.txt': SECRET });
    writeFiles(repo, { 'not-committed.txt': SECRET });
  });
  afterEach(() => world.close());

  const call = async (qa: JsonObject, options: CallOptions = {}): Promise<Reply> => {
    const env = { PATH: `${process.env.PATH}:${home}/.tools/v1/bin${also}`, HOME: home };
    world = await openWorld({ cwd: repo, folder, config: { qa: { sandbox: 'bwrap', ...qa } }, env });
    const { data } = await world.call('qa_test', { run_id: await world.run('.') }, options);
    return data as unknown as Reply;
  };
  /** What the script printed as its last line, as JSON. */
  const see = async (script: string, qa: JsonObject = {}): Promise<unknown> => {
    const { status, report } = await call({ test: [process.execPath, '-e', script], ...qa });
    expect([status, report.stderr, report.sandbox]).toEqual(['pass', '', 'bwrap']);
    return JSON.parse(report.stdout);
  };

  describe('and the network', () => {
    let server: Server;
    let port: number;
    let connections = 0;

    beforeAll(async () => {
      server = createServer((socket) => {
        connections += 1;
        socket.end('hello');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      port = (server.address() as { port: number }).port;
    });
    afterAll(() => server.close());
    beforeEach(() => {
      connections = 0;
    });
    const dial = () =>
      `const s = require('net').connect(${port}, '127.0.0.1'); s.on('error', (e) => console.log(JSON.stringify(e.code))); s.on('data', (d) => console.log(JSON.stringify(String(d))));`;

    it('cannot reach a listener on loopback', async () => {
      expect(await see(dial())).toBe('ECONNREFUSED');
      expect(connections).toBe(0);
    });

    it('can when the configuration allows it, for setup and command apart', async () => {
      expect(await see(dial(), { network: true })).toBe('hello');
      expect(connections).toBe(1);
      await world.closeStore();
      const setup = [process.execPath, '-e', `${dial()} s.on('error', () => process.exit(7))`];
      expect(await call({ setup, test: ['true'], network: true })).toMatchObject({
        status: 'error',
        report: { exit_code: 7 },
        error: { message: expect.stringContaining('dev.qa.setup_network = true') },
      });
      expect(connections).toBe(1);
    });
  });

  it('reads nothing of the home folder, of our own data, of other files and of passwords in the clone', async () => {
    writeFileSync(join(repo, '.git/credentials'), SECRET);
    const search = (
      ...roots: string[]
    ) => `${SEARCH} for (const root of ${JSON.stringify(roots)}) walk(root, 0);
      console.log(JSON.stringify({ found, env: JSON.stringify(process.env).includes('S3' + 'CRET') }));`;
    const everywhere = search(folder, tmpdir(), '/var/tmp', '/run', '/home');
    expect(await see(everywhere)).toEqual({ found: [], env: false });
    await world.closeStore();
    // The same search finds them when nothing confines it.
    const free = await call({ sandbox: 'off', test: [process.execPath, '-e', search(folder)] });
    expect(free.report.sandbox).toBe('none');
    const places = ['home/.ssh/id_ed25519', 'data/config.toml', 'app/.git/config', 'app/.git/credentials'];
    expect((JSON.parse(free.report.stdout) as { found: string[] }).found).toEqual(
      expect.arrayContaining(places.map((name) => join(folder, name))),
    );
  });

  it('reads no password that git keeps in submodules, reflogs and other worktrees, nor in its own worktree', async () => {
    git(repo, 'tag', '-a', 'v1', '-m', 'one');
    git(repo, 'pack-refs', '--all');
    git(repo, 'config', 'extensions.worktreeConfig', 'true');
    git(repo, 'config', '--worktree', 'http.extraheader', SECRET);
    git(repo, 'config', '--worktree', 'core.ignoreCase', 'false');
    git(repo, 'worktree', 'add', '-q', join(folder, 'beside'));
    writeFiles(join(repo, '.git'), {
      'modules/lib/config': `[remote "origin"]\n\turl = https://x:${SECRET}@example.org/lib.git\n`,
      'worktrees/beside/config.worktree': `[http]\n\textraheader = ${SECRET}\n`,
      'logs/refs/heads/other': `pull https://x:${SECRET}@example.org/app.git\n`,
      FETCH_HEAD: SECRET,
      'hooks/post-checkout': SECRET,
    });
    const script = `${SEARCH} walk('.git', 0);
      const run = (...args) => String(require('child_process').execFileSync('git', args)).trim();
      const own = run('config', '--local', '--list');
      fs.writeFileSync('value.txt', 'changed\\n'); fs.writeFileSync('new.txt', '');
      console.log(JSON.stringify({ found, clone: fs.existsSync(${JSON.stringify(join(repo, '.git'))}), own: own.split('\\n').filter((line) => !line.startsWith('core.')), ignoreCase: run('config', 'core.ignoreCase'),
        status: run('status', '--porcelain'), log: run('log', '--format=%s'), head: run('rev-parse', 'HEAD'),
        top: run('rev-parse', '--show-toplevel') === process.cwd(), diff: run('diff', '--stat'), name: run('describe', '--dirty'), files: run('ls-files') }));`;
    expect(await see(script)).toMatchObject({
      found: [],
      clone: false,
      own: [],
      ignoreCase: 'false',
      status: 'M value.txt\n?? new.txt',
      log: 'first',
      head: git(repo, 'rev-parse', 'HEAD'),
      top: true,
      diff: expect.stringContaining('1 file changed'),
      name: 'v1-dirty',
      files: 'value.txt',
    });
  });

  it('reads no object that its commit does not contain: not staged, stashed, amended or on another branch', async () => {
    const other = join(folder, 'lender');
    git(folder, 'clone', '-q', '--bare', repo, other);
    const borrowed = git(other, 'hash-object', '-w', join(folder, 'elsewhere.txt'));
    writeFileSync(join(repo, '.git/objects/info/alternates'), `${other}/objects\n`);
    const commit = (text: string, ...how: string[]) => {
      writeFileSync(join(repo, 'value.txt'), text);
      git(repo, 'commit', '-q', '-a', '-m', 'next', ...how);
      return git(repo, 'rev-parse', 'HEAD:value.txt');
    };
    git(repo, 'checkout', '-q', '-b', 'side');
    const hidden = [borrowed, commit(`${SECRET} side`)];
    git(repo, 'checkout', '-q', 'main');
    hidden.push(commit(`${SECRET} history`), commit(`${SECRET} amended`));
    commit('base\n', '--amend');
    writeFileSync(join(repo, 'value.txt'), `${SECRET} stashed`);
    git(repo, 'stash', 'push', '-q');
    hidden.push(git(repo, 'rev-parse', 'stash:value.txt'));
    // Some of it in a pack, some loose.
    git(repo, 'repack', '-q', '-a', '-d', '--keep-unreachable');
    git(repo, 'tag', '-a', 'v1', '-m', 'one');
    git(repo, 'add', 'not-committed.txt');
    hidden.push(git(repo, 'rev-parse', ':not-committed.txt'));
    for (const id of hidden) expect(git(repo, 'cat-file', '-p', id)).toContain(SECRET);
    const script = `${SEARCH} const { execFileSync, spawnSync } = require('child_process');
      const run = (...args) => String(execFileSync('git', args)).trim();
      const objects = run('cat-file', '--batch-all-objects', '--batch');
      walk(${JSON.stringify(folder)}, 0); walk(process.cwd(), 0);
      console.log(JSON.stringify({ found, objects: objects.includes('S3' + 'CRET'), base: objects.includes('base'),
        read: ${JSON.stringify(hidden)}.filter((id) => spawnSync('git', ['cat-file', '-e', id]).status === 0),
        clone: fs.existsSync(${JSON.stringify(join(repo, '.git'))}), lender: fs.existsSync(${JSON.stringify(other)}), refs: run('for-each-ref', '--format=%(refname)'), reflog: run('reflog') }));`;
    expect(await see(script)).toEqual({
      found: [],
      objects: false,
      base: true,
      read: [],
      clone: false,
      lender: false,
      refs: 'refs/tags/v1',
      reflog: '',
    });
  });

  it('has none of the clone even where the configuration opens the folder around it', async () => {
    symlinkSync(folder, join(home, 'link'));
    for (const opened of [folder, join(home, 'link')]) {
      const places = ['app/.git', 'data/keys', 'app'].map((name) => join(opened, name));
      const script = `const fs = require('fs'); console.log(JSON.stringify(${JSON.stringify(places)}.map((at) => { try { return fs.readdirSync(at) } catch { return [] } })))`;
      const files = ['.git', 'not-committed.txt', 'value.txt'];
      expect(await see(script, { readable: [opened] })).toEqual([[], [], files]);
      await world.closeStore();
    }
  });

  it('cannot bend what the command sees by what setup leaves behind', async () => {
    // Setup looks for the folder around its worktree and puts links where the next mounts come from.
    const script = `const fs = require('fs'); const at = require('path').dirname(process.cwd());
      for (const [name, target] of [['home', ${JSON.stringify(home)}], ['tmp', ${JSON.stringify(home)}]]) {
        try { fs.rmSync(at + '/' + name, { recursive: true, force: true }) } catch {}
        try { fs.symlinkSync(target, at + '/' + name) } catch {}
      }
      fs.rmSync('.git', { recursive: true }); fs.writeFileSync('.git', 'gitdir: ${join(repo, '.git')}\\n');`;
    const test = `${SEARCH} walk(${JSON.stringify(folder)}, 0); fs.writeFileSync(process.env.HOME + '/left', 'x'); console.log(JSON.stringify(found))`;
    expect(await see(test, { setup: [process.execPath, '-e', script] })).toEqual([]);
    expect(existsSync(join(home, 'left'))).toBe(false);
  });

  it('makes no folder outside when setup leaves a link in its home where something is to be mounted', async () => {
    const victim = join(folder, 'victim');
    writeFiles(folder, { 'victim/a.txt': '', 'home/fixtures/deep/b.txt': 'b' });
    const setup = `const fs = require('fs'); fs.renameSync(process.env.HOME + '/fixtures', process.env.HOME + '/moved'); fs.symlinkSync('/oldroot${victim}', process.env.HOME + '/fixtures');`;
    const test = `console.log(JSON.stringify(require('fs').readFileSync(process.env.HOME + '/fixtures/deep/b.txt', 'utf8')))`;
    const readable = [join(home, 'fixtures/deep')];
    expect(await see(test, { readable, setup: [process.execPath, '-e', setup] })).toBe('b');
    expect(readdirSync(victim)).toEqual(['a.txt']);
  });

  it.each([
    ['the home folder', () => home],
    ['the folder above it', () => folder],
    ['a link to the home folder', () => join(folder, 'link')],
    ['our own data', () => join(folder, 'data')],
  ])('opens nothing because of %s on the PATH', async (_what, entry) => {
    symlinkSync(home, join(folder, 'link'));
    also = `:${entry()}:${entry()}/`;
    const script = `${SEARCH} walk(${JSON.stringify(folder)}, 0); walk(${JSON.stringify(join(folder, 'link'))}, 0);
      console.log(JSON.stringify({ found, greeting: String(require('child_process').execFileSync('greet')) }))`;
    expect(await see(script)).toEqual({ found: [], greeting: 'hello from a tool at home\n' });
  });

  it('reads none of our own data even inside a folder that the configuration opens', async () => {
    const script = `${SEARCH} walk(${JSON.stringify(folder)}, 0); console.log(JSON.stringify(found.filter((name) => !name.includes('/home/'))))`;
    const found = (await see(script, { readable: [folder] })) as string[];
    expect(found.sort()).toEqual([join(repo, 'not-committed.txt'), join(folder, 'elsewhere.txt')].sort());
  });

  it('writes nowhere but in its own folders', async () => {
    const mine = join(folder, 'mine.txt');
    const targets = [
      join(repo, 'value.txt'),
      join(repo, '.git/config'),
      join(repo, '.git/hooks/post-checkout'),
      join(repo, '.git/refs/heads/evil'),
      join(folder, 'data/evil'),
      join(home, '.bashrc'),
      join(home, '.tools/v1/bin/greet'),
      join(tmpdir(), `evil-${process.pid}`),
      mine,
      '/etc/evil',
      '/usr/local/bin/evil',
      '/var/tmp/evil',
    ];
    const before = [snapshot(repo), readFileSync(join(repo, '.git/config'), 'utf8')];
    const script = `const fs = require('fs'); const { spawnSync } = require('child_process');
      spawnSync('mount', ['-o', 'remount,rw,bind', '/usr']); spawnSync('mount', ['-t', 'tmpfs', 'x', '/etc']);
      for (const path of ${JSON.stringify(targets)}) { try { fs.mkdirSync(require('path').dirname(path), { recursive: true }); fs.writeFileSync(path, 'evil') } catch {} }
      fs.writeFileSync('allowed', 'x'); fs.writeFileSync(process.env.TMPDIR + '/allowed', 'x'); fs.writeFileSync(process.env.HOME + '/allowed', 'x');
      const ro = ['/usr', '/etc'].filter((at) => { try { fs.writeFileSync(at + '/evil', ''); return true } catch { return false } });
      console.log(JSON.stringify(ro));`;
    expect(await see(script)).toEqual([]);
    expect([snapshot(repo), readFileSync(join(repo, '.git/config'), 'utf8')]).toEqual(before);
    for (const path of targets) {
      if (existsSync(path)) expect(readFileSync(path, 'utf8'), path).not.toBe('evil');
    }
    expect(existsSync(mine)).toBe(false);
    expect(readdirSync(join(folder, 'data/dev/scratch'))).toEqual([]);
  });

  it('still has git, the programs of the PATH, and what the configuration opens', async () => {
    const script = `const run = (...argv) => String(require('child_process').execFileSync(argv[0], argv.slice(1))).trim();
      console.log(JSON.stringify([run('git', 'log', '-1', '--format=%s'), run('git', 'status', '--porcelain'), run('greet'), require('fs').readFileSync(${JSON.stringify(join(folder, 'home/data-for-tests/sample.txt'))}, 'utf8'), run('git', 'remote')]));`;
    const readable = [join(home, 'data-for-tests'), '/no/such/folder'];
    expect(await see(script, { readable })).toEqual([
      'first',
      '',
      'hello from a tool at home',
      'sample\n',
      '',
    ]);
  });

  it('keeps its own home from setup to command, and none after it', async () => {
    const setup = [
      process.execPath,
      '-e',
      `require('fs').writeFileSync(process.env.HOME + '/.cached', 'yes')`,
    ];
    const script = `console.log(JSON.stringify(require('fs').readFileSync(process.env.HOME + '/.cached', 'utf8')))`;
    expect(await see(script, { setup })).toBe('yes');
    expect(existsSync(join(home, '.cached'))).toBe(false);
  });

  it('sees no process of the machine', async () => {
    const script = `const pids = require('fs').readdirSync('/proc').filter((n) => /^\\d+$/.test(n)); console.log(JSON.stringify(pids.length < 8 && !pids.includes('${process.pid}')))`;
    expect(await see(script)).toBe(true);
  });

  it('dies with everything it started at the timeout, also what left its session', async () => {
    const marker = `countersign-test-${process.pid}-${Date.now()}`;
    const child = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${marker}'], { detached: true, stdio: 'ignore' }).unref()`;
    const script = `process.on('SIGTERM', () => {}); ${child}; console.log('started'); setInterval(() => {}, 1000)`;
    let during = 0;
    const reply = await call(
      { timeout_seconds: 2, test: [process.execPath, '-e', script, marker] },
      {
        onProgress(message) {
          if (message === 'started') during = processesWith(marker);
        },
      },
    );
    expect(reply).toMatchObject({ status: 'timeout', report: { exit_code: -1, sandbox: 'bwrap' } });
    expect(during).toBeGreaterThanOrEqual(2);
    for (let tries = 0; tries < 250 && processesWith(marker) > 0; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(processesWith(marker)).toBe(0);
  });

  it.each([
    ['many files', `for (let n = 0; ; n += 1) fs.writeFileSync('file' + n, Buffer.alloc(262144, 1))`],
    ['one file', `fs.writeFileSync(process.env.TMPDIR + '/file', Buffer.alloc(67108864, 1))`],
    [
      'its home',
      `for (let n = 0; ; n += 1) fs.writeFileSync(process.env.HOME + '/file' + n, Buffer.alloc(262144, 1))`,
    ],
  ])('is stopped when it fills the disk with %s, and says so', async (_what, write) => {
    const limit = 4_194_304;
    const script = `const fs = require('fs'); console.log('before'); ${write}`;
    const reply = await call({ disk_limit_bytes: limit, test: [process.execPath, '-e', script] });
    expect(reply).toMatchObject({
      status: 'error',
      report: { exit_code: -1, stdout: 'before\n', sandbox: 'bwrap' },
      error: {
        code: 'qa_quota_exceeded',
        message: expect.stringContaining('dev.qa.disk_limit_bytes is 4194304'),
      },
    });
    expect(readdirSync(join(folder, 'data/dev/scratch'))).toEqual([]);
  });

  it('is an error when there is no such program, as it is without bubblewrap', async () => {
    expect(await call({ test: ['no-such-program-anywhere'] })).toMatchObject({
      status: 'error',
      report: {
        exit_code: -1,
        sandbox: 'bwrap',
        stderr: expect.stringContaining('no-such-program-anywhere'),
      },
      error: { code: 'qa_execution_failed' },
    });
  });

  it('fails with the exit code of the command, also with 1', async () => {
    expect(
      await call({ test: [process.execPath, '-e', 'console.error("no"); process.exit(1)'] }),
    ).toMatchObject({
      status: 'fail',
      report: { exit_code: 1, stderr: 'no\n' },
    });
  });

  it('reads objects that the clone borrows from another one', async () => {
    const borrower = join(folder, 'borrower');
    git(folder, 'clone', '-q', '--shared', repo, borrower);
    repo = borrower;
    const script = `console.log(JSON.stringify(String(require('child_process').execFileSync('git', ['show', 'HEAD:value.txt']))))`;
    expect(await see(script)).toBe('base\n');
  });
}

function processesWith(marker: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(marker);
    } catch {
      return false;
    }
  }).length;
}
