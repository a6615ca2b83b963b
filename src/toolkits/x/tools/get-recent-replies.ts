import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { sinceHours, sinceOf } from '../lib/since.ts';
import { defineXTool } from '../services.ts';

export const getRecentReplies = defineXTool({
  name: 'get_recent_replies',
  title: 'Get recent replies',
  summary: 'Replies posted from here, newest first; the last day unless told.',
  effect: 'read',
  reach: 'local',
  category: 'analytics',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ limit: z.number().int().min(1).max(200).default(20), since_hours: sinceHours }),
  output: z.object({
    count: z.number(),
    replies: z.array(
      z.object({
        tweet_id: z.string(),
        text: z.string(),
        in_reply_to_id: z.string().nullable(),
        author: z.string().nullable(),
        archetype: z.string().nullable(),
        posted_by: z.string(),
        posted_at: z.string(),
        score: z.number().nullable(),
      }),
    ),
  }),
  async run({ limit, since_hours }, { services, now }) {
    const since = sinceOf(now(), { since_hours });
    const rows = await services.growth.posts.latest(['reply'], limit, { since, state: 'posted' });
    const replies = rows.map((row) => ({
      tweet_id: row.tweet_id ?? '',
      text: row.text,
      in_reply_to_id: row.target_tweet_id,
      author: row.target_author,
      archetype: row.style,
      posted_by: row.actor,
      posted_at: row.posted_at ?? row.created_at,
      score: row.score,
    }));
    return { count: replies.length, replies };
  },
});
