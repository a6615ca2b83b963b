import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineXTool } from '../services.ts';

const HOUR_SECONDS = 3600;

export const getPolicyStatus = defineXTool({
  name: 'get_policy_status',
  title: 'Get policy status',
  summary: 'Policy for changes and how much of its hourly limit is used.',
  effect: 'read',
  reach: 'local',
  category: 'policy',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.looseObject({
    mode: z.string(),
    rate_limit: z.object({
      used: z.number(),
      max: z.number(),
      period_seconds: z.number(),
      period_start: z.string(),
    }),
  }),
  async run(_args, { services, now }) {
    const { policy } = services.kernel;
    const [status, limits] = await Promise.all([policy.status(), policy.limits()]);
    // The tightest hourly limit that counts changes on X: the configured one, or the template's.
    const [hourly] = limits
      .filter(
        (l) =>
          l.periodSeconds === HOUR_SECONDS &&
          (l.dimension === 'global' || (l.dimension === 'toolkit' && l.match === 'x')),
      )
      .sort((a, b) => a.max - b.max);
    const max = status.max_mutations_per_hour;
    return {
      ...status,
      max_mutations_per_hour: hourly?.max ?? (typeof max === 'number' ? max : null),
      mode: services.stance().mode,
      approval_mode: services.stance().approvalMode,
      rate_limit: {
        used: hourly?.used ?? 0,
        max: hourly?.max ?? (typeof max === 'number' ? max : 0),
        period_seconds: HOUR_SECONDS,
        period_start: (hourly?.periodStart ?? now()).toISOString(),
      },
    };
  },
});
