import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres-server.ts';

/** Low enough that agents reach both. */
export const LIMITS = [
  { key: 'each_agent', dimension: 'principal', match: 'agent:*', max: 6, period_seconds: 30 },
  { key: 'everyone', dimension: 'global', match: '*', max: 200, period_seconds: 30 },
] as const;

const config = (url: string, port: number): string => `toolkits = ["soak"]
[storage]
url = "${url}"
[server]
port = ${port}
[approvals.notify]
desktop = false
[mcp_policy]
require_approval_for = ["soak_ask"]
blocked_tools = ["soak_blocked"]
${LIMITS.map(
  ({ key, dimension, match, max, period_seconds }) =>
    `[[mcp_policy.limits]]\nkey = "${key}"\ndimension = "${dimension}"\nmatch = "${match}"\nmax = ${max}\nperiod_seconds = ${period_seconds}`,
).join('\n')}
`;

/** One server process that can be killed and started again at the same address. */
export class Node {
  readonly name: string;
  readonly port: number;
  readonly home: string;
  readonly #script: string;
  #child: ChildProcess | undefined;
  errors = '';

  constructor(name: string, port: number, home: string, script: string) {
    this.name = name;
    this.port = port;
    this.home = home;
    this.#script = script;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [this.#script], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: this.home,
        COUNTERSIGN_HOME: this.home,
        COUNTERSIGN_LOG__LEVEL: 'error',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-20_000);
    });
    this.#child = child;
    while (!(await this.answers())) {
      // The database may be away while it starts; a service manager would start it again.
      if (child.exitCode !== null) return this.start();
      await sleep(100);
    }
  }

  async answers(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/health`, { signal: AbortSignal.timeout(2_000) })).ok;
    } catch {
      return false;
    }
  }

  /** The exit code, or the name of the signal that ended it. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string> {
    const child = this.#child;
    if (!child) return 'not running';
    const ended = new Promise<number | string>((done) => {
      child.once('exit', (code, by) => done(code ?? by ?? 'unknown'));
    });
    child.kill(signal);
    return ended;
  }

  /** Resident memory in MB. */
  memory(): number | undefined {
    try {
      const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'));
      return found ? Number(found[1]) / 1024 : undefined;
    } catch {
      return undefined;
    }
  }
}

export interface Cluster {
  readonly postgres: PostgresServer;
  readonly url: string;
  readonly nodes: readonly Node[];
  /** A data directory for the person, on the same database. */
  readonly personHome: string;
  close(): Promise<void>;
}

export async function startCluster(count: number): Promise<Cluster> {
  // As an operator would run it: what was committed survives the death of the server.
  const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', autovacuum: 'on' };
  const postgres = await startPostgres(durable);
  const client = new pg.Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  await client.query('create database soak');
  await client.end();
  const url = postgres.url('soak');
  const folder = mkdtempSync(join(tmpdir(), 'countersign-soak-'));
  const script = await buildServer();
  const nodes: Node[] = [];
  for (let at = 0; at < count; at += 1) {
    const port = await freePort();
    nodes.push(
      new Node(`server ${at + 1}`, port, makeHome(folder, `node-${at + 1}`, config(url, port)), script),
    );
  }
  return {
    postgres,
    url,
    nodes,
    personHome: makeHome(folder, 'person', config(url, 0)),
    async close() {
      for (const node of nodes) if (await node.answers()) await node.end('SIGKILL');
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeHome(folder: string, name: string, toml: string): string {
  const home = join(folder, name);
  mkdirSync(home);
  writeFileSync(join(home, 'config.toml'), toml, { mode: 0o600 });
  return home;
}

async function buildServer(): Promise<string> {
  mkdirSync('.tmp', { recursive: true });
  const outfile = resolve('.tmp', 'soak-server.mjs');
  await build({
    entryPoints: ['scripts/soak/server.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address ? address.port : 0;
}
