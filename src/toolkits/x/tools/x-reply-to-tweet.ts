import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { POST_FAULTS } from '../lib/fault-codes.ts';
import { postRisks } from '../lib/post-risks.ts';
import { reconcilePost, sendPost } from '../lib/post-x.ts';
import { mediaIds, postedShape, postText } from '../lib/posting-input.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xReplyToTweet = defineXTool({
  name: 'x_reply_to_tweet',
  title: 'Reply to a post',
  summary: 'Replies to a post.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'reply_to_tweet',
  faults: POST_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  input: z.object({ text: postText, in_reply_to_id: postId, media_ids: mediaIds.optional() }),
  output: postedShape.extend({ in_reply_to_id: z.string() }),
  describeApproval: ({ text, in_reply_to_id }) => `Reply to post ${in_reply_to_id}: ${text}`,
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  async check({ text, in_reply_to_id }, { safety, growth }) {
    const known = await growth.discovered.get(in_reply_to_id);
    await safety.check({ kind: 'reply', texts: [text], targetAuthorId: known?.author_id });
  },
  async run({ text, in_reply_to_id, media_ids }, context) {
    const wish = { kind: 'reply', text, inReplyTo: in_reply_to_id, mediaIds: media_ids } as const;
    return { ...(await sendPost(context, wish)), in_reply_to_id };
  },
  reconcile: ({ text, in_reply_to_id }, context) =>
    reconcilePost(context, { kind: 'reply', text, inReplyTo: in_reply_to_id }),
});
