import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xUnbookmarkTweet = defineXTool({
  name: 'x_unbookmark_tweet',
  title: 'Remove a bookmark',
  summary: 'Removes a bookmark.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unbookmark_tweet',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['bookmark.read', 'bookmark.write', 'users.read'] },
  input: z.object({ tweet_id: postId }),
  output: z.object({ bookmarked: z.boolean(), tweet_id: z.string() }),
  describeApproval: ({ tweet_id }) => `Remove the bookmark of post ${tweet_id}?`,
  rollback: ({ tweet_id }) => ({ tool: 'x_bookmark_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'unbookmark', { tweet_id }, 'x_bookmark_tweet');
    return { bookmarked: data.bookmarked === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'unbookmark', tweet_id),
});
