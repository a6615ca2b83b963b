import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { POST_FAULTS } from '../lib/fault-codes.ts';
import { postRisks } from '../lib/post-risks.ts';
import { reconcilePost, sendPost } from '../lib/post-x.ts';
import { mediaIds, postedShape, postText } from '../lib/posting-input.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const xQuoteTweet = defineXTool({
  name: 'x_quote_tweet',
  title: 'Quote a post',
  summary: 'Posts a text that quotes another post.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'quote_tweet',
  faults: POST_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  input: z.object({ text: postText, quoted_tweet_id: postId, media_ids: mediaIds.optional() }),
  output: postedShape.extend({ quoted_tweet_id: z.string() }),
  describeApproval: ({ text, quoted_tweet_id }) => `Quote post ${quoted_tweet_id}: ${text}`,
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  check: ({ text }, { safety }) => safety.check({ kind: 'quote', texts: [text] }),
  async run({ text, quoted_tweet_id, media_ids }, context) {
    const wish = { kind: 'quote', text, quoted: quoted_tweet_id, mediaIds: media_ids } as const;
    return { ...(await sendPost(context, wish)), quoted_tweet_id };
  },
  reconcile: ({ text, quoted_tweet_id }, context) =>
    reconcilePost(context, { kind: 'quote', text, quoted: quoted_tweet_id }),
});
