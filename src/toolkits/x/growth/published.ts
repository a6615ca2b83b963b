import type { z } from 'zod';
import type { ViewData } from '../../../contract/view.ts';
import type { XServices } from '../services.ts';
import type { views } from '../views.ts';
import type { PostRow } from './tables.ts';

export type PublishedView = ViewData<typeof views.published>;
type PublishedPost = PublishedView['posts'][number];
type Figures = NonNullable<PublishedPost['figures']>;

const KINDS = ['tweet', 'reply', 'quote', 'thread'] as const;
/** More than an account may post in a year under the default limits. */
const MOST = 5_000;
const DAY_MS = 86_400_000;

/** What was published from here with its figures, searched, sorted, and each thread as one entry. */
export async function publishedPosts(
  services: XServices,
  { search, sort, days, limit }: z.output<typeof views.published.params>,
): Promise<PublishedView> {
  const { growth, now } = services;
  const since = new Date(now().getTime() - days * DAY_MS);
  const rows = await growth.posts.latest(KINDS, MOST, { since, state: 'posted' });
  const wanted = search.trim().toLowerCase();
  const found = rows.filter(({ text, topic }) => `${text}\n${topic ?? ''}`.toLowerCase().includes(wanted));
  const sorted = sort === 'newest' ? found : [...found].sort((a, b) => rankOf(b, sort) - rankOf(a, sort));
  const posts = await Promise.all(sorted.slice(0, limit).map((row) => describe(services, row)));
  return { total: found.length, posts };
}

const engagementOf = (row: PostRow): number => (row.likes ?? 0) + (row.replies ?? 0) + (row.retweets ?? 0);

/** What was not measured yet comes last. */
function rankOf(row: PostRow, sort: 'engagement' | 'impressions'): number {
  if (row.measured_at === null) return -1;
  return sort === 'engagement' ? engagementOf(row) : (row.impressions ?? 0);
}

async function describe({ growth }: XServices, row: PostRow): Promise<PublishedPost> {
  const parts = row.kind === 'thread' ? await growth.threads.parts(row.id) : [];
  const ids = parts.length > 0 ? parts : row.tweet_id ? [row.tweet_id] : [];
  return {
    id: row.id,
    kind: row.kind,
    tweet_id: row.tweet_id,
    texts: textsOf(row, ids.length),
    tweet_ids: ids,
    topic: row.topic,
    actor: row.actor,
    posted_at: row.posted_at,
    in_reply_to: row.kind === 'reply' ? row.target_tweet_id : null,
    figures: figuresOf(row),
  };
}

/** Stored as one text; a part with a blank line of its own cannot be told apart, and then the whole is shown. */
function textsOf({ text }: PostRow, parts: number): string[] {
  const split = text.split('\n\n');
  return split.length === parts ? split : [text];
}

function figuresOf(row: PostRow): Figures | null {
  if (row.measured_at === null) return null;
  return {
    impressions: row.impressions ?? 0,
    likes: row.likes ?? 0,
    replies: row.replies ?? 0,
    retweets: row.retweets ?? 0,
    engagement: engagementOf(row),
    measured_at: row.measured_at,
  };
}
