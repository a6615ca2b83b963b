import type { ToolContext } from '../../../contract/tool.ts';
import type { Found } from '../growth/discovered.ts';
import type { DiscoveredRow } from '../growth/tables.ts';
import type { XServices } from '../services.ts';
import { readPost } from './read-x.ts';
import { scorePost } from './scoring.ts';
import { numberAt, type XPost } from './x-replies.ts';

/** A post of X in the form the growth engine keeps; undefined when X did not say who wrote it. */
export function foundFrom(post: XPost): Found | undefined {
  const { author } = post;
  const authorId = typeof post.author_id === 'string' ? post.author_id : author?.id;
  if (!authorId) return undefined;
  const refs = Array.isArray(post.referenced_tweets) ? post.referenced_tweets : [];
  return {
    tweetId: post.id,
    authorId,
    authorUsername: author?.username ?? '',
    authorFollowers: author ? numberAt(author, 'public_metrics', 'followers_count') : 0,
    text: post.text,
    createdAt: typeof post.created_at === 'string' ? post.created_at : '',
    likes: numberAt(post, 'public_metrics', 'like_count'),
    retweets: numberAt(post, 'public_metrics', 'retweet_count'),
    replies: numberAt(post, 'public_metrics', 'reply_count'),
    hasMedia: post.attachments !== undefined,
    isQuote: refs.some((ref) => ref?.type === 'quoted'),
  };
}

/** Scores a post and keeps it for the discovery feed. */
export async function keepFound(
  context: Pick<ToolContext<XServices>, 'services' | 'now'>,
  post: Found,
  origin: { readonly source: DiscoveredRow['source']; readonly keyword?: string },
) {
  const { services, now } = context;
  const score = scorePost(post, services.settings, now());
  await services.growth.discovered.save(post, score, { ...origin, at: now() });
  return score;
}

/** A post by id: from the store when it is known there, else from X. */
export async function postById(context: ToolContext<XServices>, tweetId: string): Promise<Found> {
  const known = await context.services.growth.discovered.get(tweetId);
  if (known) return fromRow(known);
  const post = await readPost(context, { tweet_id: tweetId });
  return foundFrom(post) ?? unknownAuthor(post);
}

const fromRow = (row: DiscoveredRow): Found => ({
  tweetId: row.tweet_id,
  authorId: row.author_id,
  authorUsername: row.author_username,
  authorFollowers: row.author_followers,
  text: row.text,
  createdAt: row.created_at,
  likes: row.likes,
  retweets: row.retweets,
  replies: row.replies,
  hasMedia: row.has_media === 1,
  isQuote: row.is_quote === 1,
});

const unknownAuthor = (post: XPost): Found => ({
  tweetId: post.id,
  authorId: '',
  authorUsername: '',
  authorFollowers: 0,
  text: post.text,
  createdAt: '',
  likes: 0,
  retweets: 0,
  replies: 0,
  hasMedia: false,
  isQuote: false,
});
