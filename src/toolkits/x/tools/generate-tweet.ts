import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { FORMAT_NAMES } from '../content/styles.ts';
import { topicOr } from '../lib/topic-choice.ts';
import { defineXTool } from '../services.ts';

export const generateTweet = defineXTool({
  name: 'generate_tweet',
  title: 'Draft a post',
  summary: 'Drafts an original post with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  faults: ['llm_not_configured', 'llm_error', 'validation_error'],
  requires: { db: true, llm: true },
  deadlineMs: 180_000,
  input: z.object({
    topic: z.string().min(1).max(500).optional().describe('First configured topic unless told.'),
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
