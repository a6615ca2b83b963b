import { lookup } from '../../../lib/lookup.ts';
import type {
  ConversationDoc,
  JsonDoc,
  ListDoc,
  MediaDoc,
  MessageDoc,
  PostDoc,
  SpaceDoc,
  UserDoc,
} from './documents.ts';
import type { State } from './state.ts';

/** Which optional fields a request asked for, and in which generation of names. */
export interface Wanted {
  fields(
    name: 'tweet' | 'user' | 'list' | 'space' | 'dm_event' | 'media' | 'compliance_job' | 'usage',
  ): ReadonlySet<string>;
  readonly expansions: ReadonlySet<string>;
  /** `post.fields` was used: X then answers with the new names. */
  readonly newNames: boolean;
}

const NEW_TO_OLD: Readonly<Record<string, string>> = {
  edit_history_post_ids: 'edit_history_tweet_ids',
  referenced_posts: 'referenced_tweets',
  pinned_post_id: 'pinned_tweet_id',
  most_recent_post_id: 'most_recent_tweet_id',
};

export function readWanted(query: ReadonlyMap<string, string>): Wanted {
  const list = (name: string) => (query.get(name) ?? '').split(',').filter(Boolean);
  const posts = [
    ...list('tweet.fields'),
    ...list('post.fields').map((name) => lookup(NEW_TO_OLD, name) ?? name),
  ];
  const expansions = list('expansions').map((name) =>
    name === 'referenced_posts' ? 'referenced_tweets.id' : (lookup(NEW_TO_OLD, name) ?? name),
  );
  // What is expanded is also named in the data.
  const expanded = expansions.map((name) => name.split('.')[0] ?? name);
  return {
    fields: (name) => new Set([...(name === 'tweet' ? posts : list(`${name}.fields`)), ...expanded]),
    expansions: new Set(expansions),
    newNames: query.has('post.fields') && !query.has('tweet.fields'),
  };
}

/** Keeps what is always sent and what was asked for. */
function pick(all: JsonDoc, always: readonly string[], wanted: ReadonlySet<string>): JsonDoc {
  return Object.fromEntries(Object.entries(all).filter(([key]) => always.includes(key) || wanted.has(key)));
}

const referencesOf = (post: PostDoc): { type: string; id: string }[] => [
  ...(post.in_reply_to ? [{ type: 'replied_to', id: post.in_reply_to }] : []),
  ...(post.quotes ? [{ type: 'quoted', id: post.quotes }] : []),
  ...(post.reposts ? [{ type: 'retweeted', id: post.reposts }] : []),
];

export function renderPost(state: State, post: PostDoc, wanted: Wanted): JsonDoc {
  const parent = post.in_reply_to ? state.get('posts', post.in_reply_to) : undefined;
  const references = referencesOf(post);
  const all: JsonDoc = {
    id: post.id,
    text: post.text,
    edit_history_tweet_ids: [post.id],
    author_id: post.author_id,
    conversation_id: post.conversation_id,
    created_at: post.created_at,
    lang: post.lang,
    possibly_sensitive: false,
    reply_settings: post.reply_settings,
    source: 'Sandbox',
    public_metrics: postMetrics(state, post),
    entities: entitiesOf(post.text),
    ...(parent ? { in_reply_to_user_id: parent.author_id } : {}),
    ...(references.length > 0 ? { referenced_tweets: references } : {}),
    ...(post.media_keys.length > 0 ? { attachments: { media_keys: post.media_keys } } : {}),
  };
  const picked = pick(all, ['id', 'text', 'edit_history_tweet_ids'], wanted.fields('tweet'));
  return wanted.newNames ? renamed(picked) : picked;
}

function postMetrics(state: State, post: PostDoc): JsonDoc {
  const others = state.all('posts');
  return {
    retweet_count: post.base.reposts + state.countTo('reposts', post.id),
    reply_count: post.base.replies + others.filter((other) => other.in_reply_to === post.id).length,
    like_count: post.base.likes + state.countTo('likes', post.id),
    quote_count: post.base.quotes + others.filter((other) => other.quotes === post.id).length,
    bookmark_count: state.countTo('bookmarks', post.id),
    impression_count: post.base.impressions,
  };
}

function renamed(post: JsonDoc): JsonDoc {
  const { edit_history_tweet_ids, referenced_tweets, public_metrics, ...rest } = post;
  const metrics = public_metrics as JsonDoc | undefined;
  const { retweet_count = 0, ...counts } = metrics ?? {};
  return {
    ...rest,
    edit_history_post_ids: edit_history_tweet_ids ?? [],
    ...(referenced_tweets ? { referenced_posts: referenced_tweets } : {}),
    ...(metrics ? { public_metrics: { ...counts, repost_count: retweet_count } } : {}),
  };
}

function entitiesOf(text: string): JsonDoc {
  const found = (pattern: RegExp, key: string) =>
    [...text.matchAll(pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      [key]: match[1] ?? match[0],
    }));
  const entities = {
    hashtags: found(/#(\w+)/g, 'tag'),
    mentions: found(/@(\w{1,15})/g, 'username'),
    urls: found(/(https?:\/\/\S+)/g, 'url'),
  };
  return Object.fromEntries(Object.entries(entities).filter(([, items]) => items.length > 0));
}

export function renderUser(state: State, user: UserDoc, wanted: Wanted): JsonDoc {
  const own = state.all('posts').filter((post) => post.author_id === user.id).length;
  const all: JsonDoc = {
    id: user.id,
    name: user.name,
    username: user.username,
    created_at: user.created_at,
    description: user.description,
    protected: user.protected,
    verified: user.verified,
    verified_type: user.verified ? 'blue' : 'none',
    profile_image_url: `https://pbs.twimg.com/profile_images/${user.id}/sandbox_normal.png`,
    url: '',
    public_metrics: {
      followers_count: user.base.followers + state.countTo('follows', user.id),
      following_count: user.base.following + state.countFrom('follows', user.id),
      tweet_count: user.base.posts + own,
      listed_count: user.base.listed + state.countTo('list_members', user.id),
      like_count: user.base.likes + state.countFrom('likes', user.id),
    },
    ...(user.location ? { location: user.location } : {}),
    ...(user.pinned_tweet_id ? { pinned_tweet_id: user.pinned_tweet_id } : {}),
  };
  return pick(all, ['id', 'name', 'username'], wanted.fields('user'));
}

export function renderList(state: State, list: ListDoc, wanted: Wanted): JsonDoc {
  const all: JsonDoc = {
    ...list,
    member_count: state.countFrom('list_members', list.id),
    follower_count: state.countTo('list_follows', list.id),
  };
  return pick(all, ['id', 'name'], wanted.fields('list'));
}

export function renderSpace(space: SpaceDoc, wanted: Wanted): JsonDoc {
  const { buyer_ids, post_ids, ...shown } = space;
  const all: JsonDoc = {
    ...(shown as unknown as JsonDoc),
    subscriber_count: buyer_ids.length,
    invited_user_ids: [],
    topic_ids: [],
  };
  return pick(all, ['id', 'state'], wanted.fields('space'));
}

export function renderMessage(message: MessageDoc, wanted: Wanted): JsonDoc {
  const all: JsonDoc = {
    id: message.id,
    event_type: message.event_type,
    dm_conversation_id: message.conversation_id,
    created_at: message.created_at,
    sender_id: message.sender_id,
    ...(message.text === undefined ? {} : { text: message.text }),
    ...(message.participant_ids ? { participant_ids: message.participant_ids } : {}),
    ...(message.media_keys.length > 0 ? { attachments: { media_keys: message.media_keys } } : {}),
  };
  return pick(all, ['id', 'event_type', 'text'], wanted.fields('dm_event'));
}

export function renderConversation(conversation: ConversationDoc, wanted: Wanted): JsonDoc {
  const all: JsonDoc = {
    id: conversation.id,
    conversation_type: conversation.type,
    participant_ids: conversation.participant_ids,
    created_at: conversation.created_at,
  };
  return pick(all, ['id', 'conversation_type'], wanted.fields('dm_event'));
}

const renderMedia = (media: MediaDoc): JsonDoc => ({
  media_key: media.media_key,
  type: media.media_type.startsWith('video/')
    ? 'video'
    : media.media_type === 'image/gif'
      ? 'animated_gif'
      : 'photo',
  ...(media.alt_text ? { alt_text: media.alt_text } : {}),
});

/** Collects what `expansions` asks to have next to the data, each once. */
export class Includes {
  readonly #state: State;
  readonly #wanted: Wanted;
  readonly #users = new Set<string>();
  readonly #posts = new Set<string>();
  readonly #media = new Set<string>();

  constructor(state: State, wanted: Wanted) {
    this.#state = state;
    this.#wanted = wanted;
  }

  ofPost(post: PostDoc): void {
    const { expansions } = this.#wanted;
    if (expansions.has('author_id')) this.#users.add(post.author_id);
    if (expansions.has('in_reply_to_user_id') && post.in_reply_to)
      this.user(this.#state.get('posts', post.in_reply_to)?.author_id);
    if (expansions.has('attachments.media_keys')) for (const key of post.media_keys) this.#media.add(key);
    for (const { id } of referencesOf(post)) {
      if (expansions.has('referenced_tweets.id')) this.#posts.add(id);
      if (expansions.has('referenced_tweets.id.author_id'))
        this.user(this.#state.get('posts', id)?.author_id);
    }
  }

  ofMessage(message: MessageDoc): void {
    const { expansions } = this.#wanted;
    if (expansions.has('sender_id')) this.#users.add(message.sender_id);
    if (expansions.has('participant_ids'))
      for (const id of message.participant_ids ?? []) this.#users.add(id);
    if (expansions.has('attachments.media_keys')) for (const key of message.media_keys) this.#media.add(key);
  }

  ofConversation({ participant_ids }: ConversationDoc): void {
    if (this.#wanted.expansions.has('participant_ids')) for (const id of participant_ids) this.#users.add(id);
  }

  user(id: string | undefined): void {
    if (id !== undefined) this.#users.add(id);
  }

  post(id: string | undefined): void {
    if (id !== undefined) this.#posts.add(id);
  }

  /** `{ includes: … }`, or nothing when there is nothing to include. */
  render(): JsonDoc {
    const users = [...this.#users]
      .map((id) => this.#state.get('users', id))
      .filter((user) => user !== undefined);
    const posts = [...this.#posts]
      .map((id) => this.#state.get('posts', id))
      .filter((post) => post !== undefined);
    const media = this.#state.all('media').filter((item) => this.#media.has(item.media_key));
    const includes: JsonDoc = {
      ...(users.length > 0
        ? { users: users.map((user) => renderUser(this.#state, user, this.#wanted)) }
        : {}),
      ...(posts.length > 0
        ? {
            [this.#wanted.newNames ? 'posts' : 'tweets']: posts.map((post) =>
              renderPost(this.#state, post, this.#wanted),
            ),
          }
        : {}),
      ...(media.length > 0 ? { media: media.map(renderMedia) } : {}),
    };
    return Object.keys(includes).length > 0 ? { includes } : {};
  }
}
