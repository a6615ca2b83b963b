import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postId, postPage, readPosts } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xSearchTweets = defineXTool({
  name: 'x_search_tweets',
  title: 'Search posts',
  summary: 'Posts of the last seven days that match an X search query.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    query: z.string().min(1).max(4096),
    max_results: z.number().int().min(10).max(100).default(10),
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'search_recent', args),
});
