import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postId, readUsers, userPage } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetTweetLikingUsers = defineXTool({
  name: 'x_get_tweet_liking_users',
  title: 'Get who liked a post',
  summary: 'Users who liked a post.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    tweet_id: postId,
    max_results: z.number().int().min(1).max(100).default(100),
    pagination_token: pageToken,
  }),
  output: userPage,
  run: (args, context) => readUsers(context, 'liking_users', args),
});
