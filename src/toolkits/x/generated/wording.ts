import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import { adminWording, listWording } from './wording-admin.ts';

/** What the table cannot say: names and sentences for people. */
export interface Wording {
  readonly title: string;
  readonly summary: string;
  readonly risks?: (args: JsonObject) => readonly string[];
  /** The call that undoes it. */
  readonly undo?: (
    args: JsonObject,
    data: JsonValue,
  ) => { readonly tool: GeneratedId; readonly args: JsonObject } | undefined;
}

const NOT_OFFERED = 'X may not offer this endpoint to every app.';

export const WORDING: Readonly<Record<GeneratedId, Wording>> = {
  ...listWording,
  ...adminWording,
  x_v2_tweets_lookup: { title: 'Look up posts', summary: 'Reads up to 100 posts by id.' },
  x_v2_tweets_counts_recent: {
    title: 'Count recent posts',
    summary: 'Counts posts of the last 7 days that match a search query.',
  },
  x_v2_tweets_quote_tweets: { title: 'List quotes', summary: 'Lists posts that quote a post.' },
  x_v2_tweets_retweeted_by: { title: 'List reposters', summary: 'Lists users who reposted a post.' },
  x_v2_tweets_hide_reply: {
    title: 'Hide a reply',
    summary: 'Hides a reply in your conversation.',
    undo: ({ id = '' }) => ({ tool: 'x_v2_tweets_unhide_reply', args: { id } }),
  },
  x_v2_tweets_unhide_reply: {
    title: 'Unhide a reply',
    summary: 'Shows a hidden reply again.',
    undo: ({ id = '' }) => ({ tool: 'x_v2_tweets_hide_reply', args: { id } }),
  },
  x_v2_users_lookup_by_usernames: { title: 'Look up users', summary: 'Reads up to 100 users by name.' },
  x_v2_users_pin_tweet: {
    title: 'Pin a post',
    summary: 'Pins one of your posts to your profile.',
    risks: () => [NOT_OFFERED],
    undo: ({ user_id = 'me' }) => ({ tool: 'x_v2_users_unpin_tweet', args: { user_id } }),
  },
  x_v2_users_unpin_tweet: {
    title: 'Unpin the post',
    summary: 'Removes the pinned post from your profile.',
    risks: () => [NOT_OFFERED],
  },
  x_v2_mutes_list: { title: 'List muted users', summary: 'Lists users you mute.' },
  x_v2_mutes_create: {
    title: 'Mute a user',
    summary: 'Mutes a user.',
    undo: ({ user_id = 'me', target_user_id = '' }) => ({
      tool: 'x_v2_mutes_delete',
      args: { user_id, target_user_id },
    }),
  },
  x_v2_mutes_delete: {
    title: 'Unmute a user',
    summary: 'Unmutes a user.',
    undo: ({ user_id = 'me', target_user_id = '' }) => ({
      tool: 'x_v2_mutes_create',
      args: { user_id, target_user_id },
    }),
  },
  x_v2_blocks_list: { title: 'List blocked users', summary: 'Lists users you block.' },
  x_v2_blocks_create: {
    title: 'Block a user',
    summary: 'Blocks a user.',
    risks: () => ['Unblocking does not restore follows.', NOT_OFFERED],
    undo: ({ user_id = 'me', target_user_id = '' }) => ({
      tool: 'x_v2_blocks_delete',
      args: { user_id, target_user_id },
    }),
  },
  x_v2_blocks_delete: {
    title: 'Unblock a user',
    summary: 'Unblocks a user.',
    risks: () => [NOT_OFFERED],
    undo: ({ user_id = 'me', target_user_id = '' }) => ({
      tool: 'x_v2_blocks_create',
      args: { user_id, target_user_id },
    }),
  },
  x_v2_dm_conversations: {
    title: 'List DM conversations',
    summary: 'Lists your direct-message conversations.',
  },
  x_v2_dm_conversation_by_id: {
    title: 'Get a DM conversation',
    summary: 'Reads one direct-message conversation.',
  },
  x_v2_dm_events: { title: 'List DM events', summary: 'Lists your direct messages, newest first.' },
  x_v2_dm_events_by_conversation: {
    title: 'List a conversation',
    summary: 'Lists messages of one conversation.',
  },
  x_v2_dm_events_by_participant: {
    title: 'List messages with a user',
    summary: 'Lists messages between you and a user.',
  },
  x_v2_dm_send_in_conversation: {
    title: 'Send a DM in a conversation',
    summary: 'Sends a direct message in a conversation.',
    risks: () => ['A sent message cannot be unsent.'],
  },
  x_v2_dm_send_to_participant: {
    title: 'Send a DM to a user',
    summary: 'Sends a direct message to a user.',
    risks: () => ['A sent message cannot be unsent.'],
  },
  x_v2_dm_create_group: {
    title: 'Create a group DM',
    summary: 'Starts a group conversation with a first message.',
    risks: () => ['A sent message cannot be unsent.'],
  },
  x_v2_spaces_get: { title: 'Get a Space', summary: 'Reads one Space.' },
  x_v2_spaces_lookup: { title: 'Look up Spaces', summary: 'Reads up to 100 Spaces by id.' },
  x_v2_spaces_by_creator: {
    title: 'List Spaces by creator',
    summary: 'Lists live and scheduled Spaces of users.',
  },
  x_v2_spaces_search: { title: 'Search Spaces', summary: 'Finds Spaces by title.' },
  x_v2_spaces_buyers: { title: 'List ticket buyers', summary: 'Lists who bought a ticket for your Space.' },
  x_v2_spaces_tweets: { title: 'List posts in a Space', summary: 'Lists posts shared in a Space.' },
};
