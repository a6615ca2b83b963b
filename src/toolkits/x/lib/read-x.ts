import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { ToolContext } from '../../../contract/tool.ts';
import type { XReply } from '../client/api.ts';
import type { EndpointId } from '../endpoints/ids.ts';
import { reachX, type XServices } from '../services.ts';
import {
  oneFrom,
  onePost,
  pageOf,
  pageShape,
  postShape,
  postsFrom,
  userShape,
  usersFrom,
} from './x-replies.ts';

type Context = ToolContext<XServices>;

export const postId = z.string().regex(/^\d{1,19}$/, 'must be a numeric id');
export const userId = z.string().regex(/^\d{1,19}$/, 'must be a numeric id');
export const pageToken = z.string().min(1).optional().describe('meta.next_token of the page before.');

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
