import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { Found } from '../growth/discovered.ts';
import { X_FAULTS } from '../lib/fault-codes.ts';
import { foundFrom, keepFound } from '../lib/found-post.ts';
import { postId, readPosts } from '../lib/read-x.ts';
import { matchedKeyword, type Score, scoreShape } from '../lib/scoring.ts';
import { defineXTool, type XServices } from '../services.ts';

const STRONG = 15;
const SMALLEST_SEARCH = 10;

export const findReplyOpportunities = defineXTool({
  name: 'find_reply_opportunities',
  title: 'Find reply opportunities',
  summary: 'Searches X, scores what it finds and returns the posts worth a reply, best first.',
  effect: 'read',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  faults: [...X_FAULTS, 'invalid_input', 'db_error', 'validation_error'],
  requires: { xClient: true, db: true },
  input: z.object({
    query: z.string().min(1).max(512).optional().describe('Your product keywords unless told.'),
    min_score: z.number().min(0).max(100).optional().describe('scoring.threshold unless told.'),
    limit: z.number().int().min(1).max(100).default(10),
    since_id: postId.optional(),
  }),
  output: z.object({
    query: z.string(),
    searched: z.number(),
    newest_id: z.string().nullable(),
    threshold: z.number(),
    candidates: z.array(
      z.object({
        tweet_id: z.string(),
        author_id: z.string(),
        author_username: z.string(),
        author_followers: z.number(),
        text: z.string(),
        created_at: z.string(),
        score: scoreShape,
        recommended_action: z.enum(['strong_reply', 'consider']),
        already_replied: z.boolean(),
      }),
    ),
  }),
  async run({ query, min_score, limit, since_id }, context) {
    const { services } = context;
    const threshold = min_score ?? services.settings.scoring.threshold;
    const search = query ?? keywordQuery(services);
    const { tweets, meta } = await readPosts(context, 'search_recent', {
      query: search,
      max_results: Math.max(limit, SMALLEST_SEARCH),
      ...(since_id ? { since_id } : {}),
    });
    const found = tweets.flatMap((post) => foundFrom(post) ?? []);
    const scored: { post: Found; score: Score }[] = [];
    for (const post of found) {
      const keyword = matchedKeyword(post.text, services.settings.business) ?? plainWords(search);
      scored.push({ post, score: await keepFound(context, post, { source: 'search', keyword }) });
    }
    const worthy = scored
      .filter(({ score }) => score.total >= threshold)
      .sort((a, b) => b.score.total - a.score.total)
      .slice(0, limit);
    const replied = await services.growth.posts.repliedTo(worthy.map(({ post }) => post.tweetId));
    return {
      query: search,
      searched: found.length,
      newest_id: meta.newest_id ?? null,
      threshold,
      candidates: worthy.map(({ post, score }) => ({
        tweet_id: post.tweetId,
        author_id: post.authorId,
        author_username: post.authorUsername,
        author_followers: post.authorFollowers,
        text: post.text,
        created_at: post.createdAt,
        score,
        recommended_action:
          score.total >= threshold + STRONG ? ('strong_reply' as const) : ('consider' as const),
        already_replied: replied.has(post.tweetId),
      })),
    };
  },
});

/** A search with operators is no word that a person would recognise as their keyword. */
const plainWords = (query: string): string | undefined =>
  /[:"()]|\bOR\b|(^|\s)-/.test(query) ? undefined : query;

/** Own posts and reposts are nothing to answer. */
function keywordQuery({ settings }: Pick<XServices, 'settings'>): string {
  const { product_keywords } = settings.business;
  if (product_keywords.length === 0) {
    throw new ToolFault('validation_error', 'No query is given and business.product_keywords is empty.', {
      detail: { field: 'query' },
    });
  }
  const words = product_keywords.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' OR ');
  return `(${words}) -is:retweet`;
}
