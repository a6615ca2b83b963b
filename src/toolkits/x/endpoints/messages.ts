import type { EndpointRow } from './endpoint.ts';
import { body, DM_FIELDS, fields, paged, path } from './params.ts';

const READ = ['dm.read', 'tweet.read', 'users.read'] as const;
const WRITE = ['dm.write', 'tweet.read', 'users.read'] as const;
const next = { param: 'pagination_token', next: 'meta.next_token' } as const;
const events = { shape: 'many', of: 'dm_event' } as const;
const sent = { shape: 'flags', fields: ['dm_conversation_id', 'dm_event_id'] } as const;
const dmFields = fields({ dm_event_fields: DM_FIELDS, expansions: '' });
const listing = { ...paged(1, 100), ...dmFields };
const seldom = { max: 15, seconds: 900 } as const;
const NOT_OFFERED =
  'X publishes events, not conversations, as a listing; kept because the tool is documented';

const text = (wire: string) => body(wire, 'text', { required: true, maxLength: 10_000 });
const attachments = (wire: string) => body(wire, 'csv', { maxItems: 1, doc: 'one media id' });

export const messages = {
  x_v2_dm_conversations: {
    method: 'GET',
    path: '/2/dm_conversations',
    params: listing,
    scopes: READ,
    paging: next,
    reply: { shape: 'many', of: 'dm_conversation' },
    limit: seldom,
    unlisted: NOT_OFFERED,
  },
  x_v2_dm_conversation_by_id: {
    method: 'GET',
    path: '/2/dm_conversations/{id}',
    params: { id: path('id', 'conversation_id'), ...dmFields },
    scopes: READ,
    reply: { shape: 'one', of: 'dm_conversation' },
    limit: seldom,
    unlisted: NOT_OFFERED,
  },
  x_v2_dm_events: {
    method: 'GET',
    path: '/2/dm_events',
    params: listing,
    scopes: READ,
    paging: next,
    reply: events,
    limit: seldom,
  },
  x_v2_dm_events_by_conversation: {
    method: 'GET',
    path: '/2/dm_conversations/{id}/dm_events',
    params: { id: path('id', 'conversation_id'), ...listing },
    scopes: READ,
    paging: next,
    reply: events,
    limit: seldom,
  },
  x_v2_dm_events_by_participant: {
    method: 'GET',
    path: '/2/dm_conversations/with/{participant_id}/dm_events',
    params: { participant_id: path('participant_id', 'user_id'), ...listing },
    scopes: READ,
    paging: next,
    reply: events,
    limit: seldom,
  },
  x_v2_dm_send_in_conversation: {
    method: 'POST',
    path: '/2/dm_conversations/{dm_conversation_id}/messages',
    params: {
      id: path('dm_conversation_id', 'conversation_id'),
      text: text('text'),
      attachments: attachments('attachments[].media_id'),
    },
    scopes: WRITE,
    reply: sent,
    success: 201,
    limit: seldom,
  },
  x_v2_dm_send_to_participant: {
    method: 'POST',
    path: '/2/dm_conversations/with/{participant_id}/messages',
    params: {
      participant_id: path('participant_id', 'user_id'),
      text: text('text'),
      attachments: attachments('attachments[].media_id'),
    },
    scopes: WRITE,
    reply: sent,
    success: 201,
    limit: seldom,
  },
  x_v2_dm_create_group: {
    method: 'POST',
    path: '/2/dm_conversations',
    params: {
      participant_ids: body('participant_ids', 'ids', { required: true, maxItems: 49, doc: 'user ids' }),
      text: text('message.text'),
      attachments: attachments('message.attachments[].media_id'),
    },
    bodyConstants: { conversation_type: 'Group' },
    scopes: WRITE,
    reply: sent,
    success: 201,
    limit: seldom,
  },
} as const satisfies Record<string, EndpointRow>;
