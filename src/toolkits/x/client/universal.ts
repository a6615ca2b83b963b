import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { principalName } from '../../../contract/principal.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { type PostRequest, settleFailure, targetAuthor } from '../posting/post.ts';
import { reachX, type XServices } from '../services.ts';
import type { RawReply, RawRequest } from './api.ts';
import { toToolError } from './errors.ts';

/** Agents write numbers and flags as they are; X gets text. */
export const queryValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const queryPair = z.object({ key: z.string(), value: queryValue });
const header = z.object({ key: z.string(), value: z.string() });

/** Shared by the four universal tools; what may be sent is judged by the client's guards. */
export const endpoint = z
  .string()
  .min(1)
  .max(2048)
  .describe('Path such as /2/users/me, or a full URL on an allowed host.');
export const host = z
  .enum(['api.x.com', 'upload.x.com', 'upload.twitter.com', 'ads-api.x.com'])
  .optional()
  .describe('With a path; default api.x.com.');
export const query = z.array(queryPair).max(100).optional();
export const headers = z.array(header).max(20).optional();
const jsonText = z.string().max(1_048_576);
/** One form for policy, approval and digest: an object becomes its text. */
export const body = z
  .union(
    [
      jsonText,
      z
        .record(z.string(), z.unknown())
        .transform((value) => JSON.stringify(value))
        .pipe(jsonText),
    ],
    {
      error: 'must be JSON text or an object, such as { "text": "Hello" }',
    },
  )
  .optional()
  .describe('JSON text or an object.');

export const rawShape = z.object({
  status: z.number(),
  headers: z.record(z.string(), z.string()),
  json: z.unknown(),
  body_text: z.string().nullable(),
  rate_limit: z
    .object({ remaining: z.number(), reset_at: z.string(), recommended_wait_ms: z.number() })
    .nullable(),
});

/** For the tools' `check`: a request that would leave the allowed hosts is refused before policy sees it. */
export async function guardRequest(services: XServices, request: RawRequest): Promise<void> {
  const x = await services.x();
  x.checkRaw(request);
}

export async function sendRaw(context: ToolContext<XServices>, request: RawRequest): Promise<RawReply> {
  const x = await reachX(context);
  const reply = await x.raw(request, { signal: context.signal, callId: context.callId });
  if (reply.retries > 0) context.note({ retry_count: reply.retries });
  if (reply.status >= 400) {
    throw toToolError(
      { status: reply.status, json: reply.json, headers: reply.headers },
      { change: request.method !== 'GET', now: context.now() },
    );
  }
  return reply;
}

export function describeReply(reply: RawReply, now: Date): z.input<typeof rawShape> {
  const { rateLimit } = reply;
  const wait = rateLimit && rateLimit.remaining === 0 ? rateLimit.resetAt.getTime() - now.getTime() : 0;
  return {
    status: reply.status,
    headers: { ...reply.headers },
    json: reply.json ?? null,
    // The text is repeated only where it is all there is.
    body_text: reply.json === undefined ? reply.bodyText : null,
    rate_limit: rateLimit
      ? {
          remaining: rateLimit.remaining,
          reset_at: rateLimit.resetAt.toISOString(),
          recommended_wait_ms: Math.max(0, wait),
        }
      : null,
  };
}

/** The fields a tool was not given are left out, so that the guards see what the caller wrote. */
export const requestFrom = (
  method: RawRequest['method'],
  args: Pick<RawRequest, 'endpoint' | 'host' | 'query' | 'headers'> & { readonly body?: JsonValue },
): RawRequest => ({ method, ...args });

/** Where the next page begins, in the words of the API that answered: the Ads API has its own. */
export function nextPage(json: JsonValue | undefined): { key: string; value: string } | undefined {
  if (!isObject(json)) return undefined;
  const token = isObject(json.meta) ? json.meta.next_token : undefined;
  if (typeof token === 'string' && token !== '') return { key: 'pagination_token', value: token };
  const cursor = json.next_cursor;
  return typeof cursor === 'string' && cursor !== '' ? { key: 'cursor', value: cursor } : undefined;
}

const POSTING_PATHS = ['/2/tweets', '/1.1/statuses/update.json'];

/** A universal request that posts is a post: the safety limits must not have a way around. */
export async function postInside(services: XServices, request: RawRequest): Promise<PostRequest | undefined> {
  if (request.method !== 'POST') return undefined;
  const x = await services.x();
  const { pathname } = new URL(x.checkRaw(request).url);
  if (!POSTING_PATHS.includes(pathname.replace(/\/+$/, ''))) return undefined;
  const body = readBody(request.body);
  const text = body.text ?? body.status ?? request.query?.find(({ key }) => key === 'status')?.value;
  const reply = isObject(body.reply) ? body.reply.in_reply_to_tweet_id : body.in_reply_to_status_id;
  const wanted = { text: typeof text === 'string' ? text : '' };
  if (typeof reply === 'string') return { kind: 'reply', ...wanted, inReplyTo: reply };
  if (typeof body.quote_tweet_id === 'string')
    return { kind: 'quote', ...wanted, quoted: body.quote_tweet_id };
  return { kind: 'tweet', ...wanted };
}

export async function checkPostInside(services: XServices, request: RawRequest): Promise<void> {
  const wanted = await postInside(services, request);
  // Media alone is a post without text; there is nothing to judge but the count, which `admit` does.
  if (wanted && wanted.text !== '') await services.safety.check({ kind: wanted.kind, texts: [wanted.text] });
}

export async function sendRawPost(
  context: ToolContext<XServices>,
  request: RawRequest,
  wanted: PostRequest,
): Promise<RawReply> {
  const { services, callId, now } = context;
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
    },
    wanted.text === '' ? [] : [wanted.text],
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
