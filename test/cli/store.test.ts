import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStorage } from '../../src/app/open-storage.ts';
import { KeyFile } from '../../src/kernel/log/signing/key-file.ts';
import { freshPostgres } from '../support/engines.ts';
import { openTerminal } from './support.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
}

const terminal = openTerminal();
beforeEach(() => terminal.configure('toolkits = ["x"]\n'));
afterAll(() => terminal.close());

describe('a store that cannot be opened', () => {
  const useStore = (url: string): void =>
    terminal.configure(`toolkits = ["x"]\n[storage]\nurl = ${JSON.stringify(url)}\n`);

  it('is reported with its setting, without the password, and with what to do', async () => {
    useStore('postgres://me:hunter2@127.0.0.1:1/box?password=hunter3');
    const down = await terminal.run('status');
    expect(down.code).toBe(1);
    expect(down.err).toContain('storage.url is postgres://me@127.0.0.1:1/box): no server is listening there');
    expect(down.err).not.toMatch(/hunter|ECONNREFUSED/);

    const existing = new URL(await freshPostgres({ empty: true }));
    existing.pathname = '/no_such_database';
    useStore(existing.href);
    expect((await terminal.run('status')).err).toContain('this database does not exist. Create it');

    useStore('postgres://me:hunter2@[oops/box');
    const wrong = await terminal.run('status');
    expect(wrong.err).toContain('Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
    expect(wrong.err).not.toContain('hunter2');
  });

  it('is named by its path when it is a file', async () => {
    const file = join(terminal.home, 'notes.db');
    writeFileSync(file, 'only some notes, no database. '.repeat(50));
    useStore(file);
    expect((await terminal.run('status')).err).toContain(
      `Cannot open the database ${file}: this file is not a SQLite`,
    );
    useStore(terminal.home);
    expect((await terminal.run('status')).err).toContain(
      `Cannot open the database ${terminal.home}: it is a directory`,
    );
    useStore(join(file, 'below.db'));
    expect((await terminal.run('status')).err).toMatch(
      /Cannot open the database \S*below\.db: .* is a file, not a directory/,
    );
  });

  it('warns on PostgreSQL about a key that has not signed there yet, and lets it join', async () => {
    useStore(await freshPostgres());
    await terminal.run('call', 'get_mode');
    const key = join(terminal.home, 'audit-key.pem');
    const own = readFileSync(key);
    rmSync(key);
    new KeyFile(terminal.home).readOrCreate();
    const { code, out } = await terminal.run('status');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/Signing key +WARNING/) });
    expect((await terminal.run('doctor')).out).toMatch(/! signing key +audit-key\.pem/);
    await terminal.run('call', 'get_mode');
    expect((await terminal.json<{ key_problem: unknown }>('status')).key_problem).toBeNull();
    expect((await terminal.run('audit', 'verify')).out.match(/^Key /gm)).toHaveLength(2);
    writeFileSync(key, own);
    expect((await terminal.run('status')).out).not.toContain('WARNING');
    rmSync(key);
  });

  it('is one finding of doctor, which still looks at what needs no store', async () => {
    useStore('postgres://me:hunter2@127.0.0.1:1/box');
    const { findings } = await terminal.json<{ findings: Finding[] }>('doctor');
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'configuration',
      'store',
      'permissions',
      'port',
    ]);
    expect(findings[2]).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('no server is listening'),
    });
  });

  it('is not restored from a folder when it is PostgreSQL, nor its password shown', async () => {
    useStore('postgres://me:hunter2@127.0.0.1:1/box');
    const { code, err } = await terminal.run('restore', terminal.home);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('pg_restore') });
    expect(err).not.toContain('hunter2');
  });
});

describe('a home that cannot be made', () => {
  const below = (path: string) => join(path, 'home');
  const inHome = async (home: string, ...args: string[]) => {
    process.env.COUNTERSIGN_HOME = home;
    try {
      return await terminal.run(...args);
    } finally {
      process.env.COUNTERSIGN_HOME = terminal.home;
    }
  };

  it.each([
    ['below a file', () => below(join(terminal.home, 'config.toml')), /is a file, not a directory/],
    [
      'where the system makes none',
      () => below('/proc'),
      /Cannot use \S*\/proc\/home: no directory can be created there/,
    ],
  ])('is reported immediately %s, with what to do', async (_where, home, why) => {
    if (home().startsWith('/proc') && !existsSync('/proc/self')) return;
    for (const args of [['status'], ['init', '--yes'], ['doctor']]) {
      const { code, out, err } = await inHome(home(), ...args);
      expect(code).toBe(1);
      const said = out + err;
      expect(said).toMatch(why);
      expect(said).toMatch(
        /COUNTERSIGN_HOME to a ((folder|directory|place) you (own|may write)|writable (location|directory))/,
      );
    }
  });
});

describe('a first configuration', () => {
  it('comes with settings that start this very program on this very data directory', async () => {
    const path = join(terminal.home, 'own.toml');
    vi.stubEnv('HOME', terminal.home);
    const { out } = await terminal.run('init', '--yes', '-c', path);
    vi.unstubAllEnvs();
    const [, settings = ''] = /mcp_config.json\n(\{[\s\S]+?\n\})\n/.exec(out) ?? [];
    const [command = '', script = ''] = process.argv;
    expect(JSON.parse(settings).mcpServers.countersign).toEqual({
      command,
      args: [realpathSync(script), '-c', path, 'mcp', 'serve'],
      env: { COUNTERSIGN_HOME: terminal.home },
    });
    expect(out).toContain(
      `claude mcp add --scope user countersign -e COUNTERSIGN_HOME=${terminal.home} -- ${command} `,
    );
    expect(out).toContain(`[mcp_servers.countersign.env]\nCOUNTERSIGN_HOME = "${terminal.home}"`);
  });

  it('is not named by status while there is none', async () => {
    const path = join(terminal.home, 'config.toml');
    expect((await terminal.run('status')).out).toContain(`Configuration  ${path}`);
    rmSync(path);
    expect((await terminal.run('status')).out).toContain(
      `Configuration  using defaults (no file at ${path})`,
    );
  });
});

describe('a path that cannot be used', () => {
  const file = join(terminal.home, 'config.toml');

  it.each([
    ['backup', join(file, 'x')],
    ['policy', 'test', join(terminal.home, 'nope.toml')],
    ['audit', 'check', join(terminal.home, 'nope.json')],
    ['init', '--yes', '-c', join(file, 'config.toml')],
  ])('is reported in plain words by %s', async (...args) => {
    const { code, err } = await terminal.run(...args);
    expect(code).toBe(1);
    expect(err).toMatch(/Cannot use \S+: (no such file|.* is a file, not a directory)\./);
    expect(err).not.toMatch(/E[A-Z]{4,}:/);
  });

  it('is reported in plain words when a proof cannot be written', async () => {
    await terminal.run('call', 'get_capabilities');
    const { db, close } = await openStorage({ url: join(terminal.home, 'countersign.db') });
    const { call_id: call } = await db.selectFrom('calls').select('call_id').executeTakeFirstOrThrow();
    await close();
    const target = join(terminal.home, 'nope', 'x.json');
    const { code, err } = await terminal.run('audit', 'prove', call, '-o', target);
    expect({ code, err }).toEqual({
      code: 1,
      err: `Error: Cannot use ${target}: no directory ${join(terminal.home, 'nope')}.\n`,
    });
  });
});

describe.skipIf(process.platform === 'win32')('countersign doctor', () => {
  const permissions = async () => {
    const { findings } = await terminal.json<{ findings: { check: string }[] }>('doctor');
    return findings.find(({ check }) => check === 'permissions');
  };

  it('checks the permissions of the data directory itself', async () => {
    chmodSync(terminal.home, 0o700);
    expect(await permissions()).toMatchObject({ status: 'ok' });
    for (const mode of [0o755, 0o770, 0o777]) {
      chmodSync(terminal.home, mode);
      expect(await permissions(), mode.toString(8)).toEqual({
        check: 'permissions',
        status: 'warn',
        detail: `accessible to other users: ${terminal.home}`,
        fix: `chmod 700 ${terminal.home}`,
      });
    }
  });
});
