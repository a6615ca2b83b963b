import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

export const getFollowerTrend = defineXTool({
  name: 'get_follower_trend',
  title: 'Get follower trend',
  summary: 'Follower counts over time, oldest first; seven days unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({
    days,
    limit: z.number().int().min(1).max(1000).optional().describe('Latest snapshots only.'),
  }),
  output: z.object({
    count: z.number(),
    change: z.number().nullable(),
    snapshots: z.array(
      z.object({ at: z.string(), followers: z.number(), following: z.number(), tweets: z.number() }),
    ),
  }),
  async run({ days: span = 7, limit }, { services, now }) {
    const trend = await services.growth.journal.followerTrend(sinceOf(now(), { days: span }));
    const shown = limit === undefined ? trend : trend.slice(-limit);
    const [first, last] = [shown[0], shown.at(-1)];
    return {
      count: shown.length,
      change: first && last ? last.followers - first.followers : null,
      snapshots: shown.map(({ at, followers, following, posts }) => ({
        at: at.toISOString(),
        followers,
        following,
        tweets: posts,
      })),
    };
  },
});
