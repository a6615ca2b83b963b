import type { XApi } from '../client/api.ts';
import { pageOf, postsFrom, type XPost } from '../client/read.ts';
import { isSentText } from './text.ts';

export interface SentPost {
  readonly text: string;
  readonly inReplyTo?: string | undefined;
  readonly quoted?: string | undefined;
  /** Root of the thread the post belongs to, where it is known. */
  readonly conversation?: string | undefined;
  /** Posts that are known to be others, such as the parts before it. */
  readonly others?: readonly string[];
  /** Nothing older than this can be it. */
  readonly since: Date;
}

/**
 * What X shows of a request whose answer was lost. `undecided`: a post that may be it, or more posts than were read. It
 * must never be taken for `absent`, because then it would be posted twice.
 */
export type Sighting =
  | { readonly state: 'found'; readonly post: XPost }
  | { readonly state: 'absent' }
  | { readonly state: 'undecided'; readonly post: XPost | undefined };

/** X's clock and ours may differ; a repeated text within this time is refused before it is sent. */
const CLOCK_SLACK_MS = 600_000;
const PAGE_SIZE = 100;
const MAX_PAGES = 5;

/** Looks for a post among the account's latest ones: the way to know what became of an interrupted call. */
export async function findOwnPost(
  x: XApi,
  sent: SentPost,
  options: { readonly signal: AbortSignal; readonly callId: string },
): Promise<Sighting> {
  const me = await x.me(options);
  const earliest = sent.since.getTime() - CLOCK_SLACK_MS;
  let doubtful: XPost | undefined;
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = { user_id: me.id, max_results: PAGE_SIZE, ...(token ? { pagination_token: token } : {}) };
    const reply = await x.request('user_tweets', params, options);
    const posts = postsFrom(reply);
    for (const post of posts) {
      const match = compare(post, sent, earliest);
      if (match === 'yes') return { state: 'found', post };
      if (match === 'perhaps') doubtful ??= post;
    }
    token = pageOf(reply, posts.length).next_token;
    // Timelines are newest first.
    if (!token || posts.some((post) => createdAt(post) < earliest)) {
      return doubtful ? { state: 'undecided', post: doubtful } : { state: 'absent' };
    }
  }
  return { state: 'undecided', post: doubtful };
}

const createdAt = (post: XPost): number =>
  typeof post.created_at === 'string' ? Date.parse(post.created_at) : Number.NaN;

/** Author and text first, then what the post refers to, then its conversation, then its date. */
function compare(post: XPost, sent: SentPost, earliest: number): 'yes' | 'no' | 'perhaps' {
  if (sent.others?.includes(post.id) || !isSentText(sent.text, post.text)) return 'no';
  const references = Array.isArray(post.referenced_tweets) ? post.referenced_tweets : [];
  const referred = (type: string): string | undefined => references.find((one) => one?.type === type)?.id;
  const at = createdAt(post);
  if (references.length > 0) {
    if (referred('replied_to') !== sent.inReplyTo || referred('quoted') !== sent.quoted) return 'no';
    // A reply to a part of our own thread can be nothing else, no matter what the clocks say.
    if (sent.conversation !== undefined && sent.inReplyTo !== undefined) return 'yes';
    return at < earliest ? 'no' : 'yes';
  }
  if (at < earliest) return 'no';
  const { conversation_id: conversation } = post;
  if (sent.quoted !== undefined) return 'perhaps';
  if (sent.inReplyTo !== undefined) {
    return conversation !== undefined && conversation === (sent.conversation ?? sent.inReplyTo)
      ? 'yes'
      : 'perhaps';
  }
  if (conversation !== undefined && conversation !== post.id) return 'no';
  return Number.isNaN(at) ? 'perhaps' : 'yes';
}
