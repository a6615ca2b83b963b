import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postPage, readPosts, userId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetUserTweets = defineXTool({
  name: 'x_get_user_tweets',
  title: 'Get posts of a user',
  summary: 'Recent posts of a user, newest first.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(5).max(100).default(10),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'user_tweets', args),
});
