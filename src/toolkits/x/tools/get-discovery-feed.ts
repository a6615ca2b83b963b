import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { feedShape, toFeed } from '../lib/feed.ts';
import { defineXTool } from '../services.ts';

export const getDiscoveryFeed = defineXTool({
  name: 'get_discovery_feed',
  title: 'Get discovery feed',
  summary: 'Posts that discovery found, best score first.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(200).default(10),
    min_score: z.number().min(0).max(100).default(50),
  }),
  output: feedShape,
  async run({ limit, min_score }, { services }) {
    return toFeed(await services.growth.discovered.list({ minScore: min_score, limit }));
  },
});
