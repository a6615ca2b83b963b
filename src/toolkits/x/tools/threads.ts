import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { POLICY_ERRORS, X_ERRORS } from '../errors.ts';
import { previewPost, previewShape } from '../posting/text.ts';
import { reconcileThread, sendThread, threadKey } from '../posting/thread.ts';
import { accountOf, PUBLIC, threadBlock } from '../present.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool } from '../services.ts';
import { postRisks, postText } from './posts.ts';

const threadTexts = z.array(postText).min(2).max(100);

const partMedia = z.array(z.string().regex(/^\d{1,19}$/, 'must be a numeric id')).max(4);

/** A plain list is what x_post_tweet takes; a thread shows its pictures in the first part. */
const threadMedia = z
  .union([z.array(partMedia), partMedia.min(1).transform((first) => [first])], {
    error:
      'must be one list per part, such as [["1"], [], ["2"]], or a list of up to 4 ids for the first part',
  })
  .optional()
  .describe('Media ids for each part, in order, [] for none; a plain list is for the first part.');

function checkThreadMedia(tweets: readonly string[], media: readonly (readonly string[])[]): void {
  if (media.length <= tweets.length) return;
  throw new ToolError(
    'validation_error',
    `media_ids has ${media.length} entries for ${tweets.length} parts.`,
    {
      detail: { field: 'media_ids' },
    },
  );
}

export const xPostThread = defineXTool({
  name: 'x_post_thread',
  title: 'Post a thread',
  summary: 'Posts texts as one thread. After a partial failure the identical call posts the rest.',
  effect: 'change',
  reach: 'network',
  category: 'write',
  profiles: CHANGE_PROFILES,
  policyName: 'post_thread',
  errors: [
    ...X_ERRORS,
    'tweet_too_long',
    'invalid_input',
    'validation_error',
    'thread_partial_failure',
    'scraper_mutation_blocked',
    ...POLICY_ERRORS,
  ],
  requires: requirementsFor(['create_tweet']),
  deadlineMs: 300_000,
  input: z.object({ tweets: threadTexts, media_ids: threadMedia }),
  output: z.object({
    thread_tweet_ids: z.array(z.string()),
    tweet_count: z.number(),
    root_tweet_id: z.string(),
  }),
  async present({ tweets, media_ids = [] }, context) {
    const { author, handle, target } = await accountOf(context);
    return {
      ...PUBLIC,
      title: `Post a thread of ${tweets.length} to ${handle}`,
      done: `Posted a thread of ${tweets.length} to ${handle}`,
      act: 'post',
      kind: 'post',
      gist: tweets[0] ?? '',
      target,
      body: [await threadBlock(author, tweets, { media: media_ids.flat().length })],
      covers: ['tweets', 'media_ids'],
    };
  },
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
  limits: (_args, { safety }) => safety.presentLimits({ kind: 'thread' }),
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

export const xPostThreadDryRun = defineXTool({
  name: 'x_post_thread_dry_run',
  title: 'Try a thread',
  summary: 'Checks a thread as x_post_thread would and shows each part; posts nothing.',
  effect: 'read',
  reach: 'local',
  category: 'write',
  profiles: CHANGE_PROFILES,
  errors: ['tweet_too_long', 'invalid_input', 'validation_error', 'policy_error'],
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
