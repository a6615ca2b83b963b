import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openStorage } from '../../src/app/open-storage.ts';
import { startHelper } from '../../src/cli/verify-helper.ts';
import type { CallFilter, Log } from '../../src/contract/ports.ts';
import { Recorder } from '../../src/kernel/call/recorder.ts';
import { updateCallStats } from '../../src/kernel/call-stats.ts';
import { appendEntries, prepareEntry } from '../../src/kernel/log/index.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { CALLS, insertRows } from '../../src/kernel/store/statements.ts';
import type { CallsTable } from '../../src/kernel/store/tables.ts';
import { createTelemetry } from '../../src/kernel/telemetry.ts';
import { readInsights } from '../../src/kernel/views/insights.ts';
import { uuidv7 } from '../../src/lib/random.ts';
import { openStorageReadOnly } from '../../src/storage/open.ts';
import { freshHome, median } from './measure.ts';
import type { Row } from './table.ts';

const ENTRIES = 1_000_000;
const BATCH = 5000;
const ROUNDS = 3;
const BUDGET = 200_000;
const DAYS = 90;
const END_MS = Date.UTC(2026, 10, 1);
const EVERY_MS = Math.floor((DAYS * 86_400_000) / ENTRIES);

/** What takes longer the more there is: verifying the whole log, and the pages about all calls. */
export async function logRows(): Promise<Row[]> {
  const home = freshHome();
  const url = join(home, 'log.db');
  await writeLog(url);
  return [await verifyRow(url), ...(await pageRows(url))];
}

/** How fast the whole log and the rows it is about are recomputed, and whether memory stays flat. */
async function verifyRow(url: string): Promise<Row> {
  const database = await openStorageReadOnly({ url });
  const worker = pathToFileURL('dist/verify-worker.js');
  const before = process.memoryUsage().rss;
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const helper = startHelper({ url, rows: true }, worker);
    const verifying = verifyLog(database, { rows: true, helper: helper?.read });
    const report = await verifying.finally(() => helper?.close());
    runs.push((performance.now() - started) / 1000);
    if (!report.ok) throw new Error(`The benchmark's own log does not verify: ${report.first?.message}`);
  }
  const seconds = median(runs);
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
  await database.close();
  const rate = ENTRIES / seconds;
  return {
    what: `audit verify, entries/s (${ENTRIES} entries, memory grew ${Math.round(grown)} MB)`,
    bare: `${BUDGET}/s`,
    ours: `${Math.round(rate)}/s`,
    ratio: rate / BUDGET,
    budget: 1,
    better: 'higher',
  };
}

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The pages over all calls, and how long the slowest of them keeps every other call waiting. */
async function pageRows(url: string): Promise<Row[]> {
  const database = await openStorage({ url });
  // What `countersign up` does in the background.
  await updateCallStats(database);
  const telemetry = createTelemetry(database, new Recorder(database, log));
  const now = new Date(END_MS);
  const insights = await timed(() => readInsights(database, telemetry, { days: DAYS, tool: undefined, now }));
  const filters: CallFilter[] = [
    { tool: 'rare' },
    { tool: 'tool_7', principal: 'agent:a1' },
    { principal: 'agent:rare' },
    { statuses: ['failed'] },
    { statuses: ['failed', 'refused'], principal: 'agent:a2' },
    { since: new Date(END_MS - 3_600_000) },
  ];
  const pages = [];
  for (const filter of filters) pages.push(await timed(() => telemetry.calls(filter)));
  await database.close();
  const row = (what: string, ms: number, budget: number): Row => ({
    what: `${what} (${ENTRIES} entries)`,
    bare: `${budget} ms`,
    ours: `${ms.toFixed(0)} ms`,
    ratio: ms / budget,
    budget: 1,
    better: 'lower',
  });
  return [
    row(`insights of ${DAYS} days`, insights.ms, 200),
    row('filtered activity, slowest of six filters', Math.max(...pages.map(({ ms }) => ms)), 200),
    row(
      'longest that insights or activity keep other calls waiting',
      Math.max(insights.stall, ...pages.map(({ stall }) => stall)),
      50,
    ),
  ];
}

/** The median time of some tries, and the longest that the event loop did not turn in any of them. */
async function timed(work: () => Promise<unknown>): Promise<{ ms: number; stall: number }> {
  const tries: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for (let turn = 0; turn < 5; turn += 1) {
    const started = performance.now();
    await work();
    tries.push(performance.now() - started);
    await sleep(20);
  }
  delay.disable();
  return { ms: median(tries), stall: delay.max / 1e6 };
}

/** Reads, as the kernel records them: one entry and one row each. */
async function writeLog(url: string): Promise<void> {
  const database = await openStorage({ url });
  for (let start = 0; start < ENTRIES; start += BATCH) {
    const made = Array.from({ length: BATCH }, (_, index) => readAt(start + index));
    await database.write(async (trx) => {
      await insertRows(
        trx,
        database.engine,
        CALLS,
        made.map(({ row }) => row),
      );
      await appendEntries(
        trx,
        database.engine,
        made.map(({ entry }) => entry),
      );
    });
  }
  await database.close();
}

function readAt(index: number) {
  const ms = END_MS - (ENTRIES - index) * EVERY_MS;
  const at = new Date(ms).toISOString();
  const isRare = index % 100_000 === 99;
  const failed = index % 1000 === 500;
  const call = {
    tool: isRare ? 'rare' : `tool_${index % 20}`,
    toolkit: 'x',
    effect: 'read',
    principal: isRare ? 'agent:rare' : `agent:a${index % 3}`,
    client: 'bench/1.0.0',
    transport: 'stdio',
    digest: 'd'.repeat(64),
    decision: 'allow',
    rule: 'default',
    status: failed ? 'failed' : 'ok',
  };
  const id = uuidv7(ms);
  const entry = prepareEntry({ kind: 'read', at, call: id, ...call, code: failed ? 'timeout' : undefined });
  const row: CallsTable = {
    ...call,
    call_id: id,
    parent_id: null,
    started_at: at,
    finished_at: at,
    category: 'mode',
    run_id: null,
    code: failed ? 'timeout' : null,
    latency_ms: 1 + (index % 50),
    evidence_hash: entry.hash,
    approval_id: null,
    approver: null,
    replay_of: null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  };
  return { entry, row };
}
