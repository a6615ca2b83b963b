import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { days, sinceOf } from '../lib/since.ts';
import { average, topicsBy } from '../lib/stats.ts';
import { defineXTool } from '../services.ts';

const POSTS_LOOKED_AT = 2000;
const ENOUGH_POSTS = 3;

export const topicPerformanceSnapshot = defineXTool({
  name: 'topic_performance_snapshot',
  title: 'Get topic performance',
  summary: 'How posts on each topic did and what to do about it; thirty days unless told.',
  effect: 'read',
  reach: 'local',
  category: 'context',
  profiles: CHANGE_PROFILES,
  faults: ['topic_error', 'db_error'],
  requires: { db: true },
  input: z.object({ days }),
  output: z.object({
    days: z.number(),
    overall_avg_score: z.number().nullable(),
    topics: z.array(
      z.object({
        topic: z.string(),
        posts: z.number(),
        measured: z.number(),
        avg_score: z.number().nullable(),
        total_impressions: z.number(),
        recommendation: z.enum(['double_down', 'maintain', 'reduce', 'experiment']),
      }),
    ),
  }),
  async run({ days: span = 30 }, { services, now }) {
    const since = sinceOf(now(), { days: span });
    const posts = await services.growth.posts.latest(['tweet', 'quote', 'thread'], POSTS_LOOKED_AT, {
      since,
      state: 'posted',
    });
    const overall = average(posts.map((post) => post.score));
    if (overall !== null && !Number.isFinite(overall)) {
      throw new ToolFault('topic_error', 'The stored performance numbers are not usable.');
    }
    return {
      days: span,
      overall_avg_score: overall,
      topics: topicsBy(posts).map(({ topic, posts: count, measured, avgScore, totalImpressions }) => ({
        topic,
        posts: count,
        measured,
        avg_score: avgScore,
        total_impressions: totalImpressions,
        recommendation: recommend(count, avgScore, overall),
      })),
    };
  },
});

function recommend(
  posts: number,
  score: number | null,
  overall: number | null,
): 'double_down' | 'maintain' | 'reduce' | 'experiment' {
  if (posts < ENOUGH_POSTS || score === null || overall === null) return 'experiment';
  if (score > 1.5 * overall) return 'double_down';
  return score < 0.5 * overall ? 'reduce' : 'maintain';
}
