import type { XApi } from '../client/api.ts';
import { isSentText } from './post-text.ts';
import { postsFrom, type XPost } from './x-replies.ts';

export interface SentPost {
  readonly text: string;
  readonly inReplyTo?: string;
  readonly quoted?: string;
  /** Nothing older than this can be it. */
  readonly since: Date;
}

const CLOCK_SLACK_MS = 120_000;

/** Looks for a post among the account's latest ones: the way to know what became of an interrupted call. */
export async function findOwnPost(
  x: XApi,
  sent: SentPost,
  options: { readonly signal: AbortSignal; readonly callId: string },
): Promise<XPost | undefined> {
  const me = await x.me(options);
  const reply = await x.request('user_tweets', { user_id: me.id, max_results: 100 }, options);
  const earliest = sent.since.getTime() - CLOCK_SLACK_MS;
  return postsFrom(reply).find((post) => {
    const createdAt = typeof post.created_at === 'string' ? Date.parse(post.created_at) : Number.NaN;
    // A post without a date is judged by its text alone.
    if (createdAt < earliest) return false;
    return (
      isSentText(sent.text, post.text) &&
      refersTo(post, 'replied_to', sent.inReplyTo) &&
      refersTo(post, 'quoted', sent.quoted)
    );
  });
}

function refersTo(post: XPost, type: string, id: string | undefined): boolean {
  const refs = Array.isArray(post.referenced_tweets) ? post.referenced_tweets : [];
  const found = refs.find((ref): ref is { type: string; id: string } => ref?.type === type);
  return found?.id === id;
}
