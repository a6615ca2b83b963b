import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { sinceHours, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

export const getActionLog = defineXTool({
  name: 'get_action_log',
  title: 'Get action log',
  summary: 'Recent actions of the growth loops and posts made, newest first; the last day unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(500).default(50),
    since_hours: sinceHours,
    action_type: z.string().optional(),
  }),
  output: z.object({
    count: z.number(),
    actions: z.array(
      z.object({
        id: z.number(),
        at: z.string(),
        action_type: z.string(),
        status: z.string(),
        message: z.string(),
        detail: z.unknown(),
      }),
    ),
  }),
  async run({ limit, since_hours, action_type }, { services, now }) {
    const rows = await services.growth.journal.actions(sinceOf(now(), { since_hours }), limit, action_type);
    const actions = rows.map(({ realm: _realm, detail, ...row }) => ({
      ...row,
      detail: JSON.parse(detail) as unknown,
    }));
    return { count: actions.length, actions };
  },
});
