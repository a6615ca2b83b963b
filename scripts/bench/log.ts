import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { appendEntries, prepareEntry } from '../../src/kernel/audit/index.ts';
import { verifyLog } from '../../src/kernel/audit/verify.ts';
import { uuidv7 } from '../../src/lib/uuid.ts';
import { openStorage } from '../../src/storage/open.ts';
import { freshHome, median } from './measure.ts';
import type { Row } from './table.ts';

const ENTRIES = 200_000;
const ROUNDS = 5;
const BUDGET = 100_000;

/** How fast the whole log is recomputed, and whether memory stays flat. */
export async function logRows(): Promise<Row[]> {
  const database = await openStorage({ url: join(freshHome(), 'log.db') });
  for (let start = 0; start < ENTRIES; start += 5000) {
    const entries = Array.from({ length: 5000 }, (_, index) =>
      prepareEntry({
        kind: 'read',
        at: new Date(1_700_000_000_000 + start + index).toISOString(),
        call: uuidv7(),
        tool: 'get_mode',
        toolkit: 'x',
        effect: 'read',
        principal: 'agent:local',
        client: 'bench/1.0.0',
        transport: 'stdio',
        digest: 'd'.repeat(64),
        decision: 'allow',
        rule: 'default',
        status: 'ok',
      }),
    );
    await database.write((trx) => appendEntries(trx, database.engine, entries));
  }
  const before = process.memoryUsage().rss;
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const report = await verifyLog(database);
    runs.push((performance.now() - started) / 1000);
    if (!report.ok) throw new Error(`The benchmark's own log does not verify: ${report.first?.message}`);
  }
  const seconds = median(runs);
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
  await database.close();
  const rate = ENTRIES / seconds;
  return [
    {
      what: `audit verify, entries/s (${ENTRIES} entries, memory grew ${Math.round(grown)} MB)`,
      bare: `${BUDGET}/s`,
      ours: `${Math.round(rate)}/s`,
      ratio: rate / BUDGET,
      budget: 1,
      better: 'higher',
    },
  ];
}
