import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { POLICY_FAULTS, X_FAULTS } from '../lib/fault-codes.ts';
import { postId } from '../lib/read-x.ts';
import { dataOf } from '../lib/x-replies.ts';
import { defineXTool, reachX } from '../services.ts';

export const xDeleteTweet = defineXTool({
  name: 'x_delete_tweet',
  title: 'Delete a post',
  summary: 'Deletes one of your own posts, for good.',
  effect: 'destroy',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'delete_tweet',
  faults: [...X_FAULTS, 'tweet_too_long', 'scraper_mutation_blocked', ...POLICY_FAULTS],
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  input: z.object({ tweet_id: postId }),
  output: z.object({ deleted: z.boolean(), tweet_id: z.string() }),
  describeApproval: ({ tweet_id }) => `Delete post ${tweet_id} for good?`,
  risks: () => ['cannot be undone'],
  async run({ tweet_id }, context) {
    const x = await reachX(context);
    const { signal, callId } = context;
    const reply = await x.request('delete_tweet', { tweet_id }, { signal, callId });
    context.note({ rollback: { reversible: false, note: 'A deleted post cannot be brought back.' } });
    return { deleted: dataOf(reply).deleted === true, tweet_id };
  },
  async reconcile({ tweet_id }, { services, signal, callId }) {
    const x = await services.x();
    try {
      await x.request('tweet_by_id', { tweet_id }, { signal, callId });
      return { settled: 'not_done' };
    } catch (error) {
      if (!(error instanceof ToolFault) || error.code !== 'not_found') throw error;
      return { settled: 'done', data: { deleted: true, tweet_id } };
    }
  },
});
