import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { suggestTopicIdeas, topicIdea } from '../lib/topics.ts';
import { defineXTool } from '../services.ts';

export const suggestTopics = defineXTool({
  name: 'suggest_topics',
  title: 'Suggest topics',
  summary: 'Topics to post about, from past performance, your profile and discovery.',
  effect: 'read',
  reach: 'local',
  category: 'content',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ count: z.number().int().min(1).max(50).default(10) }),
  output: z.object({ count: z.number(), topics: z.array(topicIdea) }),
  async run({ count }, { services, now }) {
    const topics = await suggestTopicIdeas(services, count, now());
    return { count: topics.length, topics };
  },
});
