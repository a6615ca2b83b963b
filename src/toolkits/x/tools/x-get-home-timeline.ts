import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postId, postPage, readPosts } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetHomeTimeline = defineXTool({
  name: 'x_get_home_timeline',
  title: 'Get the home timeline',
  summary: "The signed-in user's home timeline, newest first.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    max_results: z.number().int().min(1).max(100).default(20),
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'home_timeline', args),
});
