import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { pageToken, postId, postPage, postShape, readPost, readPosts, userId } from '../client/read.ts';
import { X_ERRORS } from '../errors.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool } from '../services.ts';

export const getTweetById = defineXTool({
  name: 'get_tweet_by_id',
  title: 'Get a post',
  summary: 'One post with its author and metrics.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['tweet_by_id']),
  input: z.object({
    tweet_id: postId,
  }),
  output: postShape,
  run: ({ tweet_id }, context) => readPost(context, { tweet_id }),
});

export const xSearchTweets = defineXTool({
  name: 'x_search_tweets',
  title: 'Search posts',
  summary: 'Posts of the last seven days that match an X search query.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['search_recent']),
  input: z.object({
    query: z.string().min(1).max(4096),
    max_results: z.number().int().min(10).max(100).default(10),
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'search_recent', args),
});

export const xGetUserMentions = defineXTool({
  name: 'x_get_user_mentions',
  title: 'Get mentions',
  summary: 'Posts that mention the signed-in user, newest first.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['user_mentions']),
  input: z.object({
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'user_mentions', args),
});

export const xGetUserTweets = defineXTool({
  name: 'x_get_user_tweets',
  title: 'Get posts of a user',
  summary: 'Recent posts of a user, newest first.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['user_tweets']),
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(5).max(100).default(10),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'user_tweets', args),
});

export const xGetHomeTimeline = defineXTool({
  name: 'x_get_home_timeline',
  title: 'Get the home timeline',
  summary: "The signed-in user's home timeline, newest first.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['home_timeline']),
  input: z.object({
    max_results: z.number().int().min(1).max(100).default(20),
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'home_timeline', args),
});

export const xGetBookmarks = defineXTool({
  name: 'x_get_bookmarks',
  title: 'Get bookmarks',
  summary: "The signed-in user's bookmarks.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  errors: X_ERRORS,
  requires: requirementsFor(['bookmarks']),
  input: z.object({
    max_results: z.number().int().min(1).max(100).default(10),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'bookmarks', args),
});

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
  errors: X_ERRORS,
  requires: requirementsFor(['liked_tweets']),
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
