import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { fields, POST_FIELDS, path, query, SPACE_FIELDS, USER_FIELDS } from './params.ts';

const scopes = ['space.read', 'tweet.read', 'users.read'] as const;
const spaces_ = { shape: 'many', of: 'space' } as const;
const openToApps = ['user', 'app'] as const;
const space = path('id', 'space_id');
const spaceFields = fields({ space_fields: SPACE_FIELDS, expansions: '' });

export const spaces = {
  x_v2_spaces_get: {
    method: 'GET',
    path: '/2/spaces/{id}',
    params: { id: space, ...spaceFields },
    credentials: openToApps,
    scopes,
    reply: { shape: 'one', of: 'space' },
  },
  x_v2_spaces_lookup: {
    method: 'GET',
    path: '/2/spaces',
    params: {
      ids: query('ids', 'csv', { required: true, maxItems: 100, doc: 'comma-separated' }),
      ...spaceFields,
    },
    credentials: openToApps,
    scopes,
    reply: spaces_,
  },
  x_v2_spaces_by_creator: {
    method: 'GET',
    path: '/2/spaces/by/creator_ids',
    params: {
      user_ids: query('user_ids', 'csv', { required: true, maxItems: 100, doc: 'comma-separated' }),
      ...spaceFields,
    },
    credentials: openToApps,
    scopes,
    reply: spaces_,
  },
  x_v2_spaces_search: {
    method: 'GET',
    path: '/2/spaces/search',
    params: {
      query: query('query', 'text', { required: true, maxLength: 2048 }),
      state: query('state', 'text', { values: ['live', 'scheduled', 'all'], fallback: 'all' }),
      ...spaceFields,
    },
    credentials: openToApps,
    scopes,
    reply: spaces_,
  },
  x_v2_spaces_buyers: {
    method: 'GET',
    path: '/2/spaces/{id}/buyers',
    params: { id: space, ...fields({ user_fields: USER_FIELDS }) },
    scopes,
    reply: { shape: 'many', of: 'user' },
    price: PRICE.users,
  },
  x_v2_spaces_tweets: {
    method: 'GET',
    path: '/2/spaces/{id}/tweets',
    params: {
      id: space,
      ...fields({ tweet_fields: POST_FIELDS, user_fields: USER_FIELDS, expansions: 'author_id' }),
    },
    credentials: openToApps,
    scopes,
    reply: { shape: 'many', of: 'post' },
    price: PRICE.posts,
  },
} as const satisfies Record<string, EndpointRow>;
