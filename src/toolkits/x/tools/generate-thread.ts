import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineXTool } from '../services.ts';

const DEFAULT_THREAD = 6;

export const generateThread = defineXTool({
  name: 'generate_thread',
  title: 'Draft a thread',
  summary: 'Drafts a thread with the language model; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'content',
  profiles: CHANGE_PROFILES,
  faults: ['llm_not_configured', 'llm_error'],
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
