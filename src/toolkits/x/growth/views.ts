import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Principal } from '../../../contract/principal.ts';
import type { View } from '../../../contract/toolkit.ts';
import { describeContent } from '../lib/compose.ts';
import { reasonOf } from '../lib/degraded.ts';
import { toFeed } from '../lib/feed.ts';
import { sinceOf } from '../lib/since.ts';
import { average, statsOf, topicsBy } from '../lib/stats.ts';
import { targetsOf } from '../lib/targets.ts';
import { suggestTopicIdeas } from '../lib/topics.ts';
import { usageOf } from '../lib/x-usage.ts';
import type { XServices } from '../services.ts';
import { CircuitBreaker } from './breaker.ts';
import type { ContentRow, ContentState, PostRow } from './tables.ts';

const params = z.object({
  days: z.coerce.number().int().min(1).max(365).default(7),
  limit: z.coerce.number().int().min(1).max(500).default(50),
  min_score: z.coerce.number().min(0).max(100).default(0),
});

type Query = z.output<typeof params>;
type Show = (services: XServices, query: Query, person: Principal) => Promise<unknown>;

/** What the web app and the command line show of toolkit x. Nothing here changes anything. */
export const views: Readonly<Record<string, View<XServices>>> = {
  provider: view(providerBadge),
  discovery_feed: view(async ({ growth, settings: { scoring } }, { limit, min_score }) => ({
    ...toFeed(await growth.discovered.list({ minScore: min_score, limit })),
    threshold: scoring.threshold,
    // What each signal can be worth, so that a score can be explained.
    most: {
      keyword_relevance: scoring.keyword_relevance_max,
      follower: scoring.follower_count_max,
      recency: scoring.recency_max,
      engagement: scoring.engagement_rate_max,
      reply_count: scoring.reply_count_max,
      content_type: scoring.content_type_max,
    },
  })),
  drafts: view((services, { limit }) => contents(services, ['draft', 'failed'], limit)),
  schedule: view(scheduleView),
  targets: view((services) => targetsOf(services)),
  stats: view((services, { days }, principal) =>
    statsOf({ services, principal }, sinceOf(services.now(), { days }), days),
  ),
  analytics: view(analyticsView),
  usage: view(usageView),
  loops: view(loopsView),
  actions: view(async ({ growth, now }, { days, limit }) => {
    const rows = await growth.journal.actions(sinceOf(now(), { days }), limit);
    return { actions: rows.map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) as unknown })) };
  }),
  topics: view(async (services, { limit }) => ({
    topics: await suggestTopicIdeas(services, Math.min(limit, 50), services.now()),
  })),
};

function view(show: Show): View<XServices> {
  return async (given, { services, person }) => {
    const shown = await show(services, params.parse(known(given)), person);
    // One pass through JSON drops what is undefined and proves the rest serialisable.
    return JSON.parse(JSON.stringify(shown)) as JsonValue;
  };
}

const known = ({ days, limit, min_score }: JsonObject) => ({ days, limit, min_score });

const modeOf = (stance: XServices['stance']) => {
  const { mode, approvalMode } = stance();
  return { mode, approval_mode: approvalMode };
};

async function providerBadge({ x, stance, writer, settings }: XServices) {
  const base = { ...modeOf(stance), llm: writer.configured ? settings.llm.provider : null };
  try {
    const { provider } = await x();
    return { ...base, provider, sandbox: provider.backend === 'sandbox' };
  } catch (error) {
    return { ...base, provider: null, sandbox: false, problem: reasonOf(error) };
  }
}

async function contents(services: XServices, states: readonly ContentState[], limit: number) {
  const rows = await services.growth.agenda.list(states, limit);
  return { items: await Promise.all(rows.map(describeItem)) };
}

const describeItem = async (row: ContentRow) => ({
  ...(await describeContent(row)),
  source: row.source,
  created_by: row.created_by,
  created_at: row.created_at,
  tweet_id: row.tweet_id,
  posted_at: row.posted_at,
  approval_id: row.approval_id,
  attempts: row.attempts,
  error_code: row.error_code,
  error: row.error,
});

async function scheduleView(services: XServices, { limit }: Query) {
  const { timezone, active_hours_start, active_hours_end, active_days } = services.settings.schedule;
  const upcoming = await contents(services, ['scheduled', 'claimed', 'waiting_approval'], limit);
  const past = await contents(services, ['posted', 'cancelled'], limit);
  return {
    timezone,
    active_hours_start,
    active_hours_end,
    active_days,
    upcoming: upcoming.items,
    past: past.items,
  };
}

async function analyticsView({ growth, now }: XServices, { days }: Query) {
  const since = sinceOf(now(), { days });
  const [trend, posts] = await Promise.all([
    growth.journal.followerTrend(since),
    growth.posts.latest(['tweet', 'reply', 'quote', 'thread'], 1000, { since, state: 'posted' }),
  ]);
  const best = [...posts]
    .filter((post) => post.score !== null)
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  return {
    days,
    followers: trend,
    posts_per_day: perDay(posts.map((post) => ({ day: post.created_at.slice(0, 10), kind: post.kind }))),
    performance_per_day: performancePerDay(posts),
    topics: topicsBy(posts),
    best: best
      .slice(0, 10)
      .map(({ tweet_id, kind, text, topic, impressions, likes, replies, retweets, score }) => ({
        tweet_id,
        kind,
        text,
        topic,
        impressions,
        likes,
        replies,
        retweets,
        score,
      })),
  };
}

function perDay(posts: readonly { day: string; kind: string }[]) {
  const days = new Map<string, Record<string, number>>();
  for (const { day, kind } of posts) {
    const counts = days.get(day) ?? {};
    days.set(day, { ...counts, [kind]: (counts[kind] ?? 0) + 1 });
  }
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, counts]) => ({ day, ...counts }));
}

/** How well the posts and replies of each day did, as far as they were measured. */
function performancePerDay(posts: readonly PostRow[]) {
  const days = [...new Set(posts.map(({ created_at }) => created_at.slice(0, 10)))].sort();
  return days.flatMap((day) => {
    const here = posts.filter(({ created_at, score }) => score !== null && created_at.startsWith(day));
    const scoreOf = (replies: boolean) =>
      average(here.filter(({ kind }) => (kind === 'reply') === replies).map(({ score }) => score));
    return here.length === 0 ? [] : [{ day, replies: scoreOf(true), posts: scoreOf(false) }];
  });
}

async function usageView({ x, growth, safety, kernel, now }: XServices, { days }: Query) {
  const since = sinceOf(now(), { days });
  const rows = await x()
    .then((api) => api.usage(since))
    .catch(() => []);
  const [llm, limits, policy] = await Promise.all([
    growth.journal.llmUsage(since),
    safety.usage(),
    kernel.policy.limits(),
  ]);
  return { x: usageOf(rows, days), llm, limits, policy_limits: policy };
}

async function loopsView({ growth, settings, stance, now }: XServices) {
  const states = await growth.journal.cursors('loop:');
  const breaker = new CircuitBreaker(settings.circuitBreaker, growth.journal);
  return {
    ...modeOf(stance),
    breaker: await breaker.phase(now()),
    loops: states.map(({ name, value }) => ({
      name: name.slice('loop:'.length),
      ...(JSON.parse(value) as Record<string, unknown>),
    })),
  };
}
