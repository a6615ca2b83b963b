import { z } from 'zod';
import type { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { XError } from '../errors.ts';
import { reachX, type XServices } from '../services.ts';
import type { XReply } from './api.ts';

export const userShape = z.looseObject({ id: z.string(), username: z.string(), name: z.string() });
export type XUser = z.output<typeof userShape>;

/** A post as X sends it, with its author next to it. */
export const postShape = z.looseObject({ id: z.string(), text: z.string(), author: userShape.optional() });
export type XPost = z.output<typeof postShape>;

export const pageShape = z.object({
  result_count: z.number(),
  next_token: z.string().optional(),
  newest_id: z.string().optional(),
  oldest_id: z.string().optional(),
});

const included = z.object({ includes: z.looseObject({ users: z.array(userShape).optional() }).optional() });

/** One post or user; X answers 200 without `data` for what it will not show. */
function oneFrom<T>(shape: z.ZodType<T>, reply: XReply): T {
  const parsed = z.object({ data: shape }).safeParse(reply.json);
  if (parsed.success) return parsed.data.data;
  throw unreadable(parsed.error);
}

export function onePost(reply: XReply): XPost {
  return withAuthor(oneFrom(postShape, reply), authorsOf(reply));
}

export function postsFrom(reply: XReply): XPost[] {
  const authors = authorsOf(reply);
  return manyFrom(postShape, reply).map((post) => withAuthor(post, authors));
}

const usersFrom = (reply: XReply): XUser[] => manyFrom(userShape, reply);

/** An empty page has no `data` at all. */
function manyFrom<T>(shape: z.ZodType<T>, reply: XReply): T[] {
  const parsed = z.object({ data: z.array(shape).optional() }).safeParse(reply.json);
  if (parsed.success) return parsed.data.data ?? [];
  throw unreadable(parsed.error);
}

export function pageOf(reply: XReply, count: number): z.input<typeof pageShape> {
  const parsed = z.object({ meta: pageShape.partial() }).safeParse(reply.json);
  const meta = parsed.success ? parsed.data.meta : {};
  return { ...meta, result_count: count };
}

function authorsOf(reply: XReply): ReadonlyMap<string, XUser> {
  const parsed = included.safeParse(reply.json);
  const users = parsed.success ? (parsed.data.includes?.users ?? []) : [];
  return new Map(users.map((user) => [user.id, user]));
}

function withAuthor(post: XPost, authors: ReadonlyMap<string, XUser>): XPost {
  const author = typeof post.author_id === 'string' ? authors.get(post.author_id) : undefined;
  return author ? { ...post, author } : post;
}

/** The number at a path of X's loose objects, such as `public_metrics.like_count`; 0 where X sent none. */
export function numberAt(value: Readonly<Record<string, unknown>>, group: string, field: string): number {
  const inner = lookup(value, group);
  const found = isObject(inner) ? lookup(inner, field) : undefined;
  return typeof found === 'number' ? found : 0;
}

export const dataOf = (reply: XReply): JsonObject => {
  const { json } = reply;
  const data = isObject(json) ? (json as JsonObject).data : undefined;
  return isObject(data) ? (data as JsonObject) : {};
};

const unreadable = (cause: z.ZodError): ToolError =>
  new XError('x_api_error', 'X answered in an unknown form.', { cause, retryable: false });

type Context = ToolContext<XServices>;

export const postId = z.string().regex(/^\d{1,19}$/, 'must be a numeric id');
export const userId = z.string().regex(/^\d{1,19}$/, 'must be a numeric id');
export const pageToken = z.string().min(1).optional().describe('meta.next_token of the previous page.');

export const postPage = z.object({ tweets: z.array(postShape), meta: pageShape });
export const userPage = z.object({ users: z.array(userShape), meta: pageShape });

export async function readPosts(context: Context, endpoint: EndpointId, params: JsonObject) {
  const reply = await ask(context, endpoint, params);
  const tweets = postsFrom(reply);
  return { tweets, meta: notePage(context, reply, tweets.length) };
}

export async function readUsers(context: Context, endpoint: EndpointId, params: JsonObject) {
  const reply = await ask(context, endpoint, params);
  const users = usersFrom(reply);
  return { users, meta: notePage(context, reply, users.length) };
}

export async function readPost(context: Context, params: JsonObject) {
  return onePost(await ask(context, 'tweet_by_id', params));
}

export async function readUser(context: Context, endpoint: EndpointId, params: JsonObject) {
  return oneFrom(userShape, await ask(context, endpoint, params));
}

async function ask(context: Context, endpoint: EndpointId, params: JsonObject): Promise<XReply> {
  const x = await reachX(context);
  const { signal, callId } = context;
  // The client's own fallbacks apply only to parameters that are absent, not to undefined ones.
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  const reply = await x.request(endpoint, given, { signal, callId });
  if (reply.retries > 0) context.note({ retry_count: reply.retries });
  return reply;
}

function notePage(context: Context, reply: XReply, count: number) {
  const page = pageOf(reply, count);
  const next = page.next_token ?? null;
  context.note({ pagination: { next_token: next, result_count: count, has_more: next !== null } });
  return page;
}
