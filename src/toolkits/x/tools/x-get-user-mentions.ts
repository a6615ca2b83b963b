import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { pageToken, postId, postPage, readPosts } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xGetUserMentions = defineXTool({
  name: 'x_get_user_mentions',
  title: 'Get mentions',
  summary: 'Posts that mention the signed-in user, newest first.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    since_id: postId.optional(),
    pagination_token: pageToken,
  }),
  output: postPage,
  run: (args, context) => readPosts(context, 'user_mentions', args),
});
