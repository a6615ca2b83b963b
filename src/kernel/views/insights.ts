import { sql } from 'kysely';
import type { TelemetryPort } from '../../contract/ports.ts';
import { type CallStat, readCallStats } from '../call-stats.ts';
import type { Database } from '../store/database.ts';
import { FAILED } from '../telemetry.ts';
import type { InsightsData } from './shapes.ts';

const DAY_MS = 86_400_000;

/** Calls, errors, latency and approvals of the last days, of all tools or one; the tables are always of all. */
export async function readInsights(
  database: Database,
  telemetry: TelemetryPort,
  { days, tool, now }: { readonly days: number; readonly tool: string | undefined; readonly now: Date },
): Promise<InsightsData> {
  const from = new Date(now.getTime() - days * DAY_MS);
  // An ISO text cut at the hour or the day is the bucket it falls into, on either engine.
  const cut = days <= 2 ? 13 : 10;
  const bucket = cut === 13 ? 'hour' : 'day';
  const errors = await telemetry.errors(from);
  const tools = await telemetry.metrics(from);
  const stats = await readCallStats(database, { by: 'span', from, unit: bucket, tool });
  const { db } = database;
  const decidedAt = sql<string>`substr(created_at, 1, ${sql.lit(cut)})`;
  const approvals = await db
    .selectFrom('approvals')
    .select((eb) => [decidedAt.as('at'), 'state', eb.fn.countAll<number>().as('count')])
    .where('created_at', '>=', from.toISOString())
    .$if(tool !== undefined, (query) => query.where('tool', '=', tool ?? ''))
    .groupBy([decidedAt, 'state'])
    .orderBy(decidedAt)
    .execute();
  return {
    from: from.toISOString(),
    bucket,
    series: seriesOf(stats),
    approvals: approvals.map((row) => ({ at: row.at, state: row.state, count: Number(row.count) })),
    tools,
    errors: errors.map((row) => ({ ...row, lastAt: row.lastAt.toISOString() })),
  };
}

function seriesOf(stats: readonly CallStat[]): InsightsData['series'] {
  const bySpan = new Map<string, { calls: number; errors: number; totalMs: number }>();
  for (const { span, status, calls, totalMs } of stats) {
    const sums = bySpan.get(span) ?? { calls: 0, errors: 0, totalMs: 0 };
    sums.calls += calls;
    if (FAILED.has(status)) sums.errors += calls;
    sums.totalMs += totalMs;
    bySpan.set(span, sums);
  }
  return [...bySpan.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([at, { calls, errors, totalMs }]) => ({ at, calls, errors, latency_ms: totalMs / calls }));
}
