import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { ARCHETYPE_NAMES } from '../content/styles.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { postById } from '../lib/found-post.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

const draft = z.object({
  tweet_id: z.string(),
  author_username: z.string(),
  text: z.string(),
  length: z.number(),
  archetype: z.enum(ARCHETYPE_NAMES),
  confidence: z.enum(['high', 'medium', 'low']),
});

export const draftRepliesForCandidates = defineXTool({
  name: 'draft_replies_for_candidates',
  title: 'Draft replies for posts',
  summary: 'Drafts one reply per post with the language model; hand the drafts to propose_and_queue_replies.',
  effect: 'read',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  faults: ['invalid_input', 'llm_not_configured', 'llm_error', 'db_error', ...X_FAULTS],
  requires: { db: true, llm: true },
  deadlineMs: 600_000,
  input: z.object({
    tweet_ids: z.array(postId).min(1).max(20),
    archetype: z.enum(ARCHETYPE_NAMES).optional(),
    mention_product: z.boolean().default(false),
  }),
  output: z.object({
    drafts: z.array(draft),
    failed: z.array(z.object({ tweet_id: z.string(), code: z.string(), message: z.string() })),
  }),
  async run({ tweet_ids, archetype, mention_product }, context) {
    const { services, signal, progress } = context;
    const drafts: z.input<typeof draft>[] = [];
    const failures: { tweet_id: string; fault: ToolFault }[] = [];
    for (const [index, tweet_id] of [...new Set(tweet_ids)].entries()) {
      progress(`Drafting a reply to ${tweet_id}`, index, tweet_ids.length);
      try {
        const post = await postById(context, tweet_id);
        const wish = {
          post: { author: post.authorUsername, text: post.text },
          archetype,
          mentionProduct: mention_product,
        };
        const written = await services.writer.reply(wish, signal);
        drafts.push({
          tweet_id,
          author_username: post.authorUsername,
          ...written,
          confidence: confidenceOf(written.length),
        });
      } catch (error) {
        // One post that is gone must not cost the drafts for the others; a missing model costs them all.
        if (!(error instanceof ToolFault) || error.code === 'llm_not_configured') throw error;
        failures.push({ tweet_id, fault: error });
      }
    }
    const [first] = failures;
    if (first && drafts.length === 0) throw first.fault;
    return {
      drafts,
      failed: failures.map(({ tweet_id, fault }) => ({ tweet_id, code: fault.code, message: fault.message })),
    };
  },
});

/** Short replies read as written by a person. */
const confidenceOf = (length: number) => (length < 200 ? 'high' : length < 260 ? 'medium' : 'low');
