import { compareIds, type PostDoc } from '../documents.ts';
import { Includes, renderPost } from '../fields.ts';
import {
  answer,
  type Call,
  type Handler,
  list,
  needPost,
  nothing,
  ownUser,
  postPage,
  postsAnswer,
  text,
  userPage,
  usersOf,
} from '../handler.ts';
import { forbidden, invalidRequest, missingResource } from '../problems.ts';
import { parseQuery } from '../search.ts';

const WEEK_MS = 7 * 86_400_000;

/** Newest first, within the window a request names. */
export function timeline(call: Call, keep: (post: PostDoc) => boolean): PostDoc[] {
  const { since_id, until_id, start_time, end_time } = call.args;
  const excluded = list(call, 'exclude');
  return call.state
    .all('posts')
    .filter(
      (post) =>
        keep(post) &&
        (since_id === undefined || compareIds(post.id, String(since_id)) > 0) &&
        (until_id === undefined || compareIds(post.id, String(until_id)) < 0) &&
        (start_time === undefined || Date.parse(post.created_at) >= Date.parse(String(start_time))) &&
        (end_time === undefined || Date.parse(post.created_at) < Date.parse(String(end_time))) &&
        !(excluded.includes('replies') && post.in_reply_to) &&
        !(excluded.includes('retweets') && post.reposts),
    )
    .sort((a, b) =>
      a.created_at === b.created_at ? compareIds(b.id, a.id) : a.created_at < b.created_at ? 1 : -1,
    );
}

const isRecent = (call: Call, post: PostDoc): boolean =>
  call.now.getTime() - Date.parse(post.created_at) <= WEEK_MS;

const search: Handler = (call) => {
  const matches = parseQuery(text(call, 'query'));
  const found = timeline(call, (post) => isRecent(call, post) && matches(post, call.state));
  if (call.args.sort_order === 'relevancy') found.sort((a, b) => weight(b) - weight(a));
  return postPage(call, found, 10);
};

const weight = (post: PostDoc): number => post.base.likes + 3 * post.base.reposts;

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const counts: Handler = (call) => {
  const matches = parseQuery(text(call, 'query'));
  const step = STEP_MS[(call.args.granularity ?? 'hour') as keyof typeof STEP_MS];
  const end = call.args.end_time === undefined ? call.now.getTime() : Date.parse(text(call, 'end_time'));
  const start = call.args.start_time === undefined ? end - WEEK_MS : Date.parse(text(call, 'start_time'));
  if (start >= end) {
    throw invalidRequest([
      {
        name: 'start_time',
        value: text(call, 'start_time'),
        message: "Invalid 'start_time': it must be earlier than 'end_time'",
      },
    ]);
  }
  const posts = timeline(call, (post) => isRecent(call, post) && matches(post, call.state));
  const data = [];
  let total = 0;
  for (let from = Math.floor(start / step) * step; from < end; from += step) {
    const [lower, upper] = [Math.max(from, start), Math.min(from + step, end)];
    const tweet_count = posts.filter(
      ({ created_at }) => Date.parse(created_at) >= lower && Date.parse(created_at) < upper,
    ).length;
    total += tweet_count;
    data.push({ start: new Date(lower).toISOString(), end: new Date(upper).toISOString(), tweet_count });
  }
  return answer(data, { meta: { total_tweet_count: total } });
};

const hide: Handler = (call) => {
  const post = needPost(call, 'id');
  const root = call.state.get('posts', post.conversation_id);
  if (root?.author_id !== call.own || post.id === post.conversation_id) {
    throw forbidden('You can only hide or unhide replies to conversations you started.');
  }
  const hidden = call.args.hidden === true;
  call.state.put('posts', post.id, { ...post, hidden });
  return answer({ hidden });
};

export const posts = {
  tweet_by_id: (call) => {
    const id = text(call, 'tweet_id');
    const post = call.state.get('posts', id);
    if (!post) return nothing('tweet', 'id', id);
    const includes = new Includes(call.state, call.wanted);
    includes.ofPost(post);
    return answer(renderPost(call.state, post, call.wanted), includes.render());
  },
  x_v2_tweets_lookup: (call) => {
    const ids = list(call, 'ids');
    const found = ids.map((id) => call.state.get('posts', id)).filter((post) => post !== undefined);
    const missing = ids
      .filter((id) => !call.state.get('posts', id))
      .map((id) => missingResource('tweet', 'ids', id));
    const { body } = postsAnswer(call, found);
    return { body: { ...body, ...(missing.length > 0 ? { errors: missing } : {}) } };
  },
  search_recent: search,
  x_v2_tweets_counts_recent: counts,
  user_tweets: (call) =>
    postPage(
      call,
      timeline(call, (post) => post.author_id === text(call, 'user_id')),
      10,
    ),
  user_mentions: (call) => {
    const user = call.state.get('users', text(call, 'user_id'));
    if (!user) return nothing('user', 'id', text(call, 'user_id'));
    const name = new RegExp(`@${user.username}(?!\\w)`, 'i');
    return postPage(
      call,
      timeline(call, (post) => post.author_id !== user.id && name.test(post.text)),
      10,
    );
  },
  home_timeline: (call) => {
    const own = ownUser(call);
    const seen = (post: PostDoc) =>
      (post.author_id === own || call.state.linked('follows', own, post.author_id)) &&
      !call.state.linked('mutes', own, post.author_id) &&
      !call.state.linked('blocks', own, post.author_id);
    return postPage(call, timeline(call, seen));
  },
  x_v2_tweets_quote_tweets: (call) =>
    postPage(
      call,
      timeline(call, (post) => post.quotes === needPost(call, 'id').id),
      10,
    ),
  x_v2_tweets_retweeted_by: (call) =>
    userPage(call, usersOf(call, call.state.linksTo('reposts', needPost(call, 'id').id), 'from')),
  x_v2_tweets_hide_reply: hide,
  x_v2_tweets_unhide_reply: hide,
} satisfies Record<string, Handler>;
