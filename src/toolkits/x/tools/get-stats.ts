import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceOf } from '../lib/since.ts';
import { statsOf, statsShape } from '../lib/stats.ts';
import { defineXTool } from '../services.ts';

export const getStats = defineXTool({
  name: 'get_stats',
  title: 'Get growth statistics',
  summary: 'Posts, replies, followers and average performance; seven days unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ days }),
  output: statsShape,
  run: ({ days: span = 7 }, context) => statsOf(context, sinceOf(context.now(), { days: span }), span),
});
