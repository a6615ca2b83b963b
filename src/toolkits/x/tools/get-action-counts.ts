import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { sinceHours, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

const PERIOD_HOURS = { hour: 1, day: 24, week: 168, month: 720 } as const;

export const getActionCounts = defineXTool({
  name: 'get_action_counts',
  title: 'Count actions',
  summary: 'How many actions of each type; the last day unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ period: z.enum(['hour', 'day', 'week', 'month']).optional(), since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    total: z.number(),
    counts: z.array(z.object({ action_type: z.string(), status: z.string(), count: z.number() })),
  }),
  async run({ period = 'day', since_hours }, { services, now }) {
    const since = sinceOf(now(), { since_hours: since_hours ?? PERIOD_HOURS[period] });
    const counts = [...(await services.growth.journal.actionCounts(since))];
    return { since: since.toISOString(), total: counts.reduce((sum, row) => sum + row.count, 0), counts };
  },
});
