import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { engage, reconcileEngagement } from '../lib/engage-x.ts';
import { ENGAGE_FAULTS } from '../lib/fault-codes.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xBookmarkTweet = defineXTool({
  name: 'x_bookmark_tweet',
  title: 'Bookmark a post',
  summary: 'Bookmarks a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'bookmark_tweet',
  faults: ENGAGE_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['bookmark.read', 'bookmark.write', 'users.read'] },
  input: z.object({ tweet_id: postId }),
  output: z.object({ bookmarked: z.boolean(), tweet_id: z.string() }),
  describeApproval: ({ tweet_id }) => `Bookmark post ${tweet_id}?`,
  rollback: ({ tweet_id }) => ({ tool: 'x_unbookmark_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'bookmark', { tweet_id }, 'x_unbookmark_tweet');
    return { bookmarked: data.bookmarked === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'bookmark', tweet_id),
});
