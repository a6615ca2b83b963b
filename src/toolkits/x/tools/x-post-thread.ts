import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { POLICY_FAULTS, X_FAULTS } from '../lib/fault-codes.ts';
import { postRisks } from '../lib/post-risks.ts';
import { reconcileThread, sendThread, threadKey } from '../lib/post-thread.ts';
import { checkThreadMedia, threadMedia, threadTexts } from '../lib/thread-input.ts';
import { defineXTool } from '../services.ts';

export const xPostThread = defineXTool({
  name: 'x_post_thread',
  title: 'Post a thread',
  summary: 'Posts texts as one thread. After a partial failure the identical call posts the rest.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'post_thread',
  faults: [
    ...X_FAULTS,
    'tweet_too_long',
    'invalid_input',
    'validation_error',
    'thread_partial_failure',
    'scraper_mutation_blocked',
    ...POLICY_FAULTS,
  ],
  requires: { xClient: true, userAuth: true, scopes: ['tweet.read', 'tweet.write', 'users.read'] },
  deadlineMs: 300_000,
  input: z.object({ tweets: threadTexts, media_ids: threadMedia }),
  output: z.object({
    thread_tweet_ids: z.array(z.string()),
    tweet_count: z.number(),
    root_tweet_id: z.string(),
  }),
  describeApproval: ({ tweets }) =>
    `Post a thread of ${tweets.length}:\n${tweets.map((text, index) => `${index + 1}. ${text}`).join('\n')}`,
  risks: ({ tweets, media_ids }) => postRisks(tweets, media_ids?.flat().length),
  rollback: (_args, { root_tweet_id, thread_tweet_ids }) => ({
    tool: 'x_delete_tweet',
    args: { tweet_id: root_tweet_id },
    // From the end, so that what is left after a failure is still the beginning of a thread.
    first: thread_tweet_ids
      .filter((id) => id !== root_tweet_id)
      .reverse()
      .map((tweet_id) => ({ tweet_id })),
  }),
  async check({ tweets, media_ids = [] }, { safety, growth, now }) {
    checkThreadMedia(tweets, media_ids);
    // A thread that is half out was admitted when it began; only its form is checked again.
    const open = await growth.threads.unfinished(threadKey({ tweets, mediaIds: media_ids }), now());
    if (open) await safety.checkTexts({ kind: 'thread', texts: tweets });
    else await safety.check({ kind: 'thread', texts: tweets });
  },
  run: ({ tweets, media_ids = [] }, context) => sendThread(context, { tweets, mediaIds: media_ids }),
  reconcile: ({ tweets, media_ids = [] }, context) =>
    reconcileThread(context, { tweets, mediaIds: media_ids }),
});
