import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { RawReply, RawRequest } from '../client/api.ts';
import type { XServices } from '../services.ts';
import { type PostWish, settleFailure } from './post-x.ts';
import { targetAuthor } from './target-author.ts';
import { sendRaw } from './universal.ts';

const POSTING_PATHS = ['/2/tweets', '/1.1/statuses/update.json'];

/** A universal request that posts is a post: the safety limits must not have a way around. */
export async function postInside(services: XServices, request: RawRequest): Promise<PostWish | undefined> {
  if (request.method !== 'POST') return undefined;
  const x = await services.x();
  const { pathname } = new URL(x.checkRaw(request).url);
  if (!POSTING_PATHS.includes(pathname.replace(/\/+$/, ''))) return undefined;
  const body = readBody(request.body);
  const text = body.text ?? body.status ?? request.query?.find(({ key }) => key === 'status')?.value;
  const reply = isObject(body.reply) ? body.reply.in_reply_to_tweet_id : body.in_reply_to_status_id;
  const wish = { text: typeof text === 'string' ? text : '' };
  if (typeof reply === 'string') return { kind: 'reply', ...wish, inReplyTo: reply };
  if (typeof body.quote_tweet_id === 'string') return { kind: 'quote', ...wish, quoted: body.quote_tweet_id };
  return { kind: 'tweet', ...wish };
}

export async function checkPostInside(services: XServices, request: RawRequest): Promise<void> {
  const wish = await postInside(services, request);
  // Media alone is a post without text; there is nothing to judge but the count, which `admit` does.
  if (wish && wish.text !== '') await services.safety.check({ kind: wish.kind, texts: [wish.text] });
}

export async function sendRawPost(
  context: ToolContext<XServices>,
  request: RawRequest,
  wish: PostWish,
): Promise<RawReply> {
  const { services, callId, now } = context;
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
    },
    wish.text === '' ? [] : [wish.text],
  );
  try {
    const reply = await sendRaw(context, request);
    const id = idIn(reply.json);
    if (id) await services.growth.posts.posted(callId, id, now());
    else await services.growth.posts.inDoubt(callId, 'x_api_error');
    return reply;
  } catch (error) {
    await settleFailure(services, callId, error);
    throw error;
  }
}

function readBody(body: JsonValue | undefined): JsonObject {
  if (isObject(body)) return body;
  if (typeof body !== 'string') return {};
  try {
    const parsed = JSON.parse(body) as JsonValue;
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function idIn(json: JsonValue | undefined): string | undefined {
  const data = isObject(json) && isObject(json.data) ? json.data : isObject(json) ? json : {};
  const id = data.id ?? data.id_str;
  return typeof id === 'string' ? id : undefined;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
