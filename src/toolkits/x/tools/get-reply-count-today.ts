import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineXTool } from '../services.ts';

export const getReplyCountToday = defineXTool({
  name: 'get_reply_count_today',
  title: "Count today's replies",
  summary: "Today's replies and how many are left.",
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({
    count: z.number(),
    max_per_day: z.number(),
    remaining: z.number(),
    resets_at: z.string(),
  }),
  async run(_args, { services, now }) {
    const limits = await services.safety.usage();
    const reply = limits.find(({ action }) => action === 'reply');
    const max = services.settings.limits.max_replies_per_day;
    const count = reply?.used ?? 0;
    return {
      count,
      max_per_day: max,
      remaining: Math.max(0, max - count),
      resets_at: (reply?.resetsAt ?? now()).toISOString(),
    };
  },
});
