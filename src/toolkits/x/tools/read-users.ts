import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/tool.ts';
import { pageToken, postId, readUser, readUsers, userId, userPage, userShape } from '../client/read.ts';
import { X_ERRORS } from '../errors.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool } from '../services.ts';

export const xGetMe = defineXTool({
  name: 'x_get_me',
  title: 'Get own profile',
  summary: "The signed-in user's own profile.",
  effect: 'read',
  reach: 'network',
  category: 'read',
  // The document offers it in this one profile.
  profiles: ['api-readonly'],
  errors: X_ERRORS,
  requires: requirementsFor(['me']),
  input: z.object({}),
  output: userShape,
  run: (_args, context) => readUser(context, 'me', {}),
});

export const xGetUserById = defineXTool({
  name: 'x_get_user_by_id',
  title: 'Get a user by id',
  summary: 'One user by numeric id.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['user_by_id']),
  input: z.object({
    user_id: userId,
  }),
  output: userShape,
  run: ({ user_id }, context) => readUser(context, 'user_by_id', { user_id }),
});

export const xGetUserByUsername = defineXTool({
  name: 'x_get_user_by_username',
  title: 'Get a user by name',
  summary: 'One user by @username.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  errors: X_ERRORS,
  requires: requirementsFor(['user_by_username']),
  input: z.object({
    username: z.string().regex(/^@?\w{1,15}$/, 'must be an X username'),
  }),
  output: userShape,
  run: ({ username }, context) =>
    readUser(context, 'user_by_username', { username: username.replace('@', '') }),
});

export const xGetUsersByIds = defineXTool({
  name: 'x_get_users_by_ids',
  title: 'Get users by ids',
  summary: 'Up to 100 users by ID.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  errors: X_ERRORS,
  requires: requirementsFor(['users_by_ids']),
  input: z.object({
    user_ids: z.array(userId).min(1).max(100),
  }),
  output: userPage,
  run: ({ user_ids }, context) => readUsers(context, 'users_by_ids', { user_ids }),
});

export const xGetFollowers = defineXTool({
  name: 'x_get_followers',
  title: 'Get followers',
  summary: 'Followers of a user.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  errors: X_ERRORS,
  requires: requirementsFor(['followers']),
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(1).max(1000).default(100),
    pagination_token: pageToken,
  }),
  output: userPage,
  run: (args, context) => readUsers(context, 'followers', args),
});

export const xGetFollowing = defineXTool({
  name: 'x_get_following',
  title: 'Get followed accounts',
  summary: 'Accounts a user follows.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  errors: X_ERRORS,
  requires: requirementsFor(['following']),
  input: z.object({
    user_id: userId,
    max_results: z.number().int().min(1).max(1000).default(100),
    pagination_token: pageToken,
  }),
  output: userPage,
  run: (args, context) => readUsers(context, 'following', args),
});

export const xGetTweetLikingUsers = defineXTool({
  name: 'x_get_tweet_liking_users',
  title: 'Get who liked a post',
  summary: 'Users who liked a post.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: ['api-readonly', 'write', 'admin'],
  errors: X_ERRORS,
  requires: requirementsFor(['liking_users']),
  input: z.object({
    tweet_id: postId,
    max_results: z.number().int().min(1).max(100).default(100),
    pagination_token: pageToken,
  }),
  output: userPage,
  run: (args, context) => readUsers(context, 'liking_users', args),
});
