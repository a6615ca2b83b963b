import { z } from 'zod';
import { defineView } from '../../contract/view.ts';

// What people see of the toolkit, as schemas alone: pages and commands take their types from here.

const days = z.coerce.number<number>().int().min(1).max(365).default(7);
const limit = z.coerce.number<number>().int().min(1).max(500).default(50);
const mode = { mode: z.enum(['autopilot', 'composer']), approval_mode: z.boolean() };

export const contentShape = z.object({
  id: z.number(),
  status: z.string(),
  content_type: z.string(),
  content: z.union([z.string(), z.array(z.string())]),
  lengths: z.array(z.number()),
  scheduled_for: z.string().nullable(),
  topic: z.string().nullable(),
  format: z.string().nullable(),
});

const item = contentShape.extend({
  content_type: z.enum(['tweet', 'thread']),
  source: z.string(),
  created_by: z.string(),
  created_at: z.string(),
  tweet_id: z.string().nullable(),
  posted_at: z.string().nullable(),
  approval_id: z.number().nullable(),
  attempts: z.number(),
  error_code: z.string().nullable(),
  error: z.string().nullable(),
});

const signals = z.object({
  keyword_relevance: z.number(),
  follower: z.number(),
  recency: z.number(),
  engagement: z.number(),
  reply_count: z.number(),
  content_type: z.number(),
});

export const scoreShape = z.object({
  total: z.number(),
  ...signals.shape,
  meets_threshold: z.boolean(),
});

const feedItem = z.object({
  tweet_id: z.string(),
  author_id: z.string(),
  author_username: z.string(),
  author_followers: z.number(),
  text: z.string(),
  created_at: z.string(),
  likes: z.number(),
  retweets: z.number(),
  replies: z.number(),
  score: z.number(),
  signals: z.unknown(),
  matched_keyword: z.string().nullable(),
  source: z.string(),
  replied: z.boolean(),
  discovered_at: z.string(),
});

export const feedShape = z.object({ count: z.number(), tweets: z.array(feedItem) });

export const targetsShape = z.object({
  count: z.number(),
  max_replies_per_day: z.number(),
  accounts: z.array(
    z.object({
      username: z.string(),
      user_id: z.string().nullable(),
      posts_seen: z.number(),
      replies_sent: z.number(),
      last_reply_at: z.string().nullable(),
      last_checked_at: z.string().nullable(),
    }),
  ),
});

export const performanceShape = z.object({
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
  tweet_performance: performanceShape,
  reply_performance: performanceShape,
  top_topics: z.array(z.object({ topic: z.string(), posts: z.number(), avg_score: z.number().nullable() })),
});

export const sumsShape = z.object({
  calls: z.number(),
  failures: z.number(),
  items: z.number(),
  cost_usd: z.number(),
});

export const usageShape = sumsShape.extend({
  days: z.number(),
  endpoints: z.array(sumsShape.extend({ endpoint: z.string(), method: z.string() })),
  daily: z.array(sumsShape.extend({ day: z.string() })),
});

export const topicIdea = z.object({
  topic: z.string(),
  source: z.enum(['performance', 'profile', 'discovery']),
  posts: z.number(),
  avg_score: z.number().nullable(),
  reason: z.string(),
});

const period = { max: z.number(), used: z.number(), periodSeconds: z.number(), periodStart: z.string() };
const postCount = z.number().optional();

export const loopStateShape = z.object({
  nextAt: z.string(),
  failures: z.number(),
  lastError: z.string().optional(),
  lastAt: z.string().optional(),
});

/** Figures are null until the post was measured. */
const publishedPost = z.object({
  id: z.string(),
  kind: z.enum(['tweet', 'reply', 'quote', 'thread']),
  tweet_id: z.string().nullable(),
  texts: z.array(z.string()),
  /** Every part of a thread, in order; one post has one. */
  tweet_ids: z.array(z.string()),
  topic: z.string().nullable(),
  actor: z.string(),
  posted_at: z.string().nullable(),
  in_reply_to: z.string().nullable(),
  figures: z
    .object({
      impressions: z.number(),
      likes: z.number(),
      replies: z.number(),
      retweets: z.number(),
      engagement: z.number(),
      measured_at: z.string(),
    })
    .nullable(),
});

export const views = {
  published: defineView({
    params: z.object({
      search: z.string().max(200).default(''),
      sort: z.enum(['newest', 'engagement', 'impressions']).default('newest'),
      days: z.coerce.number<number>().int().min(1).max(365).default(90),
      limit: z.coerce.number<number>().int().min(1).max(200).default(50),
    }),
    output: z.object({ total: z.number(), posts: z.array(publishedPost) }),
  }),
  provider: defineView({
    params: z.object({}),
    output: z.object({
      ...mode,
      llm: z.string().nullable(),
      provider: z
        .object({
          backend: z.enum(['x_api', 'scraper', 'sandbox']),
          mutations_available: z.boolean(),
          risk_level: z.enum(['standard', 'elevated', 'none']),
          data_confidence: z.enum(['high', 'medium', 'simulated']),
          unsupported_methods: z.array(z.string()),
          note: z.string(),
        })
        .nullable(),
      sandbox: z.boolean(),
      problem: z.object({ code: z.string(), message: z.string() }).optional(),
    }),
  }),
  discovery_feed: defineView({
    params: z.object({ limit, min_score: z.coerce.number<number>().min(0).max(100).default(0) }),
    output: feedShape.extend({
      tweets: z.array(feedItem.extend({ signals: scoreShape })),
      threshold: z.number(),
      /** What each signal can be worth, so that a score can be explained. */
      most: signals,
    }),
  }),
  drafts: defineView({ params: z.object({ limit }), output: z.object({ items: z.array(item) }) }),
  schedule: defineView({
    params: z.object({ limit }),
    output: z.object({
      timezone: z.string(),
      active_hours_start: z.number(),
      active_hours_end: z.number(),
      active_days: z.array(z.string()),
      upcoming: z.array(item),
      past: z.array(item),
      /** Posts with a time that a person has not approved yet: they are in the inbox. */
      pending: z.array(
        z.object({
          approval_id: z.number(),
          title: z.string(),
          text: z.string(),
          scheduled_for: z.string(),
          requester: z.string(),
        }),
      ),
    }),
  }),
  targets: defineView({
    params: z.object({}),
    output: targetsShape.extend({
      accounts: z.array(
        // In the configuration file, which the page does not change.
        targetsShape.shape.accounts.element.extend({ configured: z.boolean() }),
      ),
    }),
  }),
  stats: defineView({ params: z.object({ days }), output: statsShape }),
  analytics: defineView({
    params: z.object({ days }),
    output: z.object({
      days: z.number(),
      followers: z.array(
        z.object({ at: z.string(), followers: z.number(), following: z.number(), posts: z.number() }),
      ),
      posts_per_day: z.array(
        z.object({
          day: z.string(),
          tweet: postCount,
          reply: postCount,
          quote: postCount,
          thread: postCount,
        }),
      ),
      performance_per_day: z.array(
        z.object({ day: z.string(), replies: z.number().nullable(), posts: z.number().nullable() }),
      ),
      topics: z.array(
        z.object({
          topic: z.string(),
          posts: z.number(),
          measured: z.number(),
          avgScore: z.number().nullable(),
          totalImpressions: z.number(),
        }),
      ),
      best: z.array(
        z.object({
          tweet_id: z.string().nullable(),
          kind: z.string(),
          text: z.string(),
          topic: z.string().nullable(),
          impressions: z.number().nullable(),
          likes: z.number().nullable(),
          replies: z.number().nullable(),
          retweets: z.number().nullable(),
          score: z.number().nullable(),
        }),
      ),
    }),
  }),
  usage: defineView({
    params: z.object({ days }),
    output: z.object({
      x: usageShape,
      llm: z.array(
        z.object({
          provider: z.string(),
          model: z.string(),
          calls: z.number(),
          input_tokens: z.number(),
          output_tokens: z.number(),
        }),
      ),
      limits: z.array(z.object({ key: z.string(), action: z.string(), ...period, resetsAt: z.string() })),
      policy_limits: z.array(
        z.object({
          key: z.string(),
          dimension: z.string(),
          match: z.string(),
          ...period,
          resetAt: z.string(),
        }),
      ),
    }),
  }),
  loops: defineView({
    params: z.object({}),
    output: z.object({
      ...mode,
      breaker: z.object({
        phase: z.enum(['closed', 'open', 'half_open']),
        until: z.string().optional(),
      }),
      loops: z.array(z.object({ name: z.string(), ...loopStateShape.shape })),
    }),
  }),
  actions: defineView({
    params: z.object({ days, limit }),
    output: z.object({
      actions: z.array(
        z.object({
          id: z.number(),
          realm: z.string(),
          at: z.string(),
          action_type: z.string(),
          status: z.string(),
          message: z.string(),
          detail: z.unknown(),
        }),
      ),
    }),
  }),
  topics: defineView({
    params: z.object({ limit }),
    output: z.object({ topics: z.array(topicIdea) }),
  }),
};
