import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { RateLimitRow } from '../client/api.ts';
import { defineXTool, type XServices } from '../services.ts';

const limit = z.object({
  action: z.string(),
  used: z.number(),
  max: z.number(),
  remaining: z.number(),
  period_seconds: z.number(),
  period_start: z.string(),
  resets_at: z.string(),
});

export const getRateLimits = defineXTool({
  name: 'get_rate_limits',
  title: 'Get rate limits',
  summary: "Use of the policy's limits, the daily safety limits and X's own limits per endpoint.",
  effect: 'read',
  reach: 'local',
  category: 'policy',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({
    rate_limits: z.array(limit),
    x_endpoints: z.array(
      z.object({ endpoint: z.string(), limit: z.number(), remaining: z.number(), resets_at: z.string() }),
    ),
  }),
  async run(_args, { services }) {
    const [policy, safety, endpoints] = await Promise.all([
      services.kernel.policy.limits(),
      services.safety.usage(),
      endpointLimits(services),
    ]);
    const rows = [
      ...policy.map(({ key, resetAt, ...usage }) => ({ ...usage, action: key, resetsAt: resetAt })),
      ...safety,
    ];
    return {
      rate_limits: rows.map((usage) => ({
        action: usage.action,
        used: usage.used,
        max: usage.max,
        remaining: Math.max(0, usage.max - usage.used),
        period_seconds: usage.periodSeconds,
        period_start: usage.periodStart.toISOString(),
        resets_at: usage.resetsAt.toISOString(),
      })),
      x_endpoints: endpoints.map((row) => ({
        endpoint: row.endpoint,
        limit: row.limit,
        remaining: row.remaining,
        resets_at: row.resetAt.toISOString(),
      })),
    };
  },
});

/** Without a usable provider there are none to show, and the local limits still stand. */
async function endpointLimits(services: XServices): Promise<readonly RateLimitRow[]> {
  try {
    const x = await services.x();
    return await x.rateLimits();
  } catch (error) {
    services.log.warn('X rate limits are not available', { error: String(error) });
    return [];
  }
}
