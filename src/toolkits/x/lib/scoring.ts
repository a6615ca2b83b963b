import { z } from 'zod';
import type { XSettings } from '../services.ts';

export interface Scorable {
  readonly text: string;
  readonly authorFollowers: number;
  readonly likes: number;
  readonly retweets: number;
  readonly replies: number;
  readonly createdAt: string;
  readonly hasMedia: boolean;
  readonly isQuote: boolean;
}

export const scoreShape = z.object({
  total: z.number(),
  keyword_relevance: z.number(),
  follower: z.number(),
  recency: z.number(),
  engagement: z.number(),
  reply_count: z.number(),
  content_type: z.number(),
  meets_threshold: z.boolean(),
});

export type Score = z.output<typeof scoreShape>;
type Settings = Pick<XSettings, 'scoring' | 'business'>;

/** Six signals, each worth at most what `[scoring]` says; deterministic for a given moment. */
export function scorePost(post: Scorable, settings: Settings, now: Date): Score {
  const { scoring } = settings;
  const signals = {
    keyword_relevance: scoring.keyword_relevance_max * keywordShare(post.text, keywordsOf(settings.business)),
    follower: scoring.follower_count_max * reach(post.authorFollowers),
    recency: scoring.recency_max * freshness(post.createdAt, now),
    engagement: scoring.engagement_rate_max * engagement(post),
    reply_count: scoring.reply_count_max * (post.replies >= 20 ? 0 : 1 - post.replies / 20),
    content_type: post.hasMedia || post.isQuote ? 0 : scoring.content_type_max,
  };
  const sum = Object.values(signals).reduce((a, b) => a + b, 0);
  const total = Math.min(100, Math.max(0, sum));
  return { total, ...signals, meets_threshold: total >= scoring.threshold };
}

/** What makes a post relevant: product, competitors and topics. */
export function keywordsOf(business: XSettings['business']): string[] {
  const all = [...business.product_keywords, ...business.competitor_keywords, ...topicsOf(business)];
  return [...new Set(all.map((word) => word.toLowerCase()))];
}

/** The keyword a text holds; of several the longest, which says most. */
export function matchedKeyword(text: string, business: XSettings['business']): string | undefined {
  const lower = text.toLowerCase();
  const matched = keywordsOf(business).filter((keyword) => lower.includes(keyword));
  return matched.sort((a, b) => b.length - a.length)[0];
}

export const topicsOf = (business: XSettings['business']): readonly string[] =>
  business.industry_topics.length > 0 ? business.industry_topics : business.product_keywords;

function keywordShare(text: string, keywords: readonly string[]): number {
  if (keywords.length === 0) return 0;
  const lower = text.toLowerCase();
  // A phrase says more than a word.
  const weight = (keyword: string): number => (keyword.includes(' ') ? 2 : 1);
  const all = keywords.reduce((sum, keyword) => sum + weight(keyword), 0);
  const matched = keywords.filter((keyword) => lower.includes(keyword));
  return matched.reduce((sum, keyword) => sum + weight(keyword), 0) / all;
}

/** Best between a thousand and ten thousand followers: large accounts answer rarely, tiny ones reach nobody. */
function reach(followers: number): number {
  if (followers <= 0) return 0;
  if (followers < 100) return followers / 200;
  if (followers < 1_000) return 0.5 + (followers - 100) / 1_800;
  if (followers <= 10_000) return 1;
  if (followers <= 100_000) return 1 - (0.75 * (followers - 10_000)) / 90_000;
  return 0.25;
}

function freshness(createdAt: string, now: Date): number {
  const minutes = (now.getTime() - Date.parse(createdAt)) / 60_000;
  if (Number.isNaN(minutes)) return 0;
  if (minutes <= 5) return 1;
  if (minutes <= 30) return 1 - (0.2 * (minutes - 5)) / 25;
  if (minutes <= 60) return 0.8 - (0.3 * (minutes - 30)) / 30;
  if (minutes <= 360) return 0.5 - (0.25 * (minutes - 60)) / 300;
  return 0;
}

function engagement({ likes, retweets, replies, authorFollowers }: Scorable): number {
  const rate = (likes + retweets + replies) / Math.max(authorFollowers, 1);
  return Math.min(1, rate / 0.05);
}
