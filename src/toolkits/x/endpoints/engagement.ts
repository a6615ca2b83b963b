import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { body, fields, POST_FIELDS, paged, path, self, USER_FIELDS } from './params.ts';

const READ = ['tweet.read', 'users.read'] as const;
const posts = { shape: 'many', of: 'post' } as const;
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const postFields = fields({ tweet_fields: POST_FIELDS, user_fields: USER_FIELDS, expansions: 'author_id' });
const own = { user_id: self('id', false) };
const post = body('tweet_id', 'post_id', { required: true });

const flag = (name: string) => ({ shape: 'flags', fields: [name] }) as const;

export const engagement = {
  liked_tweets: {
    method: 'GET',
    path: '/2/users/{id}/liked_tweets',
    params: { user_id: path('id', 'user_id'), ...paged(5, 100), ...postFields },
    scopes: ['like.read', ...READ],
    paging: next,
    reply: posts,
    limit: { max: 75, seconds: 900 },
    price: PRICE.posts,
  },
  bookmarks: {
    method: 'GET',
    path: '/2/users/{id}/bookmarks',
    params: { ...own, ...paged(1, 100), ...postFields },
    scopes: ['bookmark.read', ...READ],
    paging: next,
    reply: posts,
    limit: { max: 180, seconds: 900 },
    price: PRICE.posts,
  },
  like: {
    method: 'POST',
    path: '/2/users/{id}/likes',
    params: { ...own, tweet_id: post },
    scopes: ['like.write', ...READ],
    reply: flag('liked'),
    price: PRICE.write,
  },
  unlike: {
    method: 'DELETE',
    path: '/2/users/{id}/likes/{tweet_id}',
    params: { ...own, tweet_id: path('tweet_id', 'post_id') },
    scopes: ['like.write', ...READ],
    reply: flag('liked'),
  },
  retweet: {
    method: 'POST',
    path: '/2/users/{id}/retweets',
    params: { ...own, tweet_id: post },
    scopes: ['tweet.write', ...READ],
    reply: flag('retweeted'),
    price: PRICE.write,
  },
  unretweet: {
    method: 'DELETE',
    path: '/2/users/{id}/retweets/{source_tweet_id}',
    params: { ...own, tweet_id: path('source_tweet_id', 'post_id') },
    scopes: ['tweet.write', ...READ],
    reply: flag('retweeted'),
  },
  bookmark: {
    method: 'POST',
    path: '/2/users/{id}/bookmarks',
    params: { ...own, tweet_id: post },
    scopes: ['bookmark.write', ...READ],
    reply: flag('bookmarked'),
    price: PRICE.write,
  },
  unbookmark: {
    method: 'DELETE',
    path: '/2/users/{id}/bookmarks/{tweet_id}',
    params: { ...own, tweet_id: path('tweet_id', 'post_id') },
    scopes: ['bookmark.write', ...READ],
    reply: flag('bookmarked'),
  },
  follow: {
    method: 'POST',
    path: '/2/users/{id}/following',
    params: { ...own, target_user_id: body('target_user_id', 'user_id', { required: true }) },
    scopes: ['follows.write', ...READ],
    reply: { shape: 'flags', fields: ['following', 'pending_follow'] },
    price: PRICE.write,
  },
  unfollow: {
    method: 'DELETE',
    path: '/2/users/{source_user_id}/following/{target_user_id}',
    params: {
      user_id: self('source_user_id', false),
      target_user_id: path('target_user_id', 'user_id'),
    },
    scopes: ['follows.write', ...READ],
    reply: flag('following'),
  },
} as const satisfies Record<string, EndpointRow>;
