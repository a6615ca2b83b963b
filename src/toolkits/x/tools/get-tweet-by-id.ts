import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { postId, readPost } from '../lib/read-x.ts';
import { postShape } from '../lib/x-replies.ts';
import { defineXTool } from '../services.ts';

export const getTweetById = defineXTool({
  name: 'get_tweet_by_id',
  title: 'Get a post',
  summary: 'One post with its author and metrics.',
  effect: 'read',
  reach: 'network',
  category: 'read',
  profiles: READ_PROFILES,
  faults: X_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'users.read'] },
  input: z.object({
    tweet_id: postId,
  }),
  output: postShape,
  run: ({ tweet_id }, context) => readPost(context, { tweet_id }),
});
