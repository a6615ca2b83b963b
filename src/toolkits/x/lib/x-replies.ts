import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { XReply } from '../client/api.ts';

export const userShape = z.looseObject({ id: z.string(), username: z.string(), name: z.string() });
export type XUser = z.output<typeof userShape>;

/** A post as X sends it, with its author put beside it. */
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
export function oneFrom<T>(shape: z.ZodType<T>, reply: XReply): T {
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

export const usersFrom = (reply: XReply): XUser[] => manyFrom(userShape, reply);

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
  const inner = value[group];
  const found = isRecord(inner) ? inner[field] : undefined;
  return typeof found === 'number' ? found : 0;
}

export const dataOf = (reply: XReply): JsonObject => {
  const { json } = reply;
  const data = isRecord(json) ? (json as JsonObject).data : undefined;
  return isRecord(data) ? (data as JsonObject) : {};
};

const isRecord = (value: unknown): value is Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (cause: z.ZodError): ToolFault =>
  new ToolFault('x_api_error', 'X answered in a form that is not known.', { cause, retryable: false });
