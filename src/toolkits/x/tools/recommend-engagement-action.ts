import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { authorHistory, riskSignals } from '../lib/author-history.ts';
import { postById } from '../lib/found-post.ts';
import { postId } from '../lib/read-x.ts';
import { recommend } from '../lib/recommendation.ts';
import { keywordsOf, scorePost, scoreShape } from '../lib/scoring.ts';
import { defineXTool, type XServices } from '../services.ts';

export const recommendEngagementAction = defineXTool({
  name: 'recommend_engagement_action',
  title: 'Recommend an engagement',
  summary: 'Whether to reply to a post, watch it or skip it, with the reasons.',
  effect: 'read',
  reach: 'network',
  category: 'context',
  profiles: CHANGE_PROFILES,
  faults: ['x_not_configured', 'recommendation_error', 'db_error'],
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
    if (!(error instanceof ToolFault) || error.code === 'x_not_configured' || error.code === 'db_error')
      throw error;
    throw new ToolFault('recommendation_error', `Post ${tweetId} could not be read: ${error.message}`, {
      cause: error,
      detail: { tweet_id: tweetId, cause: error.code },
    });
  }
}
