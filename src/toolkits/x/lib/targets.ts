import { z } from 'zod';
import type { XServices } from '../services.ts';

export const targetsShape = z.object({
  count: z.number(),
  max_replies_per_day: z.number(),
  accounts: z.array(
    z.object({
      username: z.string(),
      user_id: z.string().nullable(),
      posts_seen: z.number(),
      replies_sent: z.number(),
      last_reply_at: z.string().nullable(),
      last_checked_at: z.string().nullable(),
    }),
  ),
});

const POSTS_COUNTED = 200;

export const targetCursor = (username: string): string => `target:${username.toLowerCase()}`;

/** Kept by the target loop once it knows the account. */
export const targetState = z.object({ userId: z.string(), sinceId: z.string().optional() });

export async function targetsOf({
  settings,
  growth,
}: Pick<XServices, 'settings' | 'growth'>): Promise<z.input<typeof targetsShape>> {
  const known = new Map((await growth.journal.cursors('target:')).map((row) => [row.name, row]));
  const accounts = await Promise.all(
    settings.targets.accounts.map(async (name) => {
      const username = name.replace('@', '');
      const row = known.get(targetCursor(username));
      const state = row && targetState.safeParse(JSON.parse(row.value)).data;
      const replies = state ? await growth.posts.toAuthor(state.userId) : [];
      const seen = state ? await growth.discovered.byAuthor(state.userId, POSTS_COUNTED) : [];
      return {
        username,
        user_id: state?.userId ?? null,
        posts_seen: seen.length,
        replies_sent: replies.length,
        last_reply_at: replies[0]?.posted_at ?? null,
        last_checked_at: row?.updated_at ?? null,
      };
    }),
  );
  return {
    count: accounts.length,
    max_replies_per_day: settings.targets.max_target_replies_per_day,
    accounts,
  };
}
