import { cpus, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { type App, openApp } from '../../src/app/app.ts';
import { newTraffic, runAgent } from './agents.ts';
import { checkStore, type Finding } from './check.ts';
import { type Cluster, type Node, startCluster } from './cluster.ts';
import { createEffects, soakToolkit } from './toolkit.ts';

// Usage: npm run soak [-- MINUTES]
const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0)) throw new Error('Usage: npm run soak -- MINUTES');
const AGENTS = 50;
const SERVERS = 3;
/** RSS at the end may exceed that after the warm-up by this share. */
const FLAT = 1.25;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const cluster = await startCluster(SERVERS);
const person = await openApp({
  env: {
    PATH: process.env.PATH,
    HOME: cluster.personHome,
    COUNTERSIGN_HOME: cluster.personHome,
    COUNTERSIGN_LOG__LEVEL: 'silent',
  },
  extraToolkits: [{ id: 'soak', load: async () => soakToolkit }],
});
await createEffects(person.database.db as unknown as Kysely<unknown>);
const tokens: string[] = [];
for (let at = 0; at < AGENTS; at += 1)
  tokens.push(await person.kernel.agents.add(`agent${at}`, person.person));
await Promise.all(cluster.nodes.map((node) => node.start()));
say(
  `${SERVERS} servers on one PostgreSQL, ${AGENTS} agents, ${minutes} minutes, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`,
);

const traffic = newTraffic();
const stop = new AbortController();
const kills = { servers: 0, database: 0 };
const memory: number[] = [];
const started = performance.now();
const agents = tokens.map((token, at) => runAgent(`agent${at}`, token, cluster.nodes, traffic, stop.signal));
const background = [decide(person), disturb(cluster), watchMemory(cluster.nodes.at(-1))];
await sleep(minutes * 60_000);
stop.abort();
const seconds = (performance.now() - started) / 1000;
await Promise.all([...agents, ...background]);
for (const node of cluster.nodes) while (!(await node.answers())) await sleep(200);
await settle(person);
const exits: (number | string)[] = [];
for (const node of cluster.nodes) exits.push(await node.end('SIGTERM'));
await person.close();
const findings = [...(await checkStore(cluster.url, traffic)), ...checkProcess(exits)];
await cluster.close();
print(findings, seconds);
process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;

/** A person who works through the inbox. */
async function decide({ kernel, person: by }: App): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      const pending = await kernel.approvals.list({ states: ['pending'], order: 'oldest', limit: 10 });
      await Promise.allSettled(
        pending.map(({ id }) =>
          Math.random() < 0.8 ? kernel.approvals.approve(id, by) : kernel.approvals.reject(id, by),
        ),
      );
    } catch {
      // The database is away, or another decision came first.
    }
    await sleep(300);
  }
}

/** Kills servers and the database at random. The last server is spared, so that its memory can be watched. */
async function disturb({ nodes, postgres }: Cluster): Promise<void> {
  const victims = nodes.slice(0, -1);
  for (;;) {
    await sleep(4_000 + Math.random() * 8_000, undefined, { signal: stop.signal }).catch(() => {});
    if (stop.signal.aborted) return;
    if (Math.random() < 0.5) {
      const node = victims[Math.floor(Math.random() * victims.length)] as Node;
      await node.end(Math.random() < 0.8 ? 'SIGKILL' : 'SIGTERM');
      await node.start();
      kills.servers += 1;
    } else {
      await postgres.restart(Math.random() < 0.5 ? 'SIGKILL' : 'SIGINT');
      kills.database += 1;
    }
  }
}

async function watchMemory(node: Node | undefined): Promise<void> {
  while (!stop.signal.aborted) {
    const now = node?.memory();
    if (now !== undefined) memory.push(now);
    await sleep(1_000);
  }
}

/** What killed servers left is settled by the ones that live. */
async function settle({ kernel }: App): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await kernel.recover();
    const open = await kernel.telemetry.calls({ statuses: ['running'], limit: 1 });
    if (open.length === 0) return;
    await sleep(1_000);
  }
}

function checkProcess(exits: readonly (number | string)[]): Finding[] {
  const quarter = Math.floor(memory.length / 4);
  const [early, late] = [average(memory.slice(quarter, 2 * quarter)), average(memory.slice(3 * quarter))];
  return [
    {
      what: 'memory flat',
      ok: late <= early * FLAT,
      detail: `server ${SERVERS}: ${early.toFixed(0)} MB in the second quarter, ${late.toFixed(0)} MB in the last`,
    },
    {
      what: 'no internal error',
      ok: traffic.internal.length === 0,
      detail: `${traffic.internal.length} calls; ${traffic.internal.slice(0, 3).join(' ') || 'every failure was named'}`,
    },
    {
      what: 'clean exit',
      ok: exits.every((code) => code === 0),
      detail: `after SIGTERM: ${exits.join(', ')}`,
    },
  ];
}

function print(found: readonly Finding[], seconds: number): void {
  const { latencies, answers, lost, calls } = traffic;
  const answered = latencies.read.length + latencies.change.length;
  say(`Kills       ${kills.servers} of servers, ${kills.database} of the database`);
  say(`Calls       ${calls} sent, ${answered} answered, ${lost} lost with their server`);
  say(`Throughput  ${(answered / seconds).toFixed(0)} calls/s`);
  for (const [name, values] of Object.entries(latencies))
    say(
      `${name.padEnd(11)} p50 ${percentile(values, 0.5).toFixed(0)} ms, p95 ${percentile(values, 0.95).toFixed(0)} ms, p99 ${percentile(values, 0.99).toFixed(0)} ms, max ${percentile(values, 1).toFixed(0)} ms`,
    );
  for (const [what, count] of [...answers].sort()) say(`            ${String(count).padStart(7)} ${what}`);
  for (const { what, ok, detail } of found) say(`${ok ? '✓' : '✗'} ${what.padEnd(22)} ${detail}`);
}
