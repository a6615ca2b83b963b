import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceHours, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

export const getMcpErrorBreakdown = defineXTool({
  name: 'get_mcp_error_breakdown',
  title: 'Get error breakdown',
  summary: 'How often each tool failed with which code; the last day unless told.',
  effect: 'read',
  reach: 'local',
  category: 'telemetry',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ days, since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    total_errors: z.number(),
    errors: z.array(
      z.object({ tool_name: z.string(), error_code: z.string(), count: z.number(), last_at: z.string() }),
    ),
  }),
  async run(args, { services, now }) {
    const since = sinceOf(now(), args);
    const rows = await services.kernel.telemetry.errors(since, 'x');
    return {
      since: since.toISOString(),
      total_errors: rows.reduce((sum, row) => sum + row.count, 0),
      errors: rows.map((row) => ({
        tool_name: row.tool,
        error_code: row.code,
        count: row.count,
        last_at: row.lastAt.toISOString(),
      })),
    };
  },
});
