import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { XError } from '../errors.ts';
import { average, statsOf, topicsBy, usageOf } from '../growth/stats.ts';
import { defineXTool, reachX } from '../services.ts';
import { statsShape, usageShape } from '../views.ts';

/** `days` is the documented parameter, `since_hours` the finer one the original had. */
export const days = z.number().int().min(1).max(365).optional().describe('Days back.');
export const sinceHours = z
  .number()
  .int()
  .min(1)
  .max(8760)
  .optional()
  .describe('Hours back, instead of days.');

const HOUR = 3_600_000;

export function sinceOf(now: Date, span: { days?: number; since_hours?: number }, defaultHours = 24): Date {
  const hours = span.since_hours ?? (span.days === undefined ? defaultHours : span.days * 24);
  return new Date(now.getTime() - hours * HOUR);
}

export const getStats = defineXTool({
  name: 'get_stats',
  title: 'Get growth statistics',
  summary: 'Posts, replies, followers and average performance; default: 7 days.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ days }),
  output: statsShape,
  run: ({ days: span = 7 }, context) => statsOf(context, sinceOf(context.now(), { days: span }), span),
});

export const getFollowerTrend = defineXTool({
  name: 'get_follower_trend',
  title: 'Get follower trend',
  summary: 'Follower counts over time, oldest first; default: 7 days.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({
    days,
    limit: z.number().int().min(1).max(1000).optional().describe('Latest snapshots only.'),
  }),
  output: z.object({
    count: z.number(),
    change: z.number().nullable(),
    snapshots: z.array(
      z.object({ at: z.string(), followers: z.number(), following: z.number(), tweets: z.number() }),
    ),
  }),
  async run({ days: span = 7, limit }, { services, now }) {
    const trend = await services.growth.journal.followerTrend(sinceOf(now(), { days: span }));
    const shown = limit === undefined ? trend : trend.slice(-limit);
    const [first, last] = [shown[0], shown.at(-1)];
    return {
      count: shown.length,
      change: first && last ? last.followers - first.followers : null,
      snapshots: shown.map(({ at, followers, following, posts }) => ({
        at: at.toISOString(),
        followers,
        following,
        tweets: posts,
      })),
    };
  },
});

const POSTS_LOOKED_AT = 2000;
const ENOUGH_POSTS = 3;

export const topicPerformanceSnapshot = defineXTool({
  name: 'topic_performance_snapshot',
  title: 'Get topic performance',
  summary: 'How posts on each topic performed and what to do next; default: 30 days.',
  effect: 'read',
  reach: 'local',
  category: 'context',
  profiles: CHANGE_PROFILES,
  errors: ['topic_error', 'db_error'],
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
    const posts = await services.growth.posts
      .latest(['tweet', 'quote', 'thread'], POSTS_LOOKED_AT, { since, state: 'posted' })
      .catch((cause: unknown) => {
        throw new XError('topic_error', 'The stored performance numbers could not be read.', { cause });
      });
    const overall = average(posts.map((post) => post.score));
    if (overall !== null && !Number.isFinite(overall)) {
      throw new XError('topic_error', 'The stored performance numbers are not usable.');
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

export const getActionLog = defineXTool({
  name: 'get_action_log',
  title: 'Get action log',
  summary: 'Recent actions of the growth loops and posts made, newest first; default: last day.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({
    limit: z.number().int().min(1).max(500).default(50),
    since_hours: sinceHours,
    action_type: z.string().optional(),
  }),
  output: z.object({
    count: z.number(),
    actions: z.array(
      z.object({
        id: z.number(),
        at: z.string(),
        action_type: z.string(),
        status: z.string(),
        message: z.string(),
        detail: z.unknown(),
      }),
    ),
  }),
  async run({ limit, since_hours, action_type }, { services, now }) {
    const rows = await services.growth.journal.actions(sinceOf(now(), { since_hours }), limit, action_type);
    const actions = rows.map(({ realm: _realm, detail, ...row }) => ({
      ...row,
      detail: JSON.parse(detail) as unknown,
    }));
    return { count: actions.length, actions };
  },
});

const PERIOD_HOURS = { hour: 1, day: 24, week: 168, month: 720 } as const;

export const getActionCounts = defineXTool({
  name: 'get_action_counts',
  title: 'Count actions',
  summary: 'How many actions of each type; default: last day.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ period: z.enum(['hour', 'day', 'week', 'month']).optional(), since_hours: sinceHours }),
  output: z.object({
    since: z.string(),
    total: z.number(),
    counts: z.array(z.object({ action_type: z.string(), status: z.string(), count: z.number() })),
  }),
  async run({ period = 'day', since_hours }, { services, now }) {
    const since = sinceOf(now(), { since_hours: since_hours ?? PERIOD_HOURS[period] });
    const counts = [...(await services.growth.journal.actionCounts(since))];
    return { since: since.toISOString(), total: counts.reduce((sum, row) => sum + row.count, 0), counts };
  },
});

export const getRecentReplies = defineXTool({
  name: 'get_recent_replies',
  title: 'Get recent replies',
  summary: 'Replies posted from here, newest first; default: last day.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ limit: z.number().int().min(1).max(200).default(20), since_hours: sinceHours }),
  output: z.object({
    count: z.number(),
    replies: z.array(
      z.object({
        tweet_id: z.string(),
        text: z.string(),
        in_reply_to_id: z.string().nullable(),
        author: z.string().nullable(),
        archetype: z.string().nullable(),
        posted_by: z.string(),
        posted_at: z.string(),
        score: z.number().nullable(),
      }),
    ),
  }),
  async run({ limit, since_hours }, { services, now }) {
    const since = sinceOf(now(), { since_hours });
    const rows = await services.growth.posts.latest(['reply'], limit, { since, state: 'posted' });
    const replies = rows.map((row) => ({
      tweet_id: row.tweet_id ?? '',
      text: row.text,
      in_reply_to_id: row.target_tweet_id,
      author: row.target_author,
      archetype: row.style,
      posted_by: row.actor,
      posted_at: row.posted_at ?? row.created_at,
      score: row.score,
    }));
    return { count: replies.length, replies };
  },
});

export const getReplyCountToday = defineXTool({
  name: 'get_reply_count_today',
  title: "Count today's replies",
  summary: "Today's replies and how many are left.",
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({
    count: z.number(),
    max_per_day: z.number(),
    remaining: z.number(),
    resets_at: z.string(),
  }),
  async run(_args, { services, now }) {
    const limits = await services.safety.usage();
    const reply = limits.find(({ action }) => action === 'reply');
    const max = services.settings.limits.max_replies_per_day;
    const count = reply?.used ?? 0;
    return {
      count,
      max_per_day: max,
      remaining: Math.max(0, max - count),
      resets_at: (reply?.resetsAt ?? now()).toISOString(),
    };
  },
});

export const getXUsage = defineXTool({
  name: 'get_x_usage',
  title: 'Get X API usage',
  summary: 'X API calls and their estimated cost; default: 7 days.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ days }),
  output: usageShape,
  async run({ days: span = 7 }, context) {
    const x = await reachX(context);
    return usageOf(await x.usage(sinceOf(context.now(), { days: span })), span);
  },
});
