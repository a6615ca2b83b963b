import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ReconcileContext, ToolContext } from '../../../contract/tool.ts';
import { reachX, type XServices } from '../services.ts';
import { findOwnPost } from './own-posts.ts';
import { targetAuthor } from './target-author.ts';
import { dataOf } from './x-replies.ts';

export interface PostWish {
  readonly kind: 'tweet' | 'reply' | 'quote';
  readonly text: string;
  readonly mediaIds?: readonly string[];
  readonly inReplyTo?: string;
  readonly quoted?: string;
}

export interface Posted {
  readonly id: string;
  readonly text: string;
}

/** The one way a single post goes out: reserved against the limits, sent, written down. */
export async function sendPost(context: ToolContext<XServices>, wish: PostWish): Promise<Posted> {
  const { services, callId } = context;
  const x = await reachX(context);
  if (!x.provider.mutations_available) throw blocked(x.provider.backend);
  const author = wish.inReplyTo ? await targetAuthor(context, wish.inReplyTo) : undefined;
  const target = wish.inReplyTo ?? wish.quoted;
  await services.safety.admit(
    {
      id: callId,
      kind: wish.kind,
      text: wish.text,
      actor: principalName(context.principal),
      ...(target ? { targetTweetId: target } : {}),
      ...(author ? { targetAuthorId: author.id } : {}),
      ...(author?.username ? { targetAuthor: author.username } : {}),
    },
    [wish.text],
  );
  let posted: Posted;
  try {
    const reply = await x.request('create_tweet', requestOf(wish), { signal: context.signal, callId });
    posted = postedFrom(dataOf(reply), wish.text);
  } catch (error) {
    await settleFailure(services, callId, error);
    throw error;
  }
  await writeDown(services, context, wish, posted);
  context.note({
    rollback: { reversible: true, undo_tool: 'x_delete_tweet', undo_params: { tweet_id: posted.id } },
  });
  return posted;
}

/** Said before anything is read for a post that could not be made. */
const blocked = (backend: string): ToolFault =>
  new ToolFault('scraper_mutation_blocked', `The ${backend} backend is read-only here; nothing was posted.`);

export function requestOf({ text, mediaIds, inReplyTo, quoted }: Omit<PostWish, 'kind'>): JsonObject {
  return {
    text,
    ...(inReplyTo ? { in_reply_to_id: inReplyTo } : {}),
    ...(quoted ? { quoted_tweet_id: quoted } : {}),
    ...(mediaIds && mediaIds.length > 0 ? { media_ids: [...mediaIds] } : {}),
  };
}

/** The post is out: a reply without its id would be reported as a failure and made again. */
export function postedFrom(data: JsonObject, text: string): Posted {
  if (typeof data.id === 'string')
    return { id: data.id, text: typeof data.text === 'string' ? data.text : text };
  throw new ToolFault('x_api_error', 'X took the post but sent no id for it.', {
    effect: 'unknown',
    retryable: false,
  });
}

/** The record must not turn a failure into another one, nor hide it. */
export async function settleFailure(services: XServices, postId: string, error: unknown): Promise<void> {
  const { posts } = services.growth;
  const code = error instanceof ToolFault ? error.code : 'internal';
  const certain = error instanceof ToolFault && error.effect === 'none';
  await (certain ? posts.failed(postId, code) : posts.inDoubt(postId, code)).catch((failure: unknown) =>
    services.log.error('A failed post could not be written down', { call: postId, error: String(failure) }),
  );
}

/** The post is out whatever the store says, so a failure to record it is logged and not told as one. */
async function writeDown(
  services: XServices,
  context: ToolContext<XServices>,
  wish: PostWish,
  posted: Posted,
) {
  const { posts, discovered, journal } = services.growth;
  try {
    await posts.posted(context.callId, posted.id, context.now());
    if (wish.inReplyTo) await discovered.mark(wish.inReplyTo, 'replied');
    const actor = principalName(context.principal);
    await journal.act(context.now(), wish.kind, 'success', `Posted ${posted.id}`, {
      tweet_id: posted.id,
      actor,
    });
  } catch (error) {
    services.log.error('A post could not be written down', { call: context.callId, error: String(error) });
  }
}

/** After a crash or a broken connection: is the post among the account's latest ones? */
export async function reconcilePost(
  context: ReconcileContext<XServices>,
  wish: PostWish,
): Promise<Settlement> {
  const { services, callId, startedAt } = context;
  const x = await services.x();
  const found = await findOwnPost(x, { ...wish, since: startedAt }, context);
  if (found) {
    await services.growth.posts.posted(callId, found.id, startedAt);
    return { settled: 'done', data: { id: found.id, text: wish.text, ...targetOf(wish) } };
  }
  await services.growth.posts.failed(callId, 'x_network_error');
  return { settled: 'not_done' };
}

const targetOf = ({ inReplyTo, quoted }: Pick<PostWish, 'inReplyTo' | 'quoted'>) => ({
  ...(inReplyTo ? { in_reply_to_id: inReplyTo } : {}),
  ...(quoted ? { quoted_tweet_id: quoted } : {}),
});
