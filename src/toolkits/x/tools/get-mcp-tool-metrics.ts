import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceHours, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

export const getMcpToolMetrics = defineXTool({
  name: 'get_mcp_tool_metrics',
  title: 'Get tool metrics',
  summary: 'Calls, success rate and latency per tool; the last day unless told.',
  effect: 'read',
  reach: 'local',
  category: 'telemetry',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ days, since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    metrics: z.array(
      z.object({
        tool_name: z.string(),
        category: z.string(),
        total_calls: z.number(),
        success_count: z.number(),
        failure_count: z.number(),
        success_rate: z.number(),
        avg_latency_ms: z.number(),
        p50_latency_ms: z.number(),
        p95_latency_ms: z.number(),
        min_latency_ms: z.number(),
        max_latency_ms: z.number(),
      }),
    ),
  }),
  async run(args, { services, now }) {
    const since = sinceOf(now(), args);
    const rows = await services.kernel.telemetry.metrics(since, 'x');
    return {
      since: since.toISOString(),
      metrics: rows.map((row) => ({
        tool_name: row.tool,
        category: row.category,
        total_calls: row.totalCalls,
        success_count: row.successCount,
        failure_count: row.failureCount,
        success_rate: row.totalCalls === 0 ? 0 : row.successCount / row.totalCalls,
        avg_latency_ms: rounded(row.avgMs),
        p50_latency_ms: rounded(row.p50Ms),
        p95_latency_ms: rounded(row.p95Ms),
        min_latency_ms: rounded(row.minMs),
        max_latency_ms: rounded(row.maxMs),
      })),
    };
  },
});

/** Many reads take less than a millisecond, so that tenths say something; more digits do not. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
