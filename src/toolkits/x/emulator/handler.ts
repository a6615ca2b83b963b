import { lookup } from '../../../lib/lookup.ts';
import type { Credential, Endpoint } from '../endpoints/endpoint.ts';
import type { JsonDoc, LinkDoc, PostDoc, UserDoc } from './documents.ts';
import { Includes, renderPost, renderUser, type Wanted } from './fields.ts';
import { invalidRequest, missingResource, noSuchResource, notYou } from './problems.ts';
import type { State } from './state.ts';

export interface Call {
  readonly state: State;
  readonly now: Date;
  readonly endpoint: Endpoint;
  readonly args: Readonly<Record<string, unknown>>;
  readonly query: ReadonlyMap<string, string>;
  readonly wanted: Wanted;
  readonly credential: Credential;
  /** The account that signed in. */
  readonly own: string;
  /** Body fields no tool sends (polls, communities). */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status?: number;
  readonly body: JsonDoc;
}

/** Pure: it sees and changes the state it is given and nothing else, so it can be run again when a commit is lost. */
export type Handler = (call: Call) => Answer;

export const text = (call: Call, name: string): string => String(lookup(call.args, name) ?? '');
export const list = (call: Call, name: string): string[] => {
  const value = lookup(call.args, name);
  if (Array.isArray(value)) return value.map(String);
  return String(value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
};

export const answer = (data: JsonDoc | JsonDoc[], rest: JsonDoc = {}): Answer => ({
  body: { data, ...rest },
});

/** The path's user must be the one who signed in. */
export function ownUser(call: Call, name = 'user_id'): string {
  const given = text(call, name);
  const wire = lookup(call.endpoint.params, name)?.wire ?? name;
  if (given !== call.own) throw notYou(wire, given, call.own);
  return given;
}

export function needPost(call: Call, name: string): PostDoc {
  const id = text(call, name);
  const post = call.state.get('posts', id);
  if (!post) throw noSuchResource('tweet', lookup(call.endpoint.params, name)?.wire ?? name, id);
  return post;
}

export function needUser(call: Call, name: string): UserDoc {
  const id = text(call, name);
  const user = call.state.get('users', id);
  if (!user) throw noSuchResource('user', lookup(call.endpoint.params, name)?.wire ?? name, id);
  return user;
}

/** 200 with `errors` and no `data`, as X says that something is not there. */
export const nothing = (resource: string, parameter: string, value: string): Answer => ({
  body: { errors: [missingResource(resource, parameter, value)] },
});

export interface Page<T> {
  readonly items: readonly T[];
  readonly meta: JsonDoc;
}

/** Tokens say where a page starts; they are opaque to callers and good for one listing only. */
export function paginate<T>(
  call: Call,
  all: readonly T[],
  idOf: (item: T) => string,
  defaultSize = 100,
): Page<T> {
  const size =
    typeof call.args.max_results === 'number'
      ? call.args.max_results
      : Number(call.query.get('max_results') ?? defaultSize);
  const token = call.query.get('pagination_token') ?? call.query.get('next_token');
  const start = token === undefined ? 0 : readToken(token);
  const items = all.slice(start, start + size);
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    meta: {
      result_count: items.length,
      ...(start + size < all.length ? { next_token: makeToken(start + size) } : {}),
      ...(start > 0 ? { previous_token: makeToken(Math.max(0, start - size)) } : {}),
      ...(first !== undefined && last !== undefined ? { newest_id: idOf(first), oldest_id: idOf(last) } : {}),
    },
  };
}

const PREFIX = 'sbx-';
const makeToken = (start: number): string => Buffer.from(`${PREFIX}${start}`).toString('base64url');

function readToken(token: string): number {
  const start = Number(Buffer.from(token, 'base64url').toString('utf8').replace(PREFIX, ''));
  if (Number.isSafeInteger(start) && start >= 0) return start;
  throw invalidRequest([
    {
      name: 'pagination_token',
      value: token,
      message: `The \`pagination_token\` query parameter value [${token}] is not valid`,
    },
  ]);
}

/** A page of posts with what their expansions include. */
export function postPage(call: Call, posts: readonly PostDoc[], defaultSize = 100): Answer {
  const { items, meta } = paginate(call, posts, (post) => post.id, defaultSize);
  return postsAnswer(call, items, meta);
}

export function postsAnswer(call: Call, posts: readonly PostDoc[], meta?: JsonDoc): Answer {
  const includes = new Includes(call.state, call.wanted);
  for (const post of posts) includes.ofPost(post);
  const data = posts.map((post) => renderPost(call.state, post, call.wanted));
  // X leaves `data` out of an empty page.
  return { body: { ...(data.length > 0 ? { data } : {}), ...includes.render(), ...(meta ? { meta } : {}) } };
}

export function userPage(call: Call, users: readonly UserDoc[], defaultSize = 100): Answer {
  const { items, meta } = paginate(call, users, (user) => user.id, defaultSize);
  return usersAnswer(call, items, {
    result_count: items.length,
    ...pick(meta, ['next_token', 'previous_token']),
  });
}

export function usersAnswer(call: Call, users: readonly UserDoc[], meta?: JsonDoc): Answer {
  const includes = new Includes(call.state, call.wanted);
  if (call.wanted.expansions.has('pinned_tweet_id'))
    for (const user of users) includes.post(user.pinned_tweet_id);
  const data = users.map((user) => renderUser(call.state, user, call.wanted));
  return { body: { ...(data.length > 0 ? { data } : {}), ...includes.render(), ...(meta ? { meta } : {}) } };
}

/** Tokens and counts, without the ids that only timelines have. */
export const pick = (meta: JsonDoc, names: readonly string[]): JsonDoc =>
  Object.fromEntries(Object.entries(meta).filter(([name]) => names.includes(name)));

export const usersOf = (call: Call, links: readonly LinkDoc[], end: 'from' | 'to'): UserDoc[] =>
  links.map((link) => call.state.get('users', link[end])).filter((user) => user !== undefined);
