import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { body, fields, paged, path, query, self, USER_FIELDS } from './params.ts';

const READ = ['tweet.read', 'users.read'] as const;
const one = { shape: 'one', of: 'user' } as const;
const many = { shape: 'many', of: 'user' } as const;
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const userFields = fields({ user_fields: USER_FIELDS, expansions: '' });
const lookup = { max: 900, seconds: 900 } as const;

export const users = {
  user_by_id: {
    method: 'GET',
    path: '/2/users/{id}',
    params: { user_id: path('id', 'user_id'), ...userFields },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: one,
    limit: lookup,
    price: PRICE.users,
  },
  user_by_username: {
    method: 'GET',
    path: '/2/users/by/username/{username}',
    params: { username: path('username', 'username'), ...userFields },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: one,
    limit: lookup,
    price: PRICE.users,
  },
  users_by_ids: {
    method: 'GET',
    path: '/2/users',
    params: { user_ids: query('ids', 'ids', { required: true, maxItems: 100 }), ...userFields },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: many,
    limit: lookup,
    price: PRICE.users,
  },
  x_v2_users_lookup_by_usernames: {
    method: 'GET',
    path: '/2/users/by',
    params: {
      usernames: query('usernames', 'csv', {
        required: true,
        maxItems: 100,
        doc: 'up to 100, comma-separated, no @',
      }),
      ...userFields,
    },
    credentials: ['user', 'app'],
    scopes: READ,
    reply: many,
    limit: lookup,
    price: PRICE.users,
  },
  me: {
    method: 'GET',
    path: '/2/users/me',
    params: userFields,
    scopes: READ,
    reply: one,
    limit: { max: 75, seconds: 900 },
  },
  followers: {
    method: 'GET',
    path: '/2/users/{id}/followers',
    params: { user_id: path('id', 'user_id'), ...paged(1, 1000), ...userFields },
    credentials: ['user', 'app'],
    scopes: ['follows.read', ...READ],
    paging: next,
    reply: many,
    price: PRICE.users,
  },
  following: {
    method: 'GET',
    path: '/2/users/{id}/following',
    params: { user_id: path('id', 'user_id'), ...paged(1, 1000), ...userFields },
    credentials: ['user', 'app'],
    scopes: ['follows.read', ...READ],
    paging: next,
    reply: many,
    price: PRICE.users,
  },
  liking_users: {
    method: 'GET',
    path: '/2/tweets/{id}/liking_users',
    params: { tweet_id: path('id', 'post_id'), ...paged(1, 100), ...userFields },
    scopes: ['like.read', ...READ],
    paging: next,
    reply: many,
    limit: { max: 75, seconds: 900 },
    price: PRICE.users,
  },
  x_v2_users_pin_tweet: {
    method: 'PUT',
    path: '/2/users/{id}/pinned_tweet',
    params: { user_id: self(), tweet_id: body('tweet_id', 'post_id', { required: true }) },
    scopes: ['tweet.read', 'tweet.write', 'users.read'],
    reply: { shape: 'flags', fields: ['pinned'] },
    unlisted: 'X published no endpoint to pin a post; kept because the tool is documented',
  },
  x_v2_users_unpin_tweet: {
    method: 'DELETE',
    path: '/2/users/{id}/pinned_tweet',
    params: { user_id: self() },
    scopes: ['tweet.read', 'tweet.write', 'users.read'],
    reply: { shape: 'flags', fields: ['pinned'] },
    unlisted: 'X published no endpoint to unpin a post; kept because the tool is documented',
  },
} as const satisfies Record<string, EndpointRow>;
