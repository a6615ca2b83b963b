import { z } from 'zod';
import type { XServices } from '../services.ts';
import { topicsOf } from './scoring.ts';
import { type TopicStat, topicsBy } from './stats.ts';

const LOOK_BACK_MS = 90 * 86_400_000;
const POSTS_LOOKED_AT = 1000;
const FEED_LOOKED_AT = 200;

export const topicIdea = z.object({
  topic: z.string(),
  source: z.enum(['performance', 'profile', 'discovery']),
  posts: z.number(),
  avg_score: z.number().nullable(),
  reason: z.string(),
});

type Idea = z.input<typeof topicIdea>;

/** What worked first, then what the profile names and was not tried, then what the audience talks about. */
export async function suggestTopicIdeas(
  services: Pick<XServices, 'growth' | 'settings'>,
  count: number,
  now: Date,
): Promise<Idea[]> {
  const { growth, settings } = services;
  const since = new Date(now.getTime() - LOOK_BACK_MS);
  const [posts, feed] = await Promise.all([
    growth.posts.latest(['tweet', 'quote', 'thread'], POSTS_LOOKED_AT, { since, state: 'posted' }),
    // What a watched account wrote is kept under its name, which is no topic.
    growth.discovered.list({
      minScore: settings.scoring.threshold,
      source: 'search',
      limit: FEED_LOOKED_AT,
    }),
  ]);
  const stats = topicsBy(posts);
  const ideas = [...stats.filter((stat) => stat.avgScore !== null).map(fromPerformance)];
  for (const topic of [...topicsOf(settings.business), ...settings.business.content_pillars]) {
    const posted = stats.find((stat) => same(stat.topic, topic))?.posts ?? 0;
    const reason =
      posted === 0 ? 'In your profile and not posted about yet.' : 'In your profile; not measured yet.';
    ideas.push({ topic, source: 'profile', posts: posted, avg_score: null, reason });
  }
  for (const [topic, seen] of keywordCounts(feed.flatMap((row) => row.keyword ?? []))) {
    const reason = `${seen} high-scoring posts about it were found.`;
    ideas.push({ topic, source: 'discovery', posts: 0, avg_score: null, reason });
  }
  return distinct(ideas).slice(0, count);
}

const fromPerformance = ({ topic, posts, avgScore }: TopicStat): Idea => ({
  topic,
  source: 'performance',
  posts,
  avg_score: avgScore,
  reason: `${posts} posts scored ${(avgScore ?? 0).toFixed(1)} on average.`,
});

function keywordCounts(keywords: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const keyword of keywords) counts.set(keyword, (counts.get(keyword) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const distinct = (ideas: readonly Idea[]): Idea[] =>
  ideas.filter((idea, index) => ideas.findIndex((other) => same(other.topic, idea.topic)) === index);
