import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { previewPost, previewShape } from '../lib/post-preview.ts';
import { checkThreadMedia, threadMedia, threadTexts } from '../lib/thread-input.ts';
import { defineXTool } from '../services.ts';

export const xPostThreadDryRun = defineXTool({
  name: 'x_post_thread_dry_run',
  title: 'Try a thread',
  summary: 'Checks a thread as x_post_thread would and shows each part; posts nothing.',
  effect: 'read',
  reach: 'local',
  category: 'write',
  profiles: CHANGE_PROFILES,
  faults: ['tweet_too_long', 'invalid_input', 'validation_error', 'policy_error'],
  requires: { db: true },
  input: z.object({ tweets: threadTexts, media_ids: threadMedia }),
  output: previewShape,
  async check({ tweets, media_ids = [] }, { safety }) {
    checkThreadMedia(tweets, media_ids);
    await safety.check({ kind: 'thread', texts: tweets });
  },
  run: ({ tweets, media_ids }, context) =>
    previewPost(
      context,
      { tool: 'x_post_thread', args: { tweets, ...(media_ids ? { media_ids } : {}) } },
      tweets.map((text, index) => ({ text, mediaIds: media_ids?.[index] })),
    ),
});
