import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { body, fields, LIST_FIELDS, POST_FIELDS, paged, path, self, USER_FIELDS } from './params.ts';

const READ = ['list.read', 'tweet.read', 'users.read'] as const;
const WRITE = ['list.write', 'tweet.read', 'users.read'] as const;
const list = path('id', 'list_id');
const lists_ = { shape: 'many', of: 'list' } as const;
const members = { shape: 'many', of: 'user' } as const;
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const openToApps = ['user', 'app'] as const;
const writes = { max: 300, seconds: 900 } as const;
const listFields = fields({ list_fields: LIST_FIELDS });
const userFields = fields({ user_fields: USER_FIELDS });

const flag = (name: string) => ({ shape: 'flags', fields: [name] }) as const;

export const lists = {
  x_v2_lists_get: {
    method: 'GET',
    path: '/2/lists/{id}',
    params: { id: list, ...listFields, ...fields({ expansions: '' }) },
    credentials: openToApps,
    scopes: READ,
    reply: { shape: 'one', of: 'list' },
    limit: { max: 75, seconds: 900 },
  },
  x_v2_lists_create: {
    method: 'POST',
    path: '/2/lists',
    params: {
      name: body('name', 'text', { required: true, maxLength: 25 }),
      description: body('description', 'text', { maxLength: 100 }),
      private: body('private', 'boolean'),
    },
    scopes: ['list.read', ...WRITE],
    reply: { shape: 'flags', fields: ['id', 'name'] },
    success: 201,
    limit: writes,
  },
  x_v2_lists_update: {
    method: 'PUT',
    path: '/2/lists/{id}',
    params: {
      id: list,
      name: body('name', 'text', { maxLength: 25 }),
      description: body('description', 'text', { maxLength: 100 }),
      private: body('private', 'boolean'),
    },
    scopes: WRITE,
    reply: flag('updated'),
    limit: writes,
  },
  x_v2_lists_delete: {
    method: 'DELETE',
    path: '/2/lists/{id}',
    params: { id: list },
    scopes: WRITE,
    effect: 'destroy',
    reply: flag('deleted'),
    limit: writes,
  },
  x_v2_lists_members: {
    method: 'GET',
    path: '/2/lists/{id}/members',
    params: { id: list, ...paged(1, 100), ...userFields },
    credentials: openToApps,
    scopes: READ,
    paging: next,
    reply: members,
    limit: { max: 900, seconds: 900 },
    price: PRICE.users,
  },
  x_v2_lists_members_add: {
    method: 'POST',
    path: '/2/lists/{id}/members',
    params: { id: list, user_id: body('user_id', 'user_id', { required: true }) },
    scopes: WRITE,
    reply: flag('is_member'),
    limit: writes,
  },
  x_v2_lists_members_remove: {
    method: 'DELETE',
    path: '/2/lists/{id}/members/{user_id}',
    params: { id: list, target_user_id: path('user_id', 'user_id') },
    scopes: WRITE,
    effect: 'destroy',
    reply: flag('is_member'),
    limit: writes,
  },
  x_v2_lists_followers: {
    method: 'GET',
    path: '/2/lists/{id}/followers',
    params: { id: list, ...paged(1, 100), ...userFields },
    credentials: openToApps,
    scopes: READ,
    paging: next,
    reply: members,
    limit: { max: 180, seconds: 900 },
    price: PRICE.users,
  },
  x_v2_lists_tweets: {
    method: 'GET',
    path: '/2/lists/{id}/tweets',
    params: {
      id: list,
      ...paged(1, 100),
      ...fields({ tweet_fields: POST_FIELDS, user_fields: USER_FIELDS, expansions: 'author_id' }),
    },
    credentials: openToApps,
    scopes: READ,
    paging: next,
    reply: { shape: 'many', of: 'post' },
    limit: { max: 900, seconds: 900 },
    price: PRICE.posts,
  },
  x_v2_lists_owned: {
    method: 'GET',
    path: '/2/users/{id}/owned_lists',
    params: { user_id: path('id', 'user_id'), ...paged(1, 100), ...listFields },
    credentials: openToApps,
    scopes: READ,
    paging: next,
    reply: lists_,
    limit: { max: 15, seconds: 900 },
  },
  x_v2_lists_memberships: {
    method: 'GET',
    path: '/2/users/{id}/list_memberships',
    params: { user_id: path('id', 'user_id'), ...paged(1, 100), ...listFields },
    credentials: openToApps,
    scopes: READ,
    paging: next,
    reply: lists_,
    limit: { max: 75, seconds: 900 },
  },
  x_v2_lists_pinned: {
    method: 'GET',
    path: '/2/users/{id}/pinned_lists',
    params: { user_id: self(), ...listFields },
    scopes: READ,
    reply: lists_,
    limit: { max: 15, seconds: 900 },
  },
  x_v2_lists_pin: {
    method: 'POST',
    path: '/2/users/{id}/pinned_lists',
    params: { user_id: self(), list_id: body('list_id', 'list_id', { required: true }) },
    scopes: WRITE,
    reply: flag('pinned'),
  },
  x_v2_lists_follow: {
    method: 'POST',
    path: '/2/users/{id}/followed_lists',
    params: { user_id: self(), list_id: body('list_id', 'list_id', { required: true }) },
    scopes: WRITE,
    reply: flag('following'),
  },
  x_v2_lists_unfollow: {
    method: 'DELETE',
    path: '/2/users/{id}/followed_lists/{list_id}',
    params: { user_id: self(), list_id: path('list_id', 'list_id') },
    scopes: WRITE,
    reply: flag('following'),
  },
} as const satisfies Record<string, EndpointRow>;
