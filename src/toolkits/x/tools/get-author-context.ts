import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { authorHistory, historyShape, riskSignals } from '../lib/author-history.ts';
import { readUser } from '../lib/read-x.ts';
import { userShape } from '../lib/x-replies.ts';
import { defineXTool, type XServices } from '../services.ts';

export const getAuthorContext = defineXTool({
  name: 'get_author_context',
  title: 'Get author context',
  summary: "An author's profile, what was exchanged with them, and what speaks against another reply.",
  effect: 'read',
  reach: 'network',
  category: 'context',
  profiles: CHANGE_PROFILES,
  faults: ['x_not_configured', 'context_error', 'db_error'],
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
    if (!(error instanceof ToolFault) || error.code === 'x_not_configured') throw error;
    throw new ToolFault('context_error', `The profile of ${author} could not be read: ${error.message}`, {
      cause: error,
      detail: { author_id: author, cause: error.code },
    });
  }
}
