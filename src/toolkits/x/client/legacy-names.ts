import type { JsonValue } from '../../../contract/json.ts';

/**
 * X is renaming tweets to posts field by field; the documented replies have the old names. Whatever X sends, the old
 * names are there too.
 */
const OLD_NAMES: Readonly<Record<string, string>> = {
  repost_count: 'retweet_count',
  post_count: 'tweet_count',
  total_post_count: 'total_tweet_count',
  referenced_posts: 'referenced_tweets',
  edit_history_post_ids: 'edit_history_tweet_ids',
  pinned_post_id: 'pinned_tweet_id',
  most_recent_post_id: 'most_recent_tweet_id',
  note_post: 'note_tweet',
};

export function withOldNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withOldNames);
  if (typeof value !== 'object' || value === null) return value;
  const result: { [key: string]: JsonValue } = {};
  for (const [key, inner] of Object.entries(value)) result[key] = withOldNames(inner);
  for (const [now, old] of Object.entries(OLD_NAMES)) {
    const inner = result[now];
    if (inner !== undefined && !(old in result)) result[old] = inner;
  }
  // `includes.posts` and `includes.tweets` hold the same objects.
  if (Array.isArray(result.posts) && !('tweets' in result)) result.tweets = result.posts;
  return result;
}
