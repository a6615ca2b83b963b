import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { ARCHETYPE_NAMES } from '../content/styles.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { postById } from '../lib/found-post.ts';
import { postId } from '../lib/read-x.ts';
import { defineXTool } from '../services.ts';

export const generateReply = defineXTool({
  name: 'generate_reply',
  title: 'Draft a reply',
  summary: 'Drafts a reply to a post with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  faults: ['llm_not_configured', 'llm_error', ...X_FAULTS],
  requires: { db: true, llm: true },
  deadlineMs: 180_000,
  input: z.object({
    tweet_id: postId,
    context: z.string().max(2000).optional().describe('What the reply should take into account.'),
    tweet_text: z.string().max(25_000).optional().describe('Saves reading the post.'),
    tweet_author: z.string().max(50).optional().describe('With tweet_text.'),
    mention_product: z.boolean().default(false),
  }),
  output: z.object({
    tweet_id: z.string(),
    author: z.string(),
    content: z.string(),
    length: z.number(),
    archetype: z.enum(ARCHETYPE_NAMES),
  }),
  async run({ tweet_id, context: hint, tweet_text, tweet_author, mention_product }, context) {
    const post =
      tweet_text === undefined
        ? await postById(context, tweet_id)
        : { text: tweet_text, authorUsername: tweet_author ?? '' };
    const written = await context.services.writer.reply(
      {
        post: { author: post.authorUsername, text: post.text },
        context: hint,
        mentionProduct: mention_product,
      },
      context.signal,
    );
    const { text: content, length, archetype } = written;
    return { tweet_id, author: post.authorUsername, content, length, archetype };
  },
});
