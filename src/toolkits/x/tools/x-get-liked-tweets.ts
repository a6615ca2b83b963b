import { z } from 'zod';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postPage, readPosts, userId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

/** X sends no fewer on this endpoint. */
const SMALLEST_PAGE = 5;

export const xGetLikedTweets = defineXTool({
  name: 'x_get_liked_tweets',
  title: 'Get liked posts',
  summary: 'Posts a user liked.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['like.read', 'users.read'] },
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(1).max(100).default(10),
    pagination_token: pageToken,
  }),
  output: postPage,
  async run({ max_results, ...args }, context) {
    const page = await readPosts(context, 'liked_tweets', {
      ...args,
      max_results: Math.max(max_results, SMALLEST_PAGE),
    });
    return { ...page, tweets: page.tweets.slice(0, max_results) };
  },
});
