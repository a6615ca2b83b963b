import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { feedShape, toFeed } from '../lib/feed.ts';
import { defineXTool } from '../services.ts';

export const listUnrepliedTweets = defineXTool({
  name: 'list_unreplied_tweets',
  title: 'List unanswered posts',
  summary: 'Posts that discovery found and nobody answered from here, best score first.',
  effect: 'read',
  reach: 'local',
  category: 'discovery',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(200).default(50),
    min_score: z.number().min(0).max(100).default(0),
  }),
  output: feedShape,
  async run({ limit, min_score }, { services }) {
    return toFeed(await services.growth.discovered.list({ minScore: min_score, limit, states: ['new'] }));
  },
});
