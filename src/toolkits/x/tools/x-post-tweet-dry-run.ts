import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { previewPost, previewShape } from '../lib/post-preview.ts';
import { mediaIds, postText } from '../lib/posting-input.ts';
import { defineXTool } from '../services.ts';

export const xPostTweetDryRun = defineXTool({
  name: 'x_post_tweet_dry_run',
  title: 'Try a post',
  summary: 'Checks a post as x_post_tweet would and shows what would be sent; posts nothing.',
  effect: 'read',
  reach: 'local',
  category: 'write',
  profiles: CHANGE_PROFILES,
  faults: ['tweet_too_long', 'invalid_input', 'validation_error', 'policy_error'],
  requires: { db: true },
  input: z.object({ text: postText, media_ids: mediaIds.optional() }),
  output: previewShape,
  check: ({ text }, { safety }) => safety.check({ kind: 'tweet', texts: [text] }),
  run: ({ text, media_ids }, context) =>
    previewPost(context, { tool: 'x_post_tweet', args: { text, ...(media_ids ? { media_ids } : {}) } }, [
      { text, mediaIds: media_ids },
    ]),
});
