import { ToolError } from '../../../contract/errors.ts';
import { principalName } from '../../../contract/principal.ts';
import { serve } from '../../../contract/view.ts';
import { describeContent } from '../content/compose.ts';
import type { XServices } from '../services.ts';
import { sinceOf } from '../tools/analytics.ts';
import { targetsOf, toFeed } from '../tools/discovery.ts';
import { scheduleTime } from '../tools/drafts.ts';
import { reasonOf } from '../tools/status.ts';
import { loopStateShape, scoreShape, views } from '../views.ts';
import { CircuitBreaker } from './loop.ts';
import { publishedPosts } from './published.ts';
import { average, statsOf, suggestTopicIdeas, topicsBy, usageOf } from './stats.ts';
import type { ContentRow, ContentState, PostKind, PostRow } from './tables.ts';

/** What the web app and the command line show of toolkit x. Nothing here changes anything. */
export const served = serve<XServices, typeof views>(views, {
  provider: (_params, { services }) => providerBadge(services),
  async discovery_feed({ limit, min_score }, { services: { growth, settings } }) {
    const { scoring } = settings;
    const { count, tweets } = toFeed(await growth.discovered.list({ minScore: min_score, limit }));
    return {
      count,
      tweets: tweets.map((one) => ({ ...one, signals: scoreShape.parse(one.signals) })),
      threshold: scoring.threshold,
      most: {
        keyword_relevance: scoring.keyword_relevance_max,
        follower: scoring.follower_count_max,
        recency: scoring.recency_max,
        engagement: scoring.engagement_rate_max,
        reply_count: scoring.reply_count_max,
        content_type: scoring.content_type_max,
      },
    };
  },
  drafts: async ({ limit }, { services }) => ({
    items: await contents(services, ['draft', 'failed'], limit),
  }),
  schedule: ({ limit }, { services }) => scheduleView(services, limit),
  published: (params, { services }) => publishedPosts(services, params),
  targets: (_params, { services }) => targetsOf(services),
  stats: ({ days }, { services, person }) =>
    statsOf({ services, principal: person }, sinceOf(services.now(), { days }), days),
  analytics: ({ days }, { services }) => analyticsView(services, days),
  usage: ({ days }, { services }) => usageView(services, days),
  loops: (_params, { services }) => loopsView(services),
  async actions({ days, limit }, { services: { growth, now } }) {
    const rows = await growth.journal.actions(sinceOf(now(), { days }), limit);
    return { actions: rows.map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) as unknown })) };
  },
  topics: async ({ limit }, { services }) => ({
    topics: await suggestTopicIdeas(services, Math.min(limit, 50), services.now()),
  }),
});

const modeOf = (operatingMode: XServices['operatingMode']) => {
  const { mode, approvalMode } = operatingMode();
  return { mode, approval_mode: approvalMode };
};

async function providerBadge({ x, operatingMode, writer, settings }: XServices) {
  const base = { ...modeOf(operatingMode), llm: writer.configured ? settings.llm.provider : null };
  try {
    const { provider } = await x();
    return { ...base, provider, sandbox: provider.backend === 'sandbox' };
  } catch (error) {
    return { ...base, provider: null, sandbox: false, problem: reasonOf(error) };
  }
}

async function contents(services: XServices, states: readonly ContentState[], limit: number) {
  const rows = await services.growth.contentQueue.list(states, limit);
  return Promise.all(rows.map(describeItem));
}

const describeItem = async (row: ContentRow) => ({
  ...(await describeContent(row)),
  content_type: row.content_type,
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

async function scheduleView(services: XServices, limit: number) {
  const { timezone, active_hours_start, active_hours_end, active_days } = services.settings.schedule;
  const upcoming = await contents(services, ['scheduled', 'claimed', 'waiting_approval'], limit);
  const past = await contents(services, ['posted', 'cancelled'], limit);
  return {
    timezone,
    active_hours_start,
    active_hours_end,
    active_days,
    upcoming,
    past,
    pending: await pendingPosts(services),
  };
}

/** What agents asked to schedule. The time is read as compose_tweet will read it; what it would refuse has no day. */
async function pendingPosts({ kernel, settings, now }: XServices) {
  const asked = await kernel.approvals.list({ states: ['pending'], tools: ['compose_tweet'], limit: 500 });
  return asked.flatMap(({ id, args, summary, gist, requester }) => {
    if (typeof args.scheduled_for !== 'string') return [];
    try {
      const at = scheduleTime(args.scheduled_for, settings.schedule.timezone, now());
      return [
        {
          approval_id: id,
          title: summary,
          text: typeof args.content === 'string' ? args.content : (gist ?? summary),
          scheduled_for: at.toISOString(),
          requester: principalName(requester),
        },
      ];
    } catch (error) {
      if (error instanceof ToolError) return [];
      throw error;
    }
  });
}

async function analyticsView({ growth, now }: XServices, days: number) {
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

function perDay(posts: readonly { day: string; kind: PostKind }[]) {
  const days = new Map<string, Partial<Record<PostKind, number>>>();
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

async function usageView({ x, growth, safety, kernel, now }: XServices, days: number) {
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

async function loopsView({ growth, settings, operatingMode, now }: XServices) {
  const states = await growth.journal.cursors('loop:');
  const breaker = new CircuitBreaker(settings.circuitBreaker, growth.journal);
  return {
    ...modeOf(operatingMode),
    breaker: await breaker.phase(now()),
    loops: states.map(({ name, value }) => ({
      name: name.slice('loop:'.length),
      ...loopStateShape.parse(JSON.parse(value)),
    })),
  };
}
