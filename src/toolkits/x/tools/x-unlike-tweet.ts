import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xUnlikeTweet = defineXTool({
  name: 'x_unlike_tweet',
  title: 'Unlike a post',
  summary: 'Takes a like back.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unlike_tweet',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['like.read', 'like.write', 'users.read'] },
  input: z.object({ tweet_id: postId }),
  output: z.object({ liked: z.boolean(), tweet_id: z.string() }),
  describeApproval: ({ tweet_id }) => `Take back the like of post ${tweet_id}?`,
  rollback: ({ tweet_id }) => ({ tool: 'x_like_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'unlike', { tweet_id }, 'x_like_tweet');
    return { liked: data.liked === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'unlike', tweet_id),
});
