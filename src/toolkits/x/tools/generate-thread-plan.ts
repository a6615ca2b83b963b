import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { STRUCTURE_NAMES, STRUCTURES } from '../content/styles.ts';
import { defineXTool } from '../services.ts';

export const generateThreadPlan = defineXTool({
  name: 'generate_thread_plan',
  title: 'Plan a thread',
  summary: 'Plans a thread: structure, the role of each part and a draft of it; posts nothing.',
  effect: 'read',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  faults: ['llm_not_configured', 'llm_error', 'invalid_input'],
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
