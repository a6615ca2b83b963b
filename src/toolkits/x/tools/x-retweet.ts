import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xRetweet = defineXTool({
  name: 'x_retweet',
  title: 'Repost',
  summary: 'Reposts a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'retweet',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  input: z.object({ tweet_id: postId }),
  output: z.object({ retweeted: z.boolean(), tweet_id: z.string() }),
  describeApproval: ({ tweet_id }) => `Repost post ${tweet_id}?`,
  rollback: ({ tweet_id }) => ({ tool: 'x_unretweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'retweet', { tweet_id }, 'x_unretweet');
    return { retweeted: data.retweeted === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'retweet', tweet_id),
});
