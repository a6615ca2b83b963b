import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { body, fields, POST_FIELDS, paged, path, query, self, USER_FIELDS, window } from './params.ts';

const READ = ['tweet.read', 'users.read'] as const;
const WRITE = ['tweet.read', 'tweet.write', 'users.read'] as const;
const MODERATE = ['tweet.moderate.write', 'tweet.read', 'users.read'] as const;

const posts = { shape: 'many', of: 'post' } as const;
const postFields = fields({
  tweet_fields: POST_FIELDS,
  user_fields: USER_FIELDS,
  media_fields: '',
  expansions: 'author_id',
});
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const exclude = query('exclude', 'csv', { values: ['replies', 'retweets'] });

export const tweets = {
  tweet_by_id: {
    method: 'GET',
    path: '/2/tweets/{id}',
    params: { tweet_id: path('id', 'post_id'), ...postFields },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: { shape: 'one', of: 'post' },
    limit: { max: 900, seconds: 900 },
    price: PRICE.posts,
  },
  search_recent: {
    method: 'GET',
    path: '/2/tweets/search/recent',
    params: {
      query: query('query', 'text', { required: true, maxLength: 4096 }),
      ...paged(10, 100),
      ...window,
      sort_order: query('sort_order', 'text', { values: ['recency', 'relevancy'] }),
      ...postFields,
    },
    credentials: ['user', 'app'],
    scopes: READ,
    paging: next,
    reply: posts,
    limit: { max: 300, seconds: 900 },
    price: PRICE.posts,
  },
  user_tweets: {
    method: 'GET',
    path: '/2/users/{id}/tweets',
    params: { user_id: path('id', 'user_id'), ...paged(5, 100), ...window, exclude, ...postFields },
    credentials: ['user', 'app'],
    scopes: READ,
    paging: next,
    reply: posts,
    limit: { max: 900, seconds: 900 },
    price: PRICE.posts,
  },
  user_mentions: {
    method: 'GET',
    path: '/2/users/{id}/mentions',
    params: { user_id: self('id', false), ...paged(5, 100), ...window, ...postFields },
    credentials: ['user', 'app'],
    scopes: READ,
    paging: next,
    reply: posts,
    price: PRICE.posts,
  },
  home_timeline: {
    method: 'GET',
    path: '/2/users/{id}/timelines/reverse_chronological',
    params: { user_id: self('id', false), ...paged(1, 100), ...window, exclude, ...postFields },
    scopes: READ,
    paging: next,
    reply: posts,
    limit: { max: 180, seconds: 900 },
    price: PRICE.posts,
  },
  x_v2_tweets_lookup: {
    method: 'GET',
    path: '/2/tweets',
    params: {
      ids: query('ids', 'csv', { required: true, maxItems: 100, doc: 'up to 100 ids, comma-separated' }),
      ...fields({ tweet_fields: POST_FIELDS, user_fields: USER_FIELDS, expansions: 'author_id' }),
    },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: posts,
    limit: { max: 900, seconds: 900 },
    price: PRICE.posts,
  },
  x_v2_tweets_counts_recent: {
    method: 'GET',
    path: '/2/tweets/counts/recent',
    params: {
      query: query('query', 'text', { required: true, maxLength: 4096 }),
      granularity: query('granularity', 'text', { values: ['minute', 'hour', 'day'], fallback: 'hour' }),
      start_time: query('start_time', 'time'),
      end_time: query('end_time', 'time'),
    },
    credentials: ['user', 'app'],
    reply: { shape: 'many', of: 'count' },
  },
  x_v2_tweets_quote_tweets: {
    method: 'GET',
    path: '/2/tweets/{id}/quote_tweets',
    params: {
      id: path('id', 'post_id'),
      ...paged(10, 100, 'pagination_token', { fallback: 100 }),
      ...fields({ tweet_fields: POST_FIELDS, user_fields: USER_FIELDS, expansions: 'author_id' }),
    },
    credentials: ['user', 'app'],
    scopes: READ,
    paging: next,
    reply: posts,
    limit: { max: 75, seconds: 900 },
    price: PRICE.posts,
  },
  x_v2_tweets_retweeted_by: {
    method: 'GET',
    path: '/2/tweets/{id}/retweeted_by',
    params: { id: path('id', 'post_id'), ...paged(1, 100), ...fields({ user_fields: USER_FIELDS }) },
    credentials: ['user', 'app'],
    scopes: READ,
    paging: next,
    reply: { shape: 'many', of: 'user' },
    limit: { max: 75, seconds: 900 },
    price: PRICE.users,
  },
  create_tweet: {
    method: 'POST',
    path: '/2/tweets',
    params: {
      text: body('text', 'text'),
      in_reply_to_id: body('reply.in_reply_to_tweet_id', 'post_id'),
      quoted_tweet_id: body('quote_tweet_id', 'post_id'),
      media_ids: body('media.media_ids', 'ids', { maxItems: 4 }),
      reply_settings: body('reply_settings', 'text', {
        values: ['following', 'mentionedUsers', 'subscribers', 'verified'],
      }),
      made_with_ai: body('made_with_ai', 'boolean'),
    },
    scopes: WRITE,
    reply: { shape: 'flags', fields: ['id', 'text'] },
    success: 201,
    limit: { max: 100, seconds: 900 },
    price: PRICE.write,
  },
  delete_tweet: {
    method: 'DELETE',
    path: '/2/tweets/{id}',
    params: { tweet_id: path('id', 'post_id') },
    scopes: WRITE,
    effect: 'destroy',
    reply: { shape: 'flags', fields: ['deleted'] },
  },
  x_v2_tweets_hide_reply: {
    method: 'PUT',
    path: '/2/tweets/{tweet_id}/hidden',
    params: {
      id: path('tweet_id', 'post_id', { doc: 'a reply in a conversation you started' }),
      hidden: body('hidden', 'boolean', { values: ['true'], fallback: true }),
    },
    scopes: MODERATE,
    reply: { shape: 'flags', fields: ['hidden'] },
  },
  x_v2_tweets_unhide_reply: {
    method: 'PUT',
    path: '/2/tweets/{tweet_id}/hidden',
    params: {
      id: path('tweet_id', 'post_id'),
      hidden: body('hidden', 'boolean', { values: ['false'], fallback: false }),
    },
    scopes: MODERATE,
    reply: { shape: 'flags', fields: ['hidden'] },
  },
} as const satisfies Record<string, EndpointRow>;
