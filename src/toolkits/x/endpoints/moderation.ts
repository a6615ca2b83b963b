import type { EndpointRow } from './endpoint.ts';
import { PRICE } from './endpoint.ts';
import { body, fields, paged, path, self, USER_FIELDS } from './params.ts';

const READ = ['tweet.read', 'users.read'] as const;
const target = body('target_user_id', 'user_id', { required: true });
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const users = { shape: 'many', of: 'user' } as const;
const listing = {
  user_id: self(),
  ...paged(1, 1000, 'pagination_token', { fallback: 100 }),
  ...fields({ user_fields: USER_FIELDS }),
};
const NO_BLOCKING = 'X took blocking out of its published API; kept because the tool is documented';

export const moderation = {
  x_v2_mutes_list: {
    method: 'GET',
    path: '/2/users/{id}/muting',
    params: listing,
    scopes: ['mute.read', ...READ],
    paging: next,
    reply: users,
    limit: { max: 15, seconds: 900 },
    price: PRICE.users,
  },
  x_v2_mutes_create: {
    method: 'POST',
    path: '/2/users/{id}/muting',
    params: { user_id: self(), target_user_id: target },
    scopes: ['mute.write', ...READ],
    reply: { shape: 'flags', fields: ['muting'] },
  },
  x_v2_mutes_delete: {
    method: 'DELETE',
    path: '/2/users/{source_user_id}/muting/{target_user_id}',
    params: { user_id: self('source_user_id'), target_user_id: path('target_user_id', 'user_id') },
    scopes: ['mute.write', ...READ],
    reply: { shape: 'flags', fields: ['muting'] },
  },
  x_v2_blocks_list: {
    method: 'GET',
    path: '/2/users/{id}/blocking',
    params: listing,
    scopes: ['block.read', ...READ],
    paging: next,
    reply: users,
    limit: { max: 15, seconds: 900 },
    price: PRICE.users,
  },
  x_v2_blocks_create: {
    method: 'POST',
    path: '/2/users/{id}/blocking',
    params: { user_id: self(), target_user_id: target },
    scopes: ['block.write', ...READ],
    reply: { shape: 'flags', fields: ['blocking'] },
    unlisted: NO_BLOCKING,
  },
  x_v2_blocks_delete: {
    method: 'DELETE',
    path: '/2/users/{source_user_id}/blocking/{target_user_id}',
    params: { user_id: self('source_user_id'), target_user_id: path('target_user_id', 'user_id') },
    scopes: ['block.write', ...READ],
    reply: { shape: 'flags', fields: ['blocking'] },
    unlisted: NO_BLOCKING,
  },
} as const satisfies Record<string, EndpointRow>;
