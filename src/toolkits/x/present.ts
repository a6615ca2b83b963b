import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type {
  Author,
  PresentationBlock,
  PresentationDraft,
  PresentationTarget,
  QuotedText,
} from '../../contract/presentation.ts';
import type { PresentContext } from '../../contract/tool.ts';
import type { XApi } from './client/api.ts';
import { dataOf, numberAt, onePost, userShape, type XPost } from './client/read.ts';
import { XError } from './errors.ts';
import { MAX_POST_LENGTH, postLength } from './posting/text.ts';
import type { XServices } from './services.ts';

type Services = Pick<XServices, 'x'> & Partial<Pick<XServices, 'growth'>>;
export type XPresentContext<S extends Services = Services> = Pick<PresentContext<S>, 'services' | 'signal'>;

export interface Account {
  readonly author: Author | null;
  readonly handle: string;
  readonly id: string | undefined;
  readonly target: PresentationTarget;
}

/** The account that a call acts as. What no account can do is refused before a person is asked. */
export async function accountOf({ services, signal }: XPresentContext): Promise<Account> {
  const x = await services.x();
  if (!(await x.signedIn())) {
    throw new XError(
      'x_not_configured',
      'No one is signed in to X, so this call could not succeed; run `countersign auth x`.',
    );
  }
  const me = await unlessDown(x.me({ signal }));
  const environment = x.provider.backend === 'sandbox' ? 'sandbox' : 'live';
  const handle = me ? `@${me.username}` : 'X';
  const followers = me ? numberAt(me.raw, 'public_metrics', 'followers_count') : 0;
  const detail = followers > 0 ? `${followers.toLocaleString('en-US')} followers` : 'Account on X';
  return {
    author: me ? { name: me.name, handle } : null,
    handle,
    id: me?.id,
    target: { kind: 'account', label: me ? `${handle} on X` : 'X', detail, environment },
  };
}

/** For calls that do not present themselves. */
export const xTarget = async (services: XServices, _args: JsonObject, signal: AbortSignal) =>
  (await accountOf({ services, signal })).target;

/** A service that is down for the moment must not keep a person from being asked; one that says no must. */
async function unlessDown<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    // Only that something does not exist is certain; a missing scope says nothing about the call itself.
    if (error instanceof ToolError && error.code === 'not_found') throw error;
    return undefined;
  }
}

const KEPT_MS = 60_000;
const MOST_KEPT = 500;
/** X bills each read, and a page that shows an item asks for it more than once. */
const kept = new WeakMap<XApi, Map<string, { readonly at: number; readonly value: Promise<unknown> }>>();

function once<T>(x: XApi, key: string, read: () => Promise<T>): Promise<T> {
  const known = kept.get(x) ?? new Map();
  kept.set(x, known);
  const found = known.get(key);
  if (found && Date.now() - found.at < KEPT_MS) return found.value as Promise<T>;
  if (known.size >= MOST_KEPT) known.clear();
  const value = read();
  known.set(key, { at: Date.now(), value });
  value.catch(() => known.delete(key));
  return value;
}

export interface FoundPost {
  readonly quoted: QuotedText;
  readonly authorId: string | undefined;
  /** `@ada`, or `unknown author`. */
  readonly by: string;
}

/** The post that a call is about; undefined where X cannot be asked. A post that does not exist is refused. */
export async function postNamed(
  { services, signal }: XPresentContext,
  id: string,
): Promise<FoundPost | undefined> {
  const x = await services.x();
  const post = await unlessDown(
    once(x, `post:${id}`, async () => onePost(await x.request('tweet_by_id', { tweet_id: id }, { signal }))),
  );
  if (post) return fromPost(post);
  const row = await services.growth?.discovered.get(id);
  if (!row) return undefined;
  const handle = `@${row.author_username}`;
  return {
    quoted: { author: { name: row.author_username, handle }, text: row.text, at: row.created_at },
    authorId: row.author_id,
    by: handle,
  };
}

function fromPost(post: XPost): FoundPost {
  const { author, text } = post;
  const handle = author ? `@${author.username}` : undefined;
  const at = typeof post.created_at === 'string' ? { at: post.created_at } : {};
  return {
    quoted: { author: author && handle ? { name: author.name, handle } : null, text, ...at },
    authorId: typeof post.author_id === 'string' ? post.author_id : author?.id,
    by: handle ?? 'an unknown author',
  };
}

export interface FoundUser {
  readonly author: Author;
  readonly handle: string;
  readonly detail: string;
}

export async function userNamed(
  { services, signal }: XPresentContext,
  id: string,
): Promise<FoundUser | undefined> {
  const x = await services.x();
  return unlessDown(
    once(x, `user:${id}`, async () => {
      const data = dataOf(await x.request('user_by_id', { user_id: id }, { signal }));
      const user = userShape.parse(data);
      const handle = `@${user.username}`;
      const followers = numberAt(user, 'public_metrics', 'followers_count');
      return {
        author: { name: user.name, handle },
        handle,
        detail: `${user.name}, ${followers.toLocaleString('en-US')} followers`,
      };
    }),
  );
}

/** The name of a List or a campaign: anything X gives out with a name. */
export async function thingNamed(
  { services, signal }: XPresentContext,
  endpoint: 'x_v2_lists_get' | 'x_ads_campaign_by_id',
  params: JsonObject,
): Promise<string | undefined> {
  const x = await services.x();
  return unlessDown(
    once(x, `${endpoint}:${JSON.stringify(params)}`, async () => {
      const { name } = dataOf(await x.request(endpoint, params, { signal }));
      return typeof name === 'string' ? name : undefined;
    }),
  );
}

const lengthOf = async (text: string) => ({ used: await postLength(text), of: MAX_POST_LENGTH });

const mediaLines = (count: number): { media?: readonly string[] } =>
  count === 0 ? {} : { media: Array.from({ length: count }, (_, at) => `Media file ${at + 1} of ${count}`) };

export async function postBlock(
  author: Author | null,
  text: string,
  more: {
    readonly media?: number;
    readonly context?: (QuotedText & { readonly as: 'reply' | 'quote' }) | undefined;
    readonly at?: string | undefined;
  } = {},
): Promise<PresentationBlock> {
  return {
    type: 'post',
    title: 'As it will appear',
    author,
    text,
    length: await lengthOf(text),
    ...(more.context ? { context: more.context } : {}),
    ...mediaLines(more.media ?? 0),
    ...(more.at ? { at: more.at } : {}),
  };
}

export async function threadBlock(
  author: Author | null,
  texts: readonly string[],
  more: { readonly media?: number; readonly at?: string | undefined } = {},
): Promise<PresentationBlock> {
  const posts = await Promise.all(texts.map(async (text) => ({ text, length: await lengthOf(text) })));
  return {
    type: 'thread',
    title: 'As it will appear',
    author,
    posts,
    ...mediaLines(more.media ?? 0),
    ...(more.at ? { at: more.at } : {}),
  };
}

export const PUBLIC: Pick<PresentationDraft, 'effect' | 'undo'> = {
  effect: { text: 'Public immediately' },
  undo: { possible: true, text: 'Can be deleted', detail: 'Replies and reposts by others stay' },
};

/** A like, a repost or a bookmark: what is acted on is the post, so it is what a person sees. */
export async function presentOnPost(
  context: XPresentContext,
  postId: string,
  words: {
    readonly verb: string;
    readonly done: string;
    readonly effect: PresentationDraft['effect'];
    readonly undo?: PresentationDraft['undo'];
    readonly covers: readonly string[];
  },
): Promise<PresentationDraft> {
  const account = await accountOf(context);
  const post = await postNamed(context, postId);
  const what = post ? `a post by ${post.by}` : 'a post';
  return {
    title: `${words.verb} ${what} as ${account.handle}`,
    done: `${words.done} ${what} as ${account.handle}`,
    act: words.verb.toLowerCase().split(' ')[0] ?? 'run',
    kind: 'reaction',
    target: account.target,
    ...(post ? { gist: post.quoted.text } : {}),
    effect: words.effect ?? { text: 'Changes your account' },
    ...(words.undo ? { undo: words.undo } : {}),
    body: post
      ? [{ type: 'quote', title: 'Post', quoted: post.quoted }]
      : [{ type: 'notice', level: 'note', text: 'X could not be asked which post this is.' }],
    covers: words.covers,
  };
}

/** Following, muting, blocking: what is acted on is a user. */
export async function presentOnUser(
  context: XPresentContext,
  userId: string,
  words: {
    readonly verb: string;
    readonly done: string;
    readonly effect: PresentationDraft['effect'];
    readonly covers: readonly string[];
    readonly more?: string;
  },
): Promise<PresentationDraft> {
  const account = await accountOf(context);
  const user = await userNamed(context, userId);
  const who = user?.handle ?? 'a user';
  const more = words.more ? ` ${words.more}` : '';
  return {
    title: `${words.verb} ${who}${more} as ${account.handle}`,
    done: `${words.done} ${who}${more} as ${account.handle}`,
    act: words.verb.toLowerCase().split(' ')[0] ?? 'run',
    kind: 'account',
    target: account.target,
    ...(user ? { gist: user.detail } : {}),
    effect: words.effect ?? { text: 'Changes your account' },
    body: user ? [] : [{ type: 'notice', level: 'note', text: 'X could not be asked who this user is.' }],
    covers: words.covers,
  };
}
