import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { CHANGE_PROFILES, type ToolContext } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { sourceIn } from '../approval-view.ts';
import { postId, readUser, userShape } from '../client/read.ts';
import { POST_ERRORS, XError } from '../errors.ts';
import { postById } from '../growth/discovered.ts';
import {
  authorHistory,
  historyShape,
  keywordsOf,
  recommend,
  riskSignals,
  scorePost,
} from '../growth/scoring.ts';
import { accountOf, PUBLIC, postBlock, postNamed } from '../present.ts';
import { defineXTool, type XServices } from '../services.ts';
import { scoreShape } from '../views.ts';
import { postText } from './posts.ts';

const result = z.object({
  tweet_id: z.string(),
  status: z.enum(['queued', 'executed', 'dry_run', 'failed']),
  approval_queue_id: z.number().optional(),
  reply_id: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export const proposeAndQueueReplies = defineXTool({
  name: 'propose_and_queue_replies',
  title: 'Propose replies',
  summary: 'Sends drafted replies one by one: each is queued for approval or posted, as the policy says.',
  effect: 'change',
  reach: 'network',
  category: 'composite',
  profiles: CHANGE_PROFILES,
  errors: ['invalid_input', 'db_error', ...POST_ERRORS],
  requires: { xClient: true, db: true },
  composite: true,
  deadlineMs: 300_000,
  input: z.object({
    drafts: z
      .array(z.object({ tweet_id: postId, text: postText }).strict())
      .min(1)
      .max(20)
      .describe('From draft_replies_for_candidates.'),
  }),
  output: z.object({
    queued: z.number(),
    executed: z.number(),
    failed: z.number(),
    results: z.array(result),
  }),
  async present({ drafts }, context) {
    const { author, handle, target } = await accountOf(context);
    const body = await Promise.all(
      drafts.map(async ({ tweet_id, text }) => {
        const post = await postNamed(context, tweet_id);
        return postBlock(author, text, { context: post && { ...post.quoted, as: 'reply' } });
      }),
    );
    const count = drafts.length === 1 ? '1 reply' : `${drafts.length} replies`;
    return {
      ...PUBLIC,
      title: `Send ${count} as ${handle}`,
      done: `Sent ${count} as ${handle}`,
      act: 'send',
      kind: 'post',
      gist: drafts.map(({ text }) => text).join(' · '),
      target,
      body,
      covers: ['drafts'],
    };
  },
  async run({ drafts }, context) {
    const results: z.input<typeof result>[] = [];
    let firstFault: ToolError | undefined;
    let inDoubt = false;
    for (const [index, { tweet_id, text }] of drafts.entries()) {
      if (context.signal.aborted) break;
      context.progress(`Reply ${index + 1} of ${drafts.length}`, index, drafts.length);
      const outcome = await context.call('x_reply_to_tweet', { text, in_reply_to_id: tweet_id });
      context.note(sourceIn(outcome));
      results.push({ tweet_id, ...describeOutcome(outcome) });
      if ('fault' in outcome) firstFault ??= outcome.fault;
      if (outcome.status === 'indeterminate') inDoubt = true;
    }
    // A fault says that nothing happened, and an approval would come back to be run again: only when that is certain.
    if (firstFault && !inDoubt && results.every((item) => item.status === 'failed')) throw firstFault;
    const count = (status: string): number => results.filter((item) => item.status === status).length;
    return { queued: count('queued'), executed: count('executed'), failed: count('failed'), results };
  },
  /** Each reply is a call of its own, with its own record; what is asked here is only how many went out. */
  async reconcile({ drafts }, { services }) {
    const replied = await services.growth.posts.repliedTo(drafts.map(({ tweet_id }) => tweet_id));
    if (replied.size === 0) return { settled: 'not_done' };
    if (replied.size < drafts.length) {
      return {
        settled: 'unknown',
        why: `${replied.size} of ${drafts.length} replies were posted; see get_recent_replies.`,
      };
    }
    const results = drafts.map(({ tweet_id }) => ({ tweet_id, status: 'executed' }));
    return { settled: 'done', data: { queued: 0, executed: drafts.length, failed: 0, results } };
  },
});

function describeOutcome(outcome: Outcome): Omit<z.input<typeof result>, 'tweet_id'> {
  switch (outcome.status) {
    case 'ok': {
      const { data } = outcome;
      const id = isObject(data) ? data.id : undefined;
      return { status: 'executed', ...(typeof id === 'string' ? { reply_id: id } : {}) };
    }
    case 'routed':
      return { status: 'queued', approval_queue_id: outcome.approvalId };
    case 'dry_run':
      return { status: 'dry_run' };
    case 'needs_person':
      return { status: 'failed', error: { code: 'approval_required', message: outcome.question } };
    default: {
      const { code, message } = outcome.fault;
      return { status: 'failed', error: { code, message } };
    }
  }
}

export const recommendEngagementAction = defineXTool({
  name: 'recommend_engagement_action',
  title: 'Recommend an engagement',
  summary: 'Whether to reply to a post, watch it or skip it, with the reasons.',
  effect: 'read',
  reach: 'network',
  category: 'context',
  profiles: CHANGE_PROFILES,
  errors: ['x_not_configured', 'recommendation_error', 'db_error'],
  requires: { xClient: true, db: true },
  input: z.object({ tweet_id: postId, campaign_objective: z.string().max(500).optional() }),
  output: z.object({
    tweet_id: z.string(),
    author_username: z.string(),
    recommended_action: z.enum(['reply', 'observe', 'skip']),
    score: z.number(),
    confidence: z.number(),
    factors: z.array(
      z.object({ factor: z.string(), weight: z.number(), score: z.number(), reason: z.string() }),
    ),
    blocked_by: z.string().nullable(),
    tweet_score: scoreShape,
    risk_signals: z.array(z.string()),
  }),
  async run({ tweet_id, campaign_objective }, context) {
    const { services, now } = context;
    const { limits, business } = services.settings;
    const post = await readable(context, tweet_id);
    const [history, usage, replied] = await Promise.all([
      authorHistory(services, post.authorId, now()),
      services.safety.usage(),
      services.growth.posts.repliedTo([tweet_id]),
    ]);
    const repliesToday = usage.find(({ action }) => action === 'reply')?.used ?? 0;
    const blocked = replied.has(tweet_id)
      ? 'already_replied'
      : repliesToday >= limits.max_replies_per_day
        ? 'max_replies_per_day'
        : history.replies_today >= limits.max_replies_per_author_per_day
          ? 'max_replies_per_author_per_day'
          : undefined;
    const { action, score, confidence, factors } = recommend({
      text: post.text,
      keywords: keywordsOf(business),
      history,
      maxPerAuthor: limits.max_replies_per_author_per_day,
      repliesToday,
      maxReplies: limits.max_replies_per_day,
      objective: campaign_objective,
      blocked,
    });
    return {
      tweet_id,
      author_username: post.authorUsername,
      recommended_action: action,
      score,
      confidence,
      factors: [...factors],
      blocked_by: blocked ?? null,
      tweet_score: scorePost(post, services.settings, now()),
      risk_signals: riskSignals(history, limits.max_replies_per_author_per_day),
    };
  },
});

async function readable(context: ToolContext<XServices>, tweetId: string) {
  try {
    return await postById(context, tweetId);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code === 'x_not_configured' || error.code === 'db_error')
      throw error;
    throw new XError('recommendation_error', `Post ${tweetId} could not be read: ${error.message}`, {
      cause: error,
      detail: { tweet_id: tweetId, cause: error.code },
    });
  }
}

export const getAuthorContext = defineXTool({
  name: 'get_author_context',
  title: 'Get author context',
  summary: "An author's profile, your past exchanges, and reasons against another reply.",
  effect: 'read',
  reach: 'network',
  category: 'context',
  profiles: CHANGE_PROFILES,
  errors: ['x_not_configured', 'context_error', 'db_error'],
  requires: { xClient: true, db: true },
  input: z.object({
    author_id: z
      .string()
      .regex(/^(\d{1,19}|@?\w{1,15})$/, 'must be a numeric id or a username')
      .describe('Id or @username.'),
  }),
  output: z.object({
    author: userShape,
    history: historyShape,
    recent_posts: z.array(
      z.object({ tweet_id: z.string(), text: z.string(), score: z.number(), created_at: z.string() }),
    ),
    risk_signals: z.array(z.string()),
  }),
  async run({ author_id }, context) {
    const { services, now } = context;
    const author = await profileOf(context, author_id);
    const [history, seen] = await Promise.all([
      authorHistory(services, author.id, now()),
      services.growth.discovered.byAuthor(author.id, 5),
    ]);
    return {
      author,
      history,
      recent_posts: seen.map(({ tweet_id, text, score, created_at }) => ({
        tweet_id,
        text,
        score,
        created_at,
      })),
      risk_signals: riskSignals(history, services.settings.limits.max_replies_per_author_per_day),
    };
  },
});

async function profileOf(context: ToolContext<XServices>, author: string) {
  const name = author.replace('@', '');
  try {
    return /^\d+$/.test(author)
      ? await readUser(context, 'user_by_id', { user_id: author })
      : await readUser(context, 'user_by_username', { username: name });
  } catch (error) {
    if (!(error instanceof ToolError) || error.code === 'x_not_configured') throw error;
    throw new XError('context_error', `The profile of ${author} could not be read: ${error.message}`, {
      cause: error,
      detail: { author_id: author, cause: error.code },
    });
  }
}
