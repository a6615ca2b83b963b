import type { Hono } from 'hono';
import { sql } from 'kysely';
import { ToolFault } from '../../contract/faults.ts';
import type { WebPorts } from '../ports.ts';
import type { WebEnv } from '../sign-in.ts';

const DAY_MS = 86_400_000;

/** Calls, errors, latency and approvals over time, of all tools or one; the tables are always of all. */
export function addInsightRoutes(api: Hono<WebEnv>, ports: WebPorts): void {
  api.get('/insights', async (context) => {
    const days = Number(context.req.query('days') ?? 7);
    if (!(days >= 1 && days <= 366)) throw new ToolFault('invalid_input', 'days must be between 1 and 366.');
    const tool = context.req.query('tool');
    const from = new Date(ports.now().getTime() - days * DAY_MS);
    // An ISO text cut at the hour or the day is the bucket it falls into, on either engine.
    const cut = days <= 2 ? 13 : 10;
    const { db } = ports.database;
    const bucket = sql<string>`substr(started_at, 1, ${sql.lit(cut)})`;
    const series = await db
      .selectFrom('calls')
      .select((eb) => [
        bucket.as('at'),
        eb.fn.countAll<number>().as('calls'),
        sql<number>`sum(case when status in ('failed', 'refused', 'indeterminate') then 1 else 0 end)`.as(
          'errors',
        ),
        sql<number>`avg(latency_ms)`.as('latency_ms'),
      ])
      .where('started_at', '>=', from.toISOString())
      .$if(tool !== undefined, (query) => query.where('tool', '=', tool ?? ''))
      .groupBy(bucket)
      .orderBy(bucket)
      .execute();
    const decidedAt = sql<string>`substr(created_at, 1, ${sql.lit(cut)})`;
    const approvals = await db
      .selectFrom('approvals')
      .select((eb) => [decidedAt.as('at'), 'state', eb.fn.countAll<number>().as('count')])
      .where('created_at', '>=', from.toISOString())
      .$if(tool !== undefined, (query) => query.where('tool', '=', tool ?? ''))
      .groupBy([decidedAt, 'state'])
      .orderBy(decidedAt)
      .execute();
    const telemetry = ports.kernel.telemetry;
    return context.json({
      from: from.toISOString(),
      bucket: cut === 13 ? 'hour' : 'day',
      series: series.map((row) => ({
        at: row.at,
        calls: Number(row.calls),
        errors: Number(row.errors),
        latency_ms: Number(row.latency_ms),
      })),
      approvals: approvals.map((row) => ({ at: row.at, state: row.state, count: Number(row.count) })),
      tools: await telemetry.metrics(from),
      errors: await telemetry.errors(from),
    });
  });
}
