import { z } from 'zod';
import type { Principal } from '../../../contract/principal.ts';
import type { PostRow } from '../growth/tables.ts';
import type { XServices } from '../services.ts';
import { waitingFor } from './shown-to.ts';

const POSTS_LOOKED_AT = 1000;

const performance = z.object({
  measured: z.number(),
  avg_score: z.number().nullable(),
  avg_impressions: z.number().nullable(),
  best_tweet_id: z.string().nullable(),
});

export const statsShape = z.object({
  days: z.number(),
  since: z.string(),
  tweets: z.number(),
  replies: z.number(),
  quotes: z.number(),
  threads: z.number(),
  discovered: z.number(),
  pending_approvals: z.number(),
  followers: z.object({ current: z.number().nullable(), change: z.number().nullable() }),
  tweet_performance: performance,
  reply_performance: performance,
  top_topics: z.array(z.object({ topic: z.string(), posts: z.number(), avg_score: z.number().nullable() })),
});

export async function statsOf(
  reader: { readonly services: Pick<XServices, 'growth' | 'kernel'>; readonly principal: Principal },
  since: Date,
  days: number,
): Promise<z.input<typeof statsShape>> {
  const { growth } = reader.services;
  const [posts, trend, discovered, waiting] = await Promise.all([
    growth.posts.latest(['tweet', 'reply', 'quote', 'thread'], POSTS_LOOKED_AT, { since, state: 'posted' }),
    growth.journal.followerTrend(since),
    growth.discovered.countSince(since),
    waitingFor(reader, 0),
  ]);
  const [first, last] = [trend[0], trend.at(-1)];
  const count = (kind: PostRow['kind']): number => posts.filter((post) => post.kind === kind).length;
  return {
    days,
    since: since.toISOString(),
    tweets: count('tweet'),
    replies: count('reply'),
    quotes: count('quote'),
    threads: count('thread'),
    discovered,
    pending_approvals: waiting.count,
    followers: {
      current: last?.followers ?? null,
      change: first && last && first !== last ? last.followers - first.followers : null,
    },
    tweet_performance: performanceOf(posts.filter((post) => post.kind !== 'reply')),
    reply_performance: performanceOf(posts.filter((post) => post.kind === 'reply')),
    top_topics: topicsBy(posts)
      .slice(0, 5)
      .map(({ topic, posts: n, avgScore }) => ({ topic, posts: n, avg_score: avgScore })),
  };
}

export interface TopicStat {
  readonly topic: string;
  readonly posts: number;
  readonly measured: number;
  readonly avgScore: number | null;
  readonly totalImpressions: number;
}

/** Best first; topics without numbers come last. */
export function topicsBy(posts: readonly PostRow[]): TopicStat[] {
  const groups = new Map<string, PostRow[]>();
  for (const post of posts) {
    if (post.topic === null) continue;
    groups.set(post.topic, [...(groups.get(post.topic) ?? []), post]);
  }
  return [...groups]
    .map(([topic, group]) => ({
      topic,
      posts: group.length,
      measured: group.filter((post) => post.score !== null).length,
      avgScore: average(group.map((post) => post.score)),
      totalImpressions: group.reduce((sum, post) => sum + (post.impressions ?? 0), 0),
    }))
    .sort((a, b) => (b.avgScore ?? -1) - (a.avgScore ?? -1) || b.posts - a.posts);
}

export function average(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function performanceOf(posts: readonly PostRow[]): z.input<typeof performance> {
  const measured = posts.filter((post) => post.score !== null);
  const best = [...measured].sort((a, b) => (b.score ?? 0) - (a.score ?? 0))[0];
  return {
    measured: measured.length,
    avg_score: average(measured.map((post) => post.score)),
    avg_impressions: average(measured.map((post) => post.impressions)),
    best_tweet_id: best?.tweet_id ?? null,
  };
}
