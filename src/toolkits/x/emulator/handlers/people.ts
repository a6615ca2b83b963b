import { type LinkCollection, nextId, type PostDoc, type UserDoc } from '../documents.ts';
import { Includes, renderUser } from '../fields.ts';
import {
  type Answer,
  answer,
  type Call,
  type Handler,
  list,
  needPost,
  needUser,
  nothing,
  ownUser,
  postPage,
  text,
  userPage,
  usersAnswer,
  usersOf,
} from '../handler.ts';
import { forbidden, missingResource } from '../problems.ts';

const byName = (call: Call, name: string): UserDoc | undefined =>
  call.state.all('users').find((user) => user.username.toLowerCase() === name.toLowerCase());

function oneUser(call: Call, user: UserDoc | undefined, parameter: string, value: string): Answer {
  if (!user) return nothing('user', parameter, value);
  const includes = new Includes(call.state, call.wanted);
  if (call.wanted.expansions.has('pinned_tweet_id')) includes.post(user.pinned_tweet_id);
  return answer(renderUser(call.state, user, call.wanted), includes.render());
}

function someUsers(
  call: Call,
  values: readonly string[],
  parameter: string,
  find: (value: string) => UserDoc | undefined,
): Answer {
  const missing = values
    .filter((value) => !find(value))
    .map((value) => missingResource('user', parameter, value));
  const { body } = usersAnswer(
    call,
    values.map(find).filter((user) => user !== undefined),
  );
  return { body: { ...body, ...(missing.length > 0 ? { errors: missing } : {}) } };
}

const postsOf = (call: Call, ids: readonly string[]): PostDoc[] =>
  ids.map((id) => call.state.get('posts', id)).filter((post) => post !== undefined);

const at = (call: Call): string => call.now.toISOString();

const repost: Handler = (call) => {
  const own = ownUser(call);
  const post = needPost(call, 'tweet_id');
  const known = call.state.get('reposts', `${own}:${post.id}`);
  if (known) throw forbidden('You have already retweeted this Tweet.');
  const id = nextId(call.state, call.now);
  const author = call.state.get('users', post.author_id)?.username ?? 'unknown';
  call.state.put('posts', id, {
    id,
    author_id: own,
    text: `RT @${author}: ${post.text}`,
    created_at: at(call),
    conversation_id: id,
    reposts: post.id,
    lang: post.lang,
    hidden: false,
    media_keys: [],
    reply_settings: 'everyone',
    base: { likes: 0, reposts: 0, replies: 0, quotes: 0, impressions: 0 },
  });
  call.state.link('reposts', own, post.id, at(call), id);
  return answer({ retweeted: true, rest_id: id });
};

const unrepost: Handler = (call) => {
  const own = ownUser(call);
  const target = text(call, 'tweet_id');
  const known = call.state.get('reposts', `${own}:${target}`);
  if (known?.rest_id) call.state.remove('posts', known.rest_id);
  call.state.unlink('reposts', own, target);
  return answer({ retweeted: false });
};

export const people = {
  me: (call) => oneUser(call, call.state.get('users', call.own), 'id', call.own),
  user_by_id: (call) =>
    oneUser(call, call.state.get('users', text(call, 'user_id')), 'id', text(call, 'user_id')),
  user_by_username: (call) =>
    oneUser(call, byName(call, text(call, 'username')), 'username', text(call, 'username')),
  users_by_ids: (call) => someUsers(call, list(call, 'user_ids'), 'ids', (id) => call.state.get('users', id)),
  x_v2_users_lookup_by_usernames: (call) =>
    someUsers(call, list(call, 'usernames'), 'usernames', (name) => byName(call, name)),
  followers: (call) =>
    userPage(call, usersOf(call, call.state.linksTo('follows', needUser(call, 'user_id').id), 'from')),
  following: (call) =>
    userPage(call, usersOf(call, call.state.linksFrom('follows', needUser(call, 'user_id').id), 'to')),
  liking_users: (call) =>
    userPage(call, usersOf(call, call.state.linksTo('likes', needPost(call, 'tweet_id').id), 'from')),
  liked_tweets: (call) =>
    postPage(
      call,
      postsOf(
        call,
        call.state.linksFrom('likes', needUser(call, 'user_id').id).map((link) => link.to),
      ),
    ),
  bookmarks: (call) =>
    postPage(
      call,
      postsOf(
        call,
        call.state.linksFrom('bookmarks', ownUser(call)).map((link) => link.to),
      ),
    ),
  like: (call) => {
    call.state.link('likes', ownUser(call), needPost(call, 'tweet_id').id, at(call));
    return answer({ liked: true });
  },
  unlike: (call) => {
    call.state.unlink('likes', ownUser(call), text(call, 'tweet_id'));
    return answer({ liked: false });
  },
  retweet: repost,
  unretweet: unrepost,
  bookmark: (call) => {
    call.state.link('bookmarks', ownUser(call), needPost(call, 'tweet_id').id, at(call));
    return answer({ bookmarked: true });
  },
  unbookmark: (call) => {
    call.state.unlink('bookmarks', ownUser(call), text(call, 'tweet_id'));
    return answer({ bookmarked: false });
  },
  follow: (call) => {
    const own = ownUser(call);
    const target = needUser(call, 'target_user_id');
    if (target.id === own) throw forbidden('You cannot follow yourself.');
    // Protected accounts answer the request themselves, later.
    if (target.protected) return answer({ following: false, pending_follow: true });
    call.state.link('follows', own, target.id, at(call));
    return answer({ following: true, pending_follow: false });
  },
  unfollow: (call) => {
    call.state.unlink('follows', ownUser(call), text(call, 'target_user_id'));
    return answer({ following: false });
  },
} satisfies Record<string, Handler>;

const listing =
  (collection: LinkCollection): Handler =>
  (call) =>
    userPage(call, usersOf(call, call.state.linksFrom(collection, ownUser(call)), 'to'));

const add =
  (collection: LinkCollection, flag: string): Handler =>
  (call) => {
    const own = ownUser(call);
    const target = needUser(call, 'target_user_id');
    if (target.id === own) throw forbidden('You cannot do this to yourself.');
    call.state.link(collection, own, target.id, call.now.toISOString());
    if (collection === 'blocks') {
      call.state.unlink('follows', own, target.id);
      call.state.unlink('follows', target.id, own);
    }
    return answer({ [flag]: true });
  };

const remove =
  (collection: LinkCollection, flag: string): Handler =>
  (call) => {
    call.state.unlink(collection, ownUser(call), text(call, 'target_user_id'));
    return answer({ [flag]: false });
  };

export const moderation = {
  x_v2_mutes_list: listing('mutes'),
  x_v2_mutes_create: add('mutes', 'muting'),
  x_v2_mutes_delete: remove('mutes', 'muting'),
  x_v2_blocks_list: listing('blocks'),
  x_v2_blocks_create: add('blocks', 'blocking'),
  x_v2_blocks_delete: remove('blocks', 'blocking'),
} satisfies Record<string, Handler>;
