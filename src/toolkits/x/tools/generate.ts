import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { postId } from '../client/read.ts';
import { ARCHETYPE_NAMES, FORMAT_NAMES, STRUCTURE_NAMES, STRUCTURES } from '../content/prompts.ts';
import { X_ERRORS } from '../errors.ts';
import { postById } from '../growth/discovered.ts';
import { topicsOf } from '../growth/scoring.ts';
import { suggestTopicIdeas } from '../growth/stats.ts';
import { defineXTool, type XSettings } from '../services.ts';
import { topicIdea } from '../views.ts';

/** The topic a caller left open: the first configured one. */
function topicOr(given: string | undefined, business: XSettings['business']): string {
  const topic = given ?? topicsOf(business)[0];
  if (topic !== undefined) return topic;
  throw new ToolError('validation_error', 'No topic is given and business.industry_topics is empty.', {
    detail: { field: 'topic' },
  });
}

export const generateTweet = defineXTool({
  name: 'generate_tweet',
  title: 'Draft a post',
  summary: 'Drafts an original post with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  errors: ['llm_not_configured', 'llm_error', 'validation_error'],
  requires: { db: true, llm: true },
  deadlineMs: 180_000,
  input: z.object({
    topic: z.string().min(1).max(500).optional().describe('Default: first configured topic.'),
    style: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(`${FORMAT_NAMES.join(', ')}, or your own words.`),
  }),
  output: z.object({
    content: z.string(),
    length: z.number(),
    topic: z.string(),
    style: z.string().nullable(),
  }),
  async run({ topic, style }, { services, signal }) {
    const about = topicOr(topic, services.settings.business);
    const { text, length } = await services.writer.tweet({ topic: about, style }, signal);
    return { content: text, length, topic: about, style: style ?? null };
  },
});

export const generateReply = defineXTool({
  name: 'generate_reply',
  title: 'Draft a reply',
  summary: 'Drafts a reply to a post with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  errors: ['llm_not_configured', 'llm_error', ...X_ERRORS],
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

const DEFAULT_THREAD = 6;

export const generateThread = defineXTool({
  name: 'generate_thread',
  title: 'Draft a thread',
  summary: 'Drafts a thread with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  errors: ['llm_not_configured', 'llm_error'],
  requires: { db: true, llm: true },
  deadlineMs: 300_000,
  input: z.object({
    topic: z.string().min(1).max(500),
    num_tweets: z.number().int().min(2).max(15).default(DEFAULT_THREAD),
  }),
  output: z.object({
    topic: z.string(),
    tweet_count: z.number(),
    tweets: z.array(z.string()),
    lengths: z.array(z.number()),
  }),
  async run({ topic, num_tweets }, { services, signal }) {
    const parts = await services.writer.thread({ topic, count: num_tweets }, signal);
    return {
      topic,
      tweet_count: parts.length,
      tweets: parts.map(({ text }) => text),
      lengths: parts.map(({ length }) => length),
    };
  },
});

export const generateThreadPlan = defineXTool({
  name: 'generate_thread_plan',
  title: 'Plan a thread',
  summary: 'Plans a thread: structure, the role of each part and a draft of it; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  errors: ['llm_not_configured', 'llm_error', 'invalid_input'],
  requires: { llm: true },
  deadlineMs: 300_000,
  input: z.object({
    topic: z.string().min(1).max(500),
    target_tweets: z.number().int().min(2).max(15).default(6),
    objective: z.string().max(500).optional(),
    target_audience: z.string().max(500).optional(),
    structure: z.enum(STRUCTURE_NAMES).default('framework'),
  }),
  output: z.object({
    topic: z.string(),
    structure: z.string(),
    structure_guide: z.string(),
    objective: z.string().nullable(),
    target_audience: z.string().nullable(),
    tweet_count: z.number(),
    tweets: z.array(
      z.object({ position: z.number(), role: z.string(), text: z.string(), length: z.number() }),
    ),
    next_step: z.string(),
  }),
  async run({ topic, target_tweets, objective, target_audience, structure }, { services, signal }) {
    const audience = target_audience ?? (services.settings.business.target_audience || undefined);
    const parts = await services.writer.thread(
      { topic, count: target_tweets, structure, objective, audience },
      signal,
    );
    return {
      topic,
      structure,
      structure_guide: STRUCTURES[structure],
      objective: objective ?? null,
      target_audience: audience ?? null,
      tweet_count: parts.length,
      tweets: parts.map(({ text, length }, index) => ({
        position: index + 1,
        role: index === 0 ? 'hook' : index === parts.length - 1 ? 'close' : 'body',
        text,
        length,
      })),
      next_step: 'Send the texts as tweets to x_post_thread.',
    };
  },
});

export const suggestTopics = defineXTool({
  name: 'suggest_topics',
  title: 'Suggest topics',
  summary: 'Topics to post about, from past performance, your profile and discovery.',
  effect: 'read',
  reach: 'local',
  category: 'content',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ count: z.number().int().min(1).max(50).default(10) }),
  output: z.object({ count: z.number(), topics: z.array(topicIdea) }),
  async run({ count }, { services, now }) {
    const topics = await suggestTopicIdeas(services, count, now());
    return { count: topics.length, topics };
  },
});
