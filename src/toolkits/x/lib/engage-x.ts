import type { JsonObject } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import type { ReconcileContext, ToolContext } from '../../../contract/tool.ts';
import type { XApi } from '../client/api.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { reachX, type XServices } from '../services.ts';
import { dataOf } from './x-replies.ts';

type Engagement =
  | 'like'
  | 'unlike'
  | 'retweet'
  | 'unretweet'
  | 'bookmark'
  | 'unbookmark'
  | 'follow'
  | 'unfollow';

/** Sends one engagement and says in the reply's meta how to take it back. */
export async function engage(
  context: ToolContext<XServices>,
  endpoint: Engagement,
  params: JsonObject,
  undoTool: string,
): Promise<JsonObject> {
  const x = await reachX(context);
  const reply = await x.request(endpoint, params, { signal: context.signal, callId: context.callId });
  context.note({ rollback: { reversible: true, undo_tool: undoTool, undo_params: params } });
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
export async function reconcileEngagement(
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
    return { settled: 'unknown', why: `The list is longer than the ${PAGE} entries that were looked at.` };
  }
  const param = list === 'following' ? 'target_user_id' : 'tweet_id';
  return { settled: 'done', data: { [flag]: wanted, [param]: target } };
}

async function firstPage(x: XApi, list: EndpointId, options: { signal: AbortSignal; callId: string }) {
  const me = await x.me(options);
  const { json } = await x.request(list, { user_id: me.id, max_results: PAGE }, options);
  const items = typeof json === 'object' && json !== null && !Array.isArray(json) ? json.data : undefined;
  return Array.isArray(items) ? items : [];
}

const isItem = (item: unknown, id: string): boolean =>
  typeof item === 'object' && item !== null && 'id' in item && item.id === id;

function isRepostOf(item: unknown, id: string): boolean {
  if (typeof item !== 'object' || item === null || !('referenced_tweets' in item)) return false;
  const refs = item.referenced_tweets;
  return Array.isArray(refs) && refs.some((ref) => isItem(ref, id) && ref.type === 'retweeted');
}
