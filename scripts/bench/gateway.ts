import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { encode } from 'gpt-tokenizer';
import { openApp } from '../../src/app/app.ts';
import { pinServers } from './gateway-pins.ts';
import { buildChild, freshHome, latencies, median, openStdio, startHttp, throughput } from './measure.ts';
import type { Row } from './table.ts';

const ROUNDS = 5;
const CALLS = 100;
const PROXY = 'mcp-proxy@6.7.19';
/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

interface Peer {
  readonly name: string;
  readonly tool: string;
  readonly client: Client;
  readonly pid: number;
  close(): Promise<void>;
}

/** Reads through the gateway next to two proxies that govern nothing, and what 400 pinned tools cost. */
export async function gatewayRows(): Promise<Row[]> {
  // On Node 20 the SDK's HTTP client leaves a listener for every call, and Node then warns about each.
  setMaxListeners(0);
  const bare = await buildChild('bare-server', false);
  const peers = [
    await connect('ours', 'e__echo', await startHttp([await buildChild('gateway-server', true), bare])),
    await connect('plain', 'echo', await startHttp([await buildChild('plain-proxy', false), bare])),
    await connect('mcp-proxy', 'echo', await startMcpProxy(bare)),
  ];
  const figures = await measure(peers);
  for (const peer of peers) await peer.close();
  const row = (what: string, of: 'p50' | 'cpu' | 'flow', other: string, budget: number): Row => {
    const [theirs, ours] = [figures.get(other)?.[of] ?? 0, figures.get('ours')?.[of] ?? 0];
    const unit = of === 'flow' ? '/s' : ' ms';
    return {
      what: `${what}, next to ${other === 'plain' ? 'an ungoverned SDK proxy' : PROXY}`,
      bare: `${theirs.toFixed(2)}${unit}`,
      ours: `${ours.toFixed(2)}${unit}`,
      ratio: ours / theirs,
      budget,
      better: of === 'flow' ? 'higher' : 'lower',
    };
  };
  return [
    row('gateway: governed read, p50', 'p50', 'mcp-proxy', 1),
    row('gateway: processor time per read', 'cpu', 'mcp-proxy', 1),
    row('gateway: reads with 16 in flight', 'flow', 'mcp-proxy', 1),
    row('gateway: governed read, p50', 'p50', 'plain', 1.3),
    ...(await listingRows()),
  ];
}

async function connect(
  name: string,
  tool: string,
  { url, child }: { url: string; child: ChildProcess },
): Promise<Peer> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    name,
    tool,
    client,
    pid: child.pid ?? 0,
    async close() {
      await client.close();
      child.kill();
    },
  };
}

/** Peers take turns in one run, so other load on the machine affects all of them. */
async function measure(
  peers: readonly Peer[],
): Promise<Map<string, { p50: number; cpu: number; flow: number }>> {
  const taken = new Map(
    peers.map(({ name }) => [name, { p50: [] as number[], cpu: [] as number[], flow: [] as number[] }]),
  );
  for (let round = -1; round < ROUNDS; round += 1)
    for (const { name, tool, client, pid } of peers) {
      const call = () => client.callTool({ name: tool, arguments: { text: 'hello' } });
      const before = cpuOf(pid);
      const p50 = median(await latencies(call, CALLS));
      const flow = await throughput(call, 16, CALLS * 2);
      const cpu = (cpuOf(pid) - before) / (CALLS * 3);
      // The first round only warms up.
      if (round < 0) continue;
      taken.get(name)?.p50.push(p50);
      taken.get(name)?.flow.push(flow);
      taken.get(name)?.cpu.push(cpu);
    }
  const middle = ({ p50, cpu, flow }: { p50: number[]; cpu: number[]; flow: number[] }) => ({
    p50: median(p50),
    cpu: median(cpu),
    flow: median(flow),
  });
  return new Map([...taken].map(([name, all]) => [name, middle(all)]));
}

/** Milliseconds of processor time of a process and all that it started. */
function cpuOf(root: number): number {
  const all = readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || !existsSync(`/proc/${entry}/stat`)) return [];
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return [
        { pid: Number(entry), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) },
      ];
    } catch {
      return [];
    }
  });
  const sum = (pid: number): number =>
    all.filter((one) => one.pid === pid).reduce((total, { ticks }) => total + ticks, 0) +
    all.filter(({ parent }) => parent === pid).reduce((total, one) => total + sum(one.pid), 0);
  return sum(root) * TICK_MS;
}

/** Installed on demand: it is no dependency of ours. */
async function startMcpProxy(script: string): Promise<{ url: string; child: ChildProcess }> {
  const folder = resolve('.tmp', 'mcp-proxy');
  const main = join(folder, 'node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs');
  if (!existsSync(main)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', PROXY]);
  }
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      main,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--server',
      'stream',
      '--',
      process.execPath,
      script,
      '2',
    ],
    { stdio: 'ignore' },
  );
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await fetch(url).catch(() => undefined)) return { url, child };
    await sleep(100);
  }
  throw new Error('mcp-proxy did not start.');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

/** 20 servers with 400 tools: what a client pays to list them in discovery mode, and to start. */
async function listingRows(): Promise<Row[]> {
  const none = freshHome();
  const many = freshHome();
  const text = await pinServers(many);
  writeFileSync(join(many, 'config.toml'), text);
  for (const home of [none, many])
    await (await openApp({ env: { COUNTERSIGN_HOME: home, COUNTERSIGN_LOG__LEVEL: 'silent' } })).close();
  const starts = { none: [] as number[], many: [] as number[] };
  let tokens = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [key, home] of [
      ['none', none],
      ['many', many],
    ] as const) {
      const started = performance.now();
      const peer = await openStdio(['dist/main.js', 'mcp', 'serve', '--discovery'], home);
      const { tools } = await peer.client.listTools();
      starts[key].push(performance.now() - started);
      if (key === 'many') tokens = encode(JSON.stringify(tools)).length;
      await peer.close();
    }
  const [bare, ours] = [median(starts.none), median(starts.many)];
  return [
    {
      what: 'gateway: tokens of tools/list in discovery mode, 400 tools of 20 servers',
      bare: '1200',
      ours: String(tokens),
      ratio: tokens / 1200,
      budget: 1,
      better: 'lower',
    },
    {
      what: 'gateway: start to tools/list with 20 servers, next to none',
      bare: `${bare.toFixed(0)} ms`,
      ours: `${ours.toFixed(0)} ms`,
      ratio: ours / bare,
      budget: 1.3,
      better: 'lower',
    },
  ];
}
