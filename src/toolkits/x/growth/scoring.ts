import { z } from 'zod';
import { containsPhrase, wordsOf } from '../posting/text.ts';
import type { XServices, XSettings } from '../services.ts';
import type { scoreShape } from '../views.ts';
import { dayOf } from './clock.ts';
import type { PostRow } from './tables.ts';

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

/** Best between a thousand and ten thousand followers: large accounts answer rarely, tiny ones reach no one. */
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

export interface RecommendationInput {
  readonly text: string;
  readonly keywords: readonly string[];
  readonly history: AuthorHistory;
  readonly maxPerAuthor: number;
  readonly repliesToday: number;
  readonly maxReplies: number;
  readonly objective?: string;
  /** Why a reply is out of the question, if it is. */
  readonly blocked?: string;
}

export interface Recommendation {
  readonly action: 'reply' | 'observe' | 'skip';
  readonly score: number;
  readonly confidence: number;
  readonly factors: readonly {
    readonly factor: string;
    readonly weight: number;
    readonly score: number;
    readonly reason: string;
  }[];
}

/** A weighted mean of five factors; deterministic, so that the same post always gets the same advice. */
export function recommend(input: RecommendationInput): Recommendation {
  const factors = [
    keywordFactor(input),
    relationshipFactor(input),
    frequencyFactor(input),
    capacityFactor(input),
    campaignFactor(input),
  ];
  const score = factors.reduce((sum, factor) => sum + factor.weight * factor.score, 0) / 100;
  if (input.blocked) return { action: 'skip', score, confidence: 0.95, factors };
  const action = score >= 65 ? 'reply' : score >= 40 ? 'observe' : 'skip';
  // The further from the nearest border, the surer.
  const distance = Math.min(Math.abs(score - 65), Math.abs(score - 40));
  return { action, score, confidence: Math.min(0.95, 0.5 + distance / 50), factors };
}

function keywordFactor({ text, keywords }: RecommendationInput) {
  const lower = text.toLowerCase();
  const matched = keywords.filter((keyword) => lower.includes(keyword));
  const score = matched.length === 0 ? 10 : Math.min(100, 30 * matched.length);
  const reason = matched.length === 0 ? 'no keyword matches' : `matches ${matched.join(', ')}`;
  return { factor: 'keyword_relevance', weight: 30, score, reason };
}

function relationshipFactor({ history }: RecommendationInput) {
  const { replies_sent, response_rate } = history;
  const rate = response_rate ?? 0;
  const score = replies_sent === 0 ? 50 : rate > 0.2 ? 90 : rate > 0 ? 60 : 30;
  const reason = replies_sent === 0 ? 'a new author' : `answers ${Math.round(rate * 100)} % of replies`;
  return { factor: 'relationship', weight: 20, score, reason };
}

function frequencyFactor({ history, maxPerAuthor }: RecommendationInput) {
  const today = history.replies_today;
  const score = today >= maxPerAuthor ? 0 : today > 0 ? 40 : 100;
  return {
    factor: 'author_frequency',
    weight: 15,
    score,
    reason: `${today} of ${maxPerAuthor} replies to them today`,
  };
}

function capacityFactor({ repliesToday, maxReplies }: RecommendationInput) {
  const score = repliesToday >= maxReplies ? 0 : repliesToday > 0.8 * maxReplies ? 30 : 100;
  return { factor: 'capacity', weight: 15, score, reason: `${repliesToday} of ${maxReplies} replies today` };
}

function campaignFactor({ text, objective }: RecommendationInput) {
  if (objective === undefined)
    return { factor: 'campaign', weight: 20, score: 50, reason: 'no objective given' };
  const wanted = [...new Set(wordsOf(objective).filter((word) => word.length > 3))];
  const shared = wanted.filter((word) => containsPhrase(text, word)).length;
  const score = shared >= 3 ? 90 : shared >= 1 ? 60 : 20;
  return { factor: 'campaign', weight: 20, score, reason: `shares ${shared} words with the objective` };
}

export const historyShape = z.object({
  replies_sent: z.number(),
  replies_today: z.number(),
  last_reply_at: z.string().nullable(),
  posts_seen: z.number(),
  mentions_received: z.number(),
  measured_replies: z.number(),
  response_rate: z.number().nullable(),
  avg_reply_score: z.number().nullable(),
  recent_replies: z.array(z.object({ tweet_id: z.string(), text: z.string(), posted_at: z.string() })),
});

export type AuthorHistory = z.output<typeof historyShape>;

const SEEN_LIMIT = 200;
const SHOWN_REPLIES = 5;

/** What passed between the account and one author. A reply counts as answered when someone replied to it. */
export async function authorHistory(
  { growth, settings }: Pick<XServices, 'growth' | 'settings'>,
  authorId: string,
  now: Date,
): Promise<AuthorHistory> {
  const [replies, seen] = await Promise.all([
    growth.posts.toAuthor(authorId),
    growth.discovered.byAuthor(authorId, SEEN_LIMIT),
  ]);
  const today = dayOf(now, settings.schedule.timezone).start.toISOString();
  const measured = replies.filter((reply) => reply.measured_at !== null);
  return {
    replies_sent: replies.length,
    replies_today: replies.filter((reply) => reply.created_at >= today).length,
    last_reply_at: replies[0]?.posted_at ?? null,
    posts_seen: seen.length,
    mentions_received: seen.filter((post) => post.source === 'mention').length,
    measured_replies: measured.length,
    response_rate: ratio(measured, (reply) => (reply.replies ?? 0) > 0),
    avg_reply_score:
      measured.length === 0
        ? null
        : measured.reduce((sum, reply) => sum + (reply.score ?? 0), 0) / measured.length,
    recent_replies: replies.slice(0, SHOWN_REPLIES).map((reply) => ({
      tweet_id: reply.tweet_id ?? '',
      text: reply.text,
      posted_at: reply.posted_at ?? reply.created_at,
    })),
  };
}

/** What speaks against another reply to this author. */
export function riskSignals(history: AuthorHistory, maxPerDay: number): string[] {
  const risks: string[] = [];
  if (history.replies_today >= maxPerDay) risks.push('high_frequency_today');
  if (history.measured_replies >= 3 && (history.response_rate ?? 0) < 0.1) risks.push('low_response_rate');
  if (history.replies_sent > 0 && history.measured_replies === 0) risks.push('no_measured_performance');
  if (history.replies_sent === 0 && history.mentions_received === 0) risks.push('no_prior_interaction');
  return risks;
}

const ratio = (rows: readonly PostRow[], test: (row: PostRow) => boolean): number | null =>
  rows.length === 0 ? null : rows.filter(test).length / rows.length;
