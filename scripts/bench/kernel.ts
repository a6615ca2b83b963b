import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  buildChild,
  flushes,
  freshHome,
  latencies,
  median,
  memoryOf,
  openStdio,
  startHttp,
  throughput,
} from './measure.ts';
import type { Row } from './table.ts';

const ROUNDS = 5;
const CALLS = 400;
const MODERN = '2026-07-28';

/** Bare and ours take turns in one run, so other load on the machine affects both. */
export async function kernelRows(): Promise<Row[]> {
  const bareScript = await buildChild('bare-server', false);
  const ourScript = await buildChild('governed-server', true);
  const bare = await openStdio([bareScript, '112']);
  const ours = await openStdio([ourScript, '112']);
  const call = (peer: typeof bare, name: string) => () =>
    peer.client.callTool({ name, arguments: { text: 'hello' } });
  const runs = {
    bareRead: [] as number[],
    ourRead: [] as number[],
    ourChange: [] as number[],
    bareFlow: [] as number[],
    ourFlow: [] as number[],
    changeFlow: [] as number[],
    flush: [] as number[],
  };
  for (const warm of [call(bare, 'echo'), call(ours, 'echo'), call(ours, 'note')]) await latencies(warm, 150);
  for (let round = 0; round < ROUNDS; round += 1) {
    runs.bareRead.push(median(await latencies(call(bare, 'echo'), CALLS)));
    runs.ourRead.push(median(await latencies(call(ours, 'echo'), CALLS)));
    runs.ourChange.push(median(await latencies(call(ours, 'note'), CALLS)));
    runs.bareFlow.push(await throughput(call(bare, 'echo'), 32, 2000));
    runs.ourFlow.push(await throughput(call(ours, 'echo'), 32, 2000));
    runs.changeFlow.push(await throughput(call(ours, 'note'), 32, 2000));
    // In every round, because others on the machine use the disk as well.
    runs.flush.push(median(flushes(100)));
  }
  const flush = median(runs.flush);
  const changes = median(runs.changeFlow);
  await bare.close();
  await ours.close();
  const read = median(runs.bareRead);
  return [
    {
      what: 'governed read over stdio, p50',
      bare: `${read.toFixed(2)} ms`,
      ours: `${median(runs.ourRead).toFixed(2)} ms`,
      ratio: median(runs.ourRead) / read,
      budget: 1.25,
      better: 'lower',
    },
    {
      what: `governed change over stdio, p50 (two flushes of this disk alone: ${(2 * flush).toFixed(2)} ms)`,
      bare: `${read.toFixed(2)} ms`,
      ours: `${median(runs.ourChange).toFixed(2)} ms`,
      ratio: median(runs.ourChange) / read,
      budget: 3,
      better: 'lower',
      note: `the bare server writes nothing; of this ratio ${((2 * flush) / read).toFixed(1)} are the two flushes.`,
    },
    {
      what: `changes, 32 in flight (one flush of this disk: ${flush.toFixed(2)} ms)`,
      bare: `${Math.round(1000 / flush)}/s`,
      ours: `${Math.round(changes)}/s`,
      ratio: changes / (1000 / flush),
      budget: 1.5,
      better: 'higher',
      note: 'a disk that flushes faster than a core handles calls is not the limit; compare with the reads.',
    },
    {
      what: 'governed reads, 32 in flight',
      bare: `${Math.round(median(runs.bareFlow))}/s`,
      ours: `${Math.round(median(runs.ourFlow))}/s`,
      ratio: median(runs.ourFlow) / median(runs.bareFlow),
      budget: 0.6,
      better: 'higher',
    },
    await memoryRow(bareScript, ourScript),
    await httpRow(ourScript),
    await coldRow(bareScript),
  ];
}

/** Of processes that have listed and served one call, and then had nothing to do. */
async function memoryRow(bareScript: string, ourScript: string): Promise<Row> {
  const idle = async (script: string): Promise<number> => {
    const peer = await openStdio([script, '112']);
    await peer.client.listTools();
    await peer.client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    await sleep(1500);
    const memory = memoryOf(peer.pid);
    await peer.close();
    return memory;
  };
  const measured = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 3; round += 1) {
    measured.bare.push(await idle(bareScript));
    measured.ours.push(await idle(ourScript));
  }
  const [base, mine] = [median(measured.bare), median(measured.ours)];
  return {
    what: 'idle memory',
    bare: `${base.toFixed(0)} MB`,
    ours: `${mine.toFixed(0)} MB`,
    ratio: mine / base,
    budget: 1.45,
    better: 'lower',
  };
}

async function httpRow(ourScript: string): Promise<Row> {
  const bare = await startHttp([await buildChild('bare-http-server', false)]);
  const ours = await startHttp([ourScript, '112', 'http']);
  const times = { bare: [] as number[], ours: [] as number[] };
  for (const { url } of [bare, ours]) await latencies(() => post(url), 100);
  for (let round = 0; round < ROUNDS; round += 1) {
    times.bare.push(median(await latencies(() => post(bare.url), CALLS)));
    times.ours.push(median(await latencies(() => post(ours.url), CALLS)));
  }
  bare.child.kill();
  ours.child.kill();
  const [base, mine] = [median(times.bare), median(times.ours)];
  return {
    what: 'governed read over HTTP, p50',
    bare: `${base.toFixed(2)} ms`,
    ours: `${mine.toFixed(2)} ms`,
    ratio: mine / base,
    budget: 1.1,
    better: 'lower',
  };
}

async function post(url: string): Promise<void> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'hello' }, _meta: meta },
    }),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('hello')) throw new Error(`Unexpected answer: ${text.slice(0, 200)}`);
}

async function coldRow(bareScript: string): Promise<Row> {
  const home = freshHome();
  const start = async (args: readonly string[]): Promise<number> => {
    const started = performance.now();
    const peer = await openStdio(args, home);
    const { tools } = await peer.client.listTools();
    const taken = performance.now() - started;
    await peer.close();
    if (tools.length !== 112) throw new Error(`Expected 112 tools, got ${tools.length}.`);
    return taken;
  };
  const ours = ['dist/main.js', 'mcp', 'serve', '--toolkits', 'x'];
  // The first start creates the store, once in the life of an installation.
  await start(ours);
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 7; round += 1) {
    times.bare.push(await start([bareScript, '112']));
    times.ours.push(await start(ours));
  }
  const [base, mine] = [median(times.bare), median(times.ours)];
  return {
    what: 'cold start to answered tools/list, 112 tools',
    bare: `${base.toFixed(0)} ms`,
    ours: `${mine.toFixed(0)} ms`,
    ratio: mine / base,
    budget: 1.15,
    better: 'lower',
  };
}
