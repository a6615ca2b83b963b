import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { postId, readPosts } from '../client/read.ts';
import { ARCHETYPE_NAMES } from '../content/prompts.ts';
import { X_ERRORS } from '../errors.ts';
import { type Found, foundFrom, keepFound, postById } from '../growth/discovered.ts';
import { matchedKeyword, type Score } from '../growth/scoring.ts';
import { defineXTool, type XServices } from '../services.ts';
import { scoreShape } from '../views.ts';

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
  errors: [...X_ERRORS, 'invalid_input', 'db_error', 'validation_error'],
  requires: { xClient: true, db: true },
  input: z.object({
    query: z.string().min(1).max(512).optional().describe('Default: your product keywords.'),
    min_score: z.number().min(0).max(100).optional().describe('Default: scoring.threshold.'),
    limit: z.number().int().min(1).max(100).default(10),
    since_id: postId.optional(),
  }),
  output: z.object({
    query: z.string(),
    searched: z.number(),
    newest_id: z.string().nullable(),
    threshold: z.number(),
    min_score: z.number(),
    candidates: z.array(
      z.object({
        tweet_id: z.string(),
        author_id: z.string(),
        author_username: z.string(),
        author_followers: z.number(),
        text: z.string(),
        created_at: z.string(),
        score: scoreShape,
        recommended_action: z.enum(['strong_reply', 'consider', 'skip']),
        already_replied: z.boolean(),
      }),
    ),
  }),
  async run({ query, min_score, limit, since_id }, context) {
    const { services } = context;
    const { threshold } = services.settings.scoring;
    const wanted = min_score ?? threshold;
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
      .filter(({ score }) => score.total >= wanted)
      .sort((a, b) => b.score.total - a.score.total)
      .slice(0, limit);
    const replied = await services.growth.posts.repliedTo(worthy.map(({ post }) => post.tweetId));
    return {
      query: search,
      searched: found.length,
      newest_id: meta.newest_id ?? null,
      threshold,
      min_score: wanted,
      candidates: worthy.map(({ post, score }) => ({
        tweet_id: post.tweetId,
        author_id: post.authorId,
        author_username: post.authorUsername,
        author_followers: post.authorFollowers,
        text: post.text,
        created_at: post.createdAt,
        score,
        recommended_action: recommend(score.total, threshold),
        already_replied: replied.has(post.tweetId),
      })),
    };
  },
});

/** By the configured threshold, like `meets_threshold`: a caller who lowers min_score sees more, not better posts. */
function recommend(score: number, threshold: number): 'strong_reply' | 'consider' | 'skip' {
  if (score < threshold) return 'skip';
  return score >= threshold + STRONG ? 'strong_reply' : 'consider';
}

/** A search with operators is no word that a person would recognise as their keyword. */
const plainWords = (query: string): string | undefined =>
  /[:"()]|\bOR\b|(^|\s)-/.test(query) ? undefined : query;

/** Own posts and reposts are nothing to answer. */
function keywordQuery({ settings }: Pick<XServices, 'settings'>): string {
  const { product_keywords } = settings.business;
  if (product_keywords.length === 0) {
    throw new ToolError('validation_error', 'No query is given and business.product_keywords is empty.', {
      detail: { field: 'query' },
    });
  }
  const words = product_keywords.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' OR ');
  return `(${words}) -is:retweet`;
}

const draft = z.object({
  tweet_id: z.string(),
  author_username: z.string(),
  text: z.string(),
  length: z.number(),
  archetype: z.enum(ARCHETYPE_NAMES),
  confidence: z.enum(['high', 'medium', 'low']),
});

export const draftRepliesForCandidates = defineXTool({
  name: 'draft_replies_for_candidates',
  title: 'Draft replies for posts',
  summary: 'Drafts one reply per post with the language model; hand the drafts to propose_and_queue_replies.',
  effect: 'read',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  errors: ['invalid_input', 'llm_not_configured', 'llm_error', 'db_error', ...X_ERRORS],
  requires: { db: true, llm: true },
  deadlineMs: 600_000,
  input: z.object({
    tweet_ids: z.array(postId).min(1).max(20),
    archetype: z.enum(ARCHETYPE_NAMES).optional(),
    mention_product: z.boolean().default(false),
  }),
  output: z.object({
    drafts: z.array(draft),
    failed: z.array(z.object({ tweet_id: z.string(), code: z.string(), message: z.string() })),
  }),
  async run({ tweet_ids, archetype, mention_product }, context) {
    const { services, signal, progress } = context;
    const drafts: z.input<typeof draft>[] = [];
    const failures: { tweet_id: string; fault: ToolError }[] = [];
    for (const [index, tweet_id] of [...new Set(tweet_ids)].entries()) {
      progress(`Drafting a reply to ${tweet_id}`, index, tweet_ids.length);
      try {
        const post = await postById(context, tweet_id);
        const wanted = {
          post: { author: post.authorUsername, text: post.text },
          archetype,
          mentionProduct: mention_product,
        };
        const written = await services.writer.reply(wanted, signal);
        drafts.push({
          tweet_id,
          author_username: post.authorUsername,
          ...written,
          confidence: confidenceOf(written.length),
        });
      } catch (error) {
        // One post that is gone must not cost the drafts for the others; a missing model costs them all.
        if (!(error instanceof ToolError) || error.code === 'llm_not_configured') throw error;
        failures.push({ tweet_id, fault: error });
      }
    }
    const [first] = failures;
    if (first && drafts.length === 0) throw first.fault;
    return {
      drafts,
      failed: failures.map(({ tweet_id, fault }) => ({ tweet_id, code: fault.code, message: fault.message })),
    };
  },
});

/** Short replies read as written by a person. */
const confidenceOf = (length: number) => (length < 200 ? 'high' : length < 260 ? 'medium' : 'low');
