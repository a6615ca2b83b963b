import { type ConversationDoc, compareIds, type MessageDoc, nextId } from '../documents.ts';
import { Includes, renderConversation, renderMessage } from '../fields.ts';
import {
  type Answer,
  answer,
  type Call,
  type Handler,
  list,
  needUser,
  nothing,
  paginate,
  pick,
  text,
} from '../handler.ts';
import { forbidden, invalidRequest, noSuchResource } from '../problems.ts';
import { pairId } from '../seed/gatherings.ts';

const mine = (call: Call, conversation: ConversationDoc | undefined): ConversationDoc | undefined =>
  conversation?.participant_ids.includes(call.own) ? conversation : undefined;

function eventPage(call: Call, keep: (message: MessageDoc) => boolean): Answer {
  const events = call.state
    .all('messages')
    .filter(
      (message) => keep(message) && mine(call, call.state.get('conversations', message.conversation_id)),
    )
    .sort((a, b) => compareIds(b.id, a.id));
  const { items, meta } = paginate(call, events, (message) => message.id);
  const includes = new Includes(call.state, call.wanted);
  for (const message of items) includes.ofMessage(message);
  const data = items.map((message) => renderMessage(message, call.wanted));
  return {
    body: {
      ...(data.length > 0 ? { data } : {}),
      ...includes.render(),
      meta: pick(meta, ['result_count', 'next_token', 'previous_token']),
    },
  };
}

function write(call: Call, conversationId: string): Answer {
  const attachments = list(call, 'attachments');
  const media_keys = attachments.map((id) => {
    const media = call.state.get('media', id);
    if (media?.owner_id === call.own && media.state === 'succeeded') return media.media_key;
    throw invalidRequest([{ name: 'attachments', value: id, message: 'Your media IDs are invalid.' }]);
  });
  const id = nextId(call.state, call.now);
  call.state.put('messages', id, {
    id,
    conversation_id: conversationId,
    event_type: 'MessageCreate',
    sender_id: call.own,
    text: text(call, 'text'),
    created_at: call.now.toISOString(),
    media_keys,
  });
  return { status: 201, body: { data: { dm_conversation_id: conversationId, dm_event_id: id } } };
}

function refuseBlocked(call: Call, target: string): void {
  if (call.state.linked('blocks', target, call.own))
    throw forbidden('You cannot send messages to this user.');
}

/** Two people always have the one conversation; it begins with its first message. */
function pairWith(call: Call, target: string): string {
  refuseBlocked(call, target);
  const id = pairId(call.own, target);
  if (!call.state.get('conversations', id)) {
    call.state.put('conversations', id, {
      id,
      type: 'OneToOne',
      participant_ids: [call.own, target],
      created_at: call.now.toISOString(),
    });
  }
  return id;
}

export const messages = {
  x_v2_dm_conversations: (call) => {
    const newest = (conversation: ConversationDoc) =>
      call.state
        .all('messages')
        .reduce(
          (at, message) =>
            message.conversation_id === conversation.id && message.created_at > at ? message.created_at : at,
          conversation.created_at,
        );
    const all = call.state
      .all('conversations')
      .filter((conversation) => mine(call, conversation))
      .sort((a, b) => (newest(a) < newest(b) ? 1 : -1));
    const { items, meta } = paginate(call, all, (conversation) => conversation.id);
    const includes = new Includes(call.state, call.wanted);
    for (const conversation of items) includes.ofConversation(conversation);
    return {
      body: {
        data: items.map((conversation) => renderConversation(conversation, call.wanted)),
        ...includes.render(),
        meta: pick(meta, ['result_count', 'next_token', 'previous_token']),
      },
    };
  },
  x_v2_dm_conversation_by_id: (call) => {
    const conversation = mine(call, call.state.get('conversations', text(call, 'id')));
    if (!conversation) return nothing('dm_conversation', 'id', text(call, 'id'));
    const includes = new Includes(call.state, call.wanted);
    includes.ofConversation(conversation);
    return answer(renderConversation(conversation, call.wanted), includes.render());
  },
  x_v2_dm_events: (call) => eventPage(call, () => true),
  x_v2_dm_events_by_conversation: (call) =>
    eventPage(call, (message) => message.conversation_id === text(call, 'id')),
  x_v2_dm_events_by_participant: (call) => {
    const pair = pairId(call.own, needUser(call, 'participant_id').id);
    return eventPage(call, (message) => message.conversation_id === pair);
  },
  x_v2_dm_send_in_conversation: (call) => {
    const conversation = mine(call, call.state.get('conversations', text(call, 'id')));
    if (!conversation) throw noSuchResource('dm_conversation', 'dm_conversation_id', text(call, 'id'));
    return write(call, conversation.id);
  },
  x_v2_dm_send_to_participant: (call) => write(call, pairWith(call, needUser(call, 'participant_id').id)),
  x_v2_dm_create_group: (call) => {
    const members = list(call, 'participant_ids');
    for (const member of members) {
      if (!call.state.get('users', member)) throw noSuchResource('user', 'participant_ids', member);
      refuseBlocked(call, member);
    }
    const id = nextId(call.state, call.now);
    call.state.put('conversations', id, {
      id,
      type: 'Group',
      participant_ids: [...new Set([call.own, ...members])],
      created_at: call.now.toISOString(),
    });
    return write(call, id);
  },
} satisfies Record<string, Handler>;
