import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshHome, openStdio, type Peer } from './measure.ts';
import { makeProject } from './research-data.ts';
import type { Row } from './table.ts';

export const row = (what: string, ms: number, budget: number): Row => ({
  what: `research, ${what}`,
  bare: `${budget} ms`,
  ours: `${ms.toFixed(1)} ms`,
  ratio: ms / budget,
  budget: 1,
  better: 'lower',
});

export function homeWith(
  name: string,
  sources: readonly { name: string; text: string }[],
): { home: string; path: string } {
  const home = freshHome();
  const path = makeProject(join(home, name), sources);
  writeFileSync(join(home, 'config.toml'), `[research]\nproject = ${JSON.stringify(path)}\n`);
  return { home, path };
}

export const serve = (home: string): Promise<Peer> =>
  openStdio(
    [join(process.env.TEST_DIST ?? 'dist', 'main.js'), 'mcp', 'serve', '--toolkits', 'research'],
    home,
  );

/** How busy a server's main thread was, in milliseconds of CPU time, since it was asked last. */
export interface Busy {
  /** Longest without a break. */
  readonly busyMost: number;
  readonly busyP99: number;
  /** Of all threads, since the start. */
  readonly cpu: number;
}

export interface ProbedPeer extends Peer {
  busy(): Promise<Busy>;
}

/** The same with a probe in the process: on a busy machine the time of day says little about who keeps whom waiting. */
export async function serveProbed(home: string): Promise<ProbedPeer> {
  const figures = join(home, 'probe.jsonl');
  writeFileSync(figures, '');
  const lines = () => readFileSync(figures, 'utf8').trim().split('\n').filter(Boolean);
  const main = join(process.env.TEST_DIST ?? 'dist', 'main.js');
  const args = ['--import', './scripts/bench/loop-probe.mjs', main, 'mcp', 'serve', '--toolkits', 'research'];
  const peer = await openStdio(args, home, { BENCH_PROBE: figures });
  return {
    ...peer,
    async busy() {
      const before = lines().length;
      process.kill(peer.pid, 'SIGUSR2');
      while (lines().length === before) await sleep(10);
      return JSON.parse(lines().at(-1) ?? '{}') as Busy;
    },
  };
}

export async function call<T = Record<string, unknown>>(
  peer: Peer,
  name: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const { structuredContent } = await peer.client.callTool({ name, arguments: args }, { timeout: 600_000 });
  const { success, data: found, error } = structuredContent as { success: boolean; data: T; error?: string };
  if (!success) throw new Error(`${name}: ${error}`);
  return found;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
