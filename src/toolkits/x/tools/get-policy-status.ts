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
    const hourly = limits.find((l) => l.dimension === 'global' && l.periodSeconds === HOUR_SECONDS);
    const max = status.max_mutations_per_hour;
    return {
      ...status,
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
