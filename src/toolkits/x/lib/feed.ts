import { z } from 'zod';
import type { DiscoveredRow } from '../growth/tables.ts';

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

export const toFeed = (rows: readonly DiscoveredRow[]): z.input<typeof feedShape> => ({
  count: rows.length,
  tweets: rows.map((row) => ({
    tweet_id: row.tweet_id,
    author_id: row.author_id,
    author_username: row.author_username,
    author_followers: row.author_followers,
    text: row.text,
    created_at: row.created_at,
    likes: row.likes,
    retweets: row.retweets,
    replies: row.replies,
    score: row.score,
    signals: JSON.parse(row.signals) as unknown,
    matched_keyword: row.keyword,
    source: row.source,
    replied: row.state === 'replied',
    discovered_at: row.found_at,
  })),
});
