import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ReconcileContext, ToolContext } from '../../../contract/tool.ts';
import { dataOf, onePost } from '../client/read.ts';
import { XError } from '../errors.ts';
import { reachX, type XServices } from '../services.ts';
import { findOwnPost } from './sighting.ts';

export interface TargetAuthor {
  readonly id: string;
  readonly username: string | undefined;
}

/**
 * Who is replied to, for the limit per author. Known posts cost nothing; a plan that may post but not read is no
 * reason to refuse, so the post itself then stands for its author.
 */
export async function targetAuthor(context: ToolContext<XServices>, tweetId: string): Promise<TargetAuthor> {
  const known = await context.services.growth.discovered.get(tweetId);
  if (known) return { id: known.author_id, username: known.author_username };
  const x = await reachX(context);
  try {
    const reply = await x.request('tweet_by_id', { tweet_id: tweetId }, context);
    const post = onePost(reply);
    const id = typeof post.author_id === 'string' ? post.author_id : `post:${tweetId}`;
    return { id, username: post.author?.username };
  } catch (error) {
    if (error instanceof ToolError && error.code === 'x_forbidden')
      return { id: `post:${tweetId}`, username: undefined };
    throw error;
  }
}

export interface PostRequest {
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
export async function sendPost(context: ToolContext<XServices>, wanted: PostRequest): Promise<Posted> {
  const { services, callId } = context;
  const x = await reachX(context);
  if (!x.provider.mutations_available) throw blocked(x.provider.backend);
  const author = wanted.inReplyTo ? await targetAuthor(context, wanted.inReplyTo) : undefined;
  const target = wanted.inReplyTo ?? wanted.quoted;
  await services.safety.admit(
    {
      id: callId,
      kind: wanted.kind,
      text: wanted.text,
      actor: principalName(context.principal),
      ...(target ? { targetTweetId: target } : {}),
      ...(author ? { targetAuthorId: author.id } : {}),
      ...(author?.username ? { targetAuthor: author.username } : {}),
    },
    [wanted.text],
  );
  let posted: Posted;
  try {
    const reply = await x.request('create_tweet', requestOf(wanted), { signal: context.signal, callId });
    posted = postedFrom(dataOf(reply), wanted.text);
  } catch (error) {
    await settleFailure(services, callId, error);
    throw error;
  }
  await writeDown(services, context, wanted, posted);
  return posted;
}

/** Said before anything is read for a post that could not be made. */
const blocked = (backend: string): ToolError =>
  new XError('scraper_mutation_blocked', `The ${backend} backend cannot make changes; nothing was posted.`);

export function requestOf({ text, mediaIds, inReplyTo, quoted }: Omit<PostRequest, 'kind'>): JsonObject {
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
  throw new XError('x_api_error', 'X accepted the post but returned no ID for it.', {
    effect: 'unknown',
    retryable: false,
  });
}

/** The record must not turn a failure into another one, nor hide it. */
export async function settleFailure(services: XServices, postId: string, error: unknown): Promise<void> {
  const { posts } = services.growth;
  const code = error instanceof ToolError ? error.code : 'internal';
  const certain = error instanceof ToolError && error.effect === 'none';
  await (certain ? posts.failed(postId, code) : posts.inDoubt(postId, code)).catch((failure: unknown) =>
    services.log.error('A failed post could not be recorded', { call: postId, error: String(failure) }),
  );
}

/** The post is out even if the store fails, so a failure to record it is only logged. */
async function writeDown(
  services: XServices,
  context: ToolContext<XServices>,
  wanted: PostRequest,
  posted: Posted,
) {
  const { posts, discovered, journal } = services.growth;
  try {
    await posts.posted(context.callId, posted.id, context.now());
    if (wanted.inReplyTo) await discovered.mark(wanted.inReplyTo, 'replied');
    const actor = principalName(context.principal);
    await journal.act(context.now(), wanted.kind, 'success', `Posted ${posted.id}`, {
      tweet_id: posted.id,
      actor,
    });
  } catch (error) {
    services.log.error('A post could not be recorded', { call: context.callId, error: String(error) });
  }
}

/** After a crash or a broken connection: is the post among the account's latest ones? */
export async function reconcilePost(
  context: ReconcileContext<XServices>,
  wanted: PostRequest,
): Promise<Settlement> {
  const { services, callId, startedAt } = context;
  const x = await services.x();
  const sighting = await findOwnPost(x, { ...wanted, since: startedAt }, context);
  if (sighting.state === 'found') {
    const { id } = sighting.post;
    await services.growth.posts.posted(callId, id, startedAt);
    return { settled: 'done', data: { id, text: wanted.text, ...targetOf(wanted) } };
  }
  if (sighting.state === 'undecided') return { settled: 'unknown', why: describeDoubt(sighting.post?.id) };
  await services.growth.posts.failed(callId, 'x_network_error');
  return { settled: 'not_done' };
}

/** Why a post may or may not be ours, and what a person can do about it. */
export const describeDoubt = (id: string | undefined): string =>
  id === undefined
    ? 'The account has more recent posts than X lists, so the post may be among them'
    : `Post ${id} has the same text, but X does not say what it replies to, so it may be this one`;

const targetOf = ({ inReplyTo, quoted }: Pick<PostRequest, 'inReplyTo' | 'quoted'>) => ({
  ...(inReplyTo ? { in_reply_to_id: inReplyTo } : {}),
  ...(quoted ? { quoted_tweet_id: quoted } : {}),
});
