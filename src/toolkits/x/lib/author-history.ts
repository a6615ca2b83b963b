import { z } from 'zod';
import { dayOf } from '../growth/clock.ts';
import type { PostRow } from '../growth/tables.ts';
import type { XServices } from '../services.ts';

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

/** What passed between the account and one author. A reply counts as answered when somebody replied to it. */
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
