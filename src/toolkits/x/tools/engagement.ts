import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { CHANGE_PROFILES, type ReconcileContext, type ToolContext } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { XApi } from '../client/api.ts';
import { dataOf, postId, userId } from '../client/read.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { ENGAGE_ERRORS } from '../errors.ts';
import { presentOnPost, presentOnUser } from '../present.ts';
import { requirementsFor } from '../requirements.ts';
import { defineXTool, reachX, type XServices } from '../services.ts';

type Engagement =
  | 'like'
  | 'unlike'
  | 'retweet'
  | 'unretweet'
  | 'bookmark'
  | 'unbookmark'
  | 'follow'
  | 'unfollow';

/** Sends one engagement. X accepted it even where the answer lacks the flag, so only an explicit value contradicts it. */
async function engage(
  context: ToolContext<XServices>,
  endpoint: Engagement,
  params: JsonObject,
): Promise<JsonObject> {
  const x = await reachX(context);
  const reply = await x.request(endpoint, params, { signal: context.signal, callId: context.callId });
  return dataOf(reply);
}

/** Where each engagement can be seen afterwards, newest first, and whether it should be there. */
const SEEN_IN = {
  like: { list: 'liked_tweets', flag: 'liked', wanted: true },
  unlike: { list: 'liked_tweets', flag: 'liked', wanted: false },
  bookmark: { list: 'bookmarks', flag: 'bookmarked', wanted: true },
  unbookmark: { list: 'bookmarks', flag: 'bookmarked', wanted: false },
  follow: { list: 'following', flag: 'following', wanted: true },
  unfollow: { list: 'following', flag: 'following', wanted: false },
  retweet: { list: 'user_tweets', flag: 'retweeted', wanted: true },
  unretweet: { list: 'user_tweets', flag: 'retweeted', wanted: false },
} as const satisfies Record<Engagement, { list: EndpointId; flag: string; wanted: boolean }>;

const PAGE = 100;

/** A fresh engagement stands on the first page; that one was removed shows only where all of the list was seen. */
async function reconcileEngagement(
  { services, signal, callId }: ReconcileContext<XServices>,
  endpoint: Engagement,
  target: string,
): Promise<Settlement> {
  const { list, flag, wanted } = SEEN_IN[endpoint];
  const x = await services.x();
  const items = await firstPage(x, list, { signal, callId });
  const present = items.some((item) => isItem(item, target) || isRepostOf(item, target));
  if (present !== wanted) return { settled: 'not_done' };
  if (!wanted && items.length >= PAGE) {
    return { settled: 'unknown', why: `The list is longer than the ${PAGE} entries that were read.` };
  }
  const param = list === 'following' ? 'target_user_id' : 'tweet_id';
  return { settled: 'done', data: { [flag]: wanted, [param]: target } };
}

async function firstPage(x: XApi, list: EndpointId, options: { signal: AbortSignal; callId: string }) {
  const me = await x.me(options);
  const { json } = await x.request(list, { user_id: me.id, max_results: PAGE }, options);
  const items = isObject(json) ? json.data : undefined;
  return Array.isArray(items) ? items : [];
}

const isItem = (item: unknown, id: string): boolean =>
  typeof item === 'object' && item !== null && 'id' in item && item.id === id;

function isRepostOf(item: unknown, id: string): boolean {
  if (typeof item !== 'object' || item === null || !('referenced_tweets' in item)) return false;
  const refs = item.referenced_tweets;
  return Array.isArray(refs) && refs.some((ref) => isItem(ref, id) && ref.type === 'retweeted');
}

export const xLikeTweet = defineXTool({
  name: 'x_like_tweet',
  title: 'Like a post',
  summary: 'Likes a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'like_tweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['like'], ['like.read']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ liked: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Like',
      done: 'Liked',
      effect: { text: 'Visible to the author and others' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_unlike_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'like', { tweet_id });
    return { liked: data.liked !== false, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'like', tweet_id),
});

export const xUnlikeTweet = defineXTool({
  name: 'x_unlike_tweet',
  title: 'Unlike a post',
  summary: 'Unlikes a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unlike_tweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['unlike'], ['like.read']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ liked: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Unlike',
      done: 'Unliked',
      effect: { text: 'The like is removed' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_like_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'unlike', { tweet_id });
    return { liked: data.liked === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'unlike', tweet_id),
});

export const xRetweet = defineXTool({
  name: 'x_retweet',
  title: 'Repost',
  summary: 'Reposts a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'retweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['retweet']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ retweeted: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Repost',
      done: 'Reposted',
      effect: { text: 'Public immediately' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_unretweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'retweet', { tweet_id });
    return { retweeted: data.retweeted !== false, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'retweet', tweet_id),
});

export const xUnretweet = defineXTool({
  name: 'x_unretweet',
  title: 'Undo a repost',
  summary: 'Undoes a repost.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unretweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['unretweet']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ retweeted: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Undo the repost of',
      done: 'Undid the repost of',
      effect: { text: 'The repost is removed' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_retweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'unretweet', { tweet_id });
    return { retweeted: data.retweeted === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'unretweet', tweet_id),
});

export const xBookmarkTweet = defineXTool({
  name: 'x_bookmark_tweet',
  title: 'Bookmark a post',
  summary: 'Bookmarks a post.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'bookmark_tweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['bookmark'], ['bookmark.read']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ bookmarked: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Bookmark',
      done: 'Bookmarked',
      effect: { text: 'Only you see it' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_unbookmark_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'bookmark', { tweet_id });
    return { bookmarked: data.bookmarked !== false, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'bookmark', tweet_id),
});

export const xUnbookmarkTweet = defineXTool({
  name: 'x_unbookmark_tweet',
  title: 'Remove a bookmark',
  summary: 'Removes a bookmark.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unbookmark_tweet',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['unbookmark'], ['bookmark.read']),
  input: z.object({ tweet_id: postId }),
  output: z.object({ bookmarked: z.boolean(), tweet_id: z.string() }),
  present: ({ tweet_id }, context) =>
    presentOnPost(context, tweet_id, {
      verb: 'Remove the bookmark of',
      done: 'Removed the bookmark of',
      effect: { text: 'Only you saw it' },
      covers: ['tweet_id'],
    }),
  rollback: ({ tweet_id }) => ({ tool: 'x_bookmark_tweet', args: { tweet_id } }),
  async run({ tweet_id }, context) {
    const data = await engage(context, 'unbookmark', { tweet_id });
    return { bookmarked: data.bookmarked === true, tweet_id };
  },
  reconcile: ({ tweet_id }, context) => reconcileEngagement(context, 'unbookmark', tweet_id),
});

export const xFollowUser = defineXTool({
  name: 'x_follow_user',
  title: 'Follow a user',
  summary: 'Follows a user.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'follow_user',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['follow'], ['follows.read']),
  input: z.object({ target_user_id: userId }),
  output: z.object({
    following: z.boolean(),
    target_user_id: z.string(),
    pending_follow: z.boolean().optional(),
  }),
  present: ({ target_user_id }, context) =>
    presentOnUser(context, target_user_id, {
      verb: 'Follow',
      done: 'Followed',
      effect: { text: 'They are notified' },
      covers: ['target_user_id'],
    }),
  rollback: ({ target_user_id }) => ({ tool: 'x_unfollow_user', args: { target_user_id } }),
  async run({ target_user_id }, context) {
    const data = await engage(context, 'follow', { target_user_id });
    return {
      following: data.following !== false && data.pending_follow !== true,
      target_user_id,
      ...(data.pending_follow === true ? { pending_follow: true } : {}),
    };
  },
  reconcile: ({ target_user_id }, context) => reconcileEngagement(context, 'follow', target_user_id),
});

export const xUnfollowUser = defineXTool({
  name: 'x_unfollow_user',
  title: 'Unfollow a user',
  summary: 'Stops following a user.',
  effect: 'change',
  reach: 'network',
  category: 'engage',
  profiles: CHANGE_PROFILES,
  policyName: 'unfollow_user',
  errors: ENGAGE_ERRORS,
  requires: requirementsFor(['unfollow'], ['follows.read']),
  input: z.object({ target_user_id: userId }),
  output: z.object({ following: z.boolean(), target_user_id: z.string() }),
  present: ({ target_user_id }, context) =>
    presentOnUser(context, target_user_id, {
      verb: 'Stop following',
      done: 'Stopped following',
      effect: { text: 'They are not notified' },
      covers: ['target_user_id'],
    }),
  rollback: ({ target_user_id }) => ({ tool: 'x_follow_user', args: { target_user_id } }),
  async run({ target_user_id }, context) {
    const data = await engage(context, 'unfollow', { target_user_id });
    return { following: data.following === true, target_user_id };
  },
  reconcile: ({ target_user_id }, context) => reconcileEngagement(context, 'unfollow', target_user_id),
});
