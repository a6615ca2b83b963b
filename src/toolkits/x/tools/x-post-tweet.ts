import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { POST_FAULTS } from '../lib/fault-codes.ts';
import { postRisks } from '../lib/post-risks.ts';
import { reconcilePost, sendPost } from '../lib/post-x.ts';
import { mediaIds, postedShape, postText } from '../lib/posting-input.ts';
import { defineXTool } from '../services.ts';

export const xPostTweet = defineXTool({
  name: 'x_post_tweet',
  title: 'Post',
  summary: 'Posts a text of up to 280 weighted characters, with media if given.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'post_tweet',
  faults: POST_FAULTS,
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  input: z.object({ text: postText, media_ids: mediaIds.optional() }),
  output: postedShape,
  describeApproval: ({ text }) => `Post: ${text}`,
  risks: ({ text, media_ids }) => postRisks([text], media_ids?.length),
  rollback: (_args, { id }) => ({ tool: 'x_delete_tweet', args: { tweet_id: id } }),
  check: ({ text }, { safety }) => safety.check({ kind: 'tweet', texts: [text] }),
  run: ({ text, media_ids }, context) => sendPost(context, { kind: 'tweet', text, mediaIds: media_ids }),
  reconcile: ({ text }, context) => reconcilePost(context, { kind: 'tweet', text }),
});
