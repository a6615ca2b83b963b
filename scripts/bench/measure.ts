import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'esbuild';

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

const homes: string[] = [];
export function freshHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  homes.push(home);
  return home;
}
export const removeHomes = (): void => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
};

/** Our servers are built like the product, in chunks; the bare ones straight on their packages. */
export async function buildChild(name: string, isOurs: boolean): Promise<string> {
  const entry = `scripts/bench/${name}.ts`;
  if (isOurs) {
    const folder = resolve('.tmp', `bench-${name}`);
    rmSync(folder, { recursive: true, force: true });
    execFileSync(process.execPath, ['scripts/bundling.mjs', folder, entry], { stdio: 'inherit' });
    return join(folder, `${name}.js`);
  }
  const outfile = resolve('.tmp', `bench-${name}.mjs`);
  await build({
    entryPoints: [entry],
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

const environment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  COUNTERSIGN_HOME: home,
  COUNTERSIGN_LOG__LEVEL: 'error',
});

export interface Peer {
  readonly client: Client;
  readonly pid: number;
  close(): Promise<void>;
}

export async function openStdio(
  args: readonly string[],
  home = freshHome(),
  env: Record<string, string> = {},
): Promise<Peer> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    env: { ...environment(home), ...env },
    stderr: 'inherit',
  });
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, close: () => client.close() };
}

export async function startHttp(args: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [...args], {
    env: environment(freshHome()),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((done) =>
    child.stdout?.once('data', (chunk) => done(String(chunk).trim())),
  );
  return { url: `http://127.0.0.1:${port}/mcp`, child };
}

export async function latencies(call: () => Promise<unknown>, times: number): Promise<number[]> {
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const started = performance.now();
    await call();
    taken.push(performance.now() - started);
  }
  return taken;
}

/** Calls per second with so many in flight. */
export async function throughput(
  call: () => Promise<unknown>,
  inFlight: number,
  times: number,
): Promise<number> {
  const started = performance.now();
  let left = times;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return times / ((performance.now() - started) / 1000);
}

/** How long this disk takes to make one page durable, in milliseconds: a durable change waits for two of these. */
export function flushes(times: number): number[] {
  const file = openSync(join(freshHome(), 'flush'), 'w');
  const page = Buffer.alloc(4096, 1);
  for (let index = 0; index < 64; index += 1) writeSync(file, page);
  fsyncSync(file);
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const started = performance.now();
    writeSync(file, page, 0, page.length, (turn % 64) * page.length);
    fdatasyncSync(file);
    taken.push(performance.now() - started);
  }
  closeSync(file);
  return taken;
}

/** Resident memory in MB. */
export function memoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}
