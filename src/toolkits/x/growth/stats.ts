import type { z } from 'zod';
import type { Principal } from '../../../contract/principal.ts';
import { waitingFor } from '../approval-view.ts';
import type { UsageRow } from '../client/api.ts';
import type { XServices } from '../services.ts';
import type { performanceShape, statsShape, sumsShape, topicIdea, usageShape } from '../views.ts';
import { topicsOf } from './scoring.ts';
import type { PostRow } from './tables.ts';

const POSTS_LOOKED_AT = 1000;

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

function performanceOf(posts: readonly PostRow[]): z.input<typeof performanceShape> {
  const measured = posts.filter((post) => post.score !== null);
  const best = [...measured].sort((a, b) => (b.score ?? 0) - (a.score ?? 0))[0];
  return {
    measured: measured.length,
    avg_score: average(measured.map((post) => post.score)),
    avg_impressions: average(measured.map((post) => post.impressions)),
    best_tweet_id: best?.tweet_id ?? null,
  };
}

const LOOK_BACK_MS = 90 * 86_400_000;
const FEED_LOOKED_AT = 200;

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

type Sums = z.input<typeof sumsShape>;

export function usageOf(rows: readonly UsageRow[], days: number): z.input<typeof usageShape> {
  const endpoints = groupBy(rows, (row) => `${row.method} ${row.endpoint}`).map(([, group]) => ({
    endpoint: group[0]?.endpoint ?? '',
    method: group[0]?.method ?? '',
    ...sumOf(group),
  }));
  const daily = groupBy(rows, (row) => row.day).map(([day, group]) => ({ day, ...sumOf(group) }));
  return {
    days,
    ...sumOf(rows),
    endpoints: endpoints.sort((a, b) => b.cost_usd - a.cost_usd || b.calls - a.calls),
    daily: daily.sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

function sumOf(rows: readonly UsageRow[]): Sums {
  const total = { calls: 0, failures: 0, items: 0, cost_usd: 0 };
  for (const row of rows) {
    total.calls += row.calls;
    total.failures += row.failures;
    total.items += row.items;
    total.cost_usd += row.costUsd;
  }
  // Sums of cents in binary leave dust behind.
  return { ...total, cost_usd: Math.round(total.cost_usd * 1e6) / 1e6 };
}

function groupBy(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): [string, UsageRow[]][] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups];
}
