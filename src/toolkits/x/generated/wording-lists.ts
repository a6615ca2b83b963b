import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Wording } from './wording.ts';

type ListTool =
  `x_v2_lists_${'get' | 'create' | 'update' | 'delete' | 'members' | 'members_add' | 'members_remove' | 'followers' | 'tweets' | 'owned' | 'memberships' | 'pinned' | 'pin' | 'follow' | 'unfollow'}`;

export const listWording: Readonly<Record<ListTool, Wording>> = {
  x_v2_lists_get: { title: 'Get a List', summary: 'Reads one List.' },
  x_v2_lists_create: {
    title: 'Create a List',
    summary: 'Creates a List.',
    ask: ({ name, private: hidden }) =>
      `Create the ${hidden === true ? 'private' : 'public'} List “${name}”?`,
    undo: (_args, data) => {
      const id = idOf(data);
      return id === undefined ? undefined : { tool: 'x_v2_lists_delete', args: { id } };
    },
  },
  x_v2_lists_update: {
    title: 'Update a List',
    summary: 'Changes name, description or privacy of your List.',
    ask: ({ id, ...changes }) => `Change the List ${id}: ${changesOf(changes)}?`,
  },
  x_v2_lists_delete: {
    title: 'Delete a List',
    summary: 'Deletes your List.',
    ask: ({ id }) => `Delete the List ${id} with all its members and followers?`,
    risks: () => ['A deleted List cannot be restored.'],
  },
  x_v2_lists_members: { title: 'List members', summary: 'Lists members of a List.' },
  x_v2_lists_members_add: {
    title: 'Add a List member',
    summary: 'Adds a user to your List.',
    ask: ({ id, user_id }) => `Add user ${user_id} to the List ${id}? They may be told.`,
    undo: ({ id = '', user_id = '' }) => ({
      tool: 'x_v2_lists_members_remove',
      args: { id, target_user_id: user_id },
    }),
  },
  x_v2_lists_members_remove: {
    title: 'Remove a List member',
    summary: 'Removes a user from your List.',
    ask: ({ id, target_user_id }) => `Remove user ${target_user_id} from the List ${id}?`,
    undo: ({ id = '', target_user_id = '' }) => ({
      tool: 'x_v2_lists_members_add',
      args: { id, user_id: target_user_id },
    }),
  },
  x_v2_lists_followers: { title: 'List followers of a List', summary: 'Lists followers of a List.' },
  x_v2_lists_tweets: { title: 'Read a List', summary: 'Lists posts by members of a List.' },
  x_v2_lists_owned: { title: 'List owned Lists', summary: 'Lists the Lists a user owns.' },
  x_v2_lists_memberships: { title: 'List memberships', summary: 'Lists the Lists a user is on.' },
  x_v2_lists_pinned: { title: 'List pinned Lists', summary: 'Lists the Lists you pinned.' },
  x_v2_lists_pin: {
    title: 'Pin a List',
    summary: 'Pins a List.',
    ask: ({ list_id }) => `Pin the List ${list_id}?`,
  },
  x_v2_lists_follow: {
    title: 'Follow a List',
    summary: 'Follows a List.',
    ask: ({ list_id }) => `Follow the List ${list_id}?`,
    undo: ({ user_id = 'me', list_id = '' }) => ({ tool: 'x_v2_lists_unfollow', args: { user_id, list_id } }),
  },
  x_v2_lists_unfollow: {
    title: 'Unfollow a List',
    summary: 'Unfollows a List.',
    ask: ({ list_id }) => `Unfollow the List ${list_id}?`,
    undo: ({ user_id = 'me', list_id = '' }) => ({ tool: 'x_v2_lists_follow', args: { user_id, list_id } }),
  },
};

/** `name “x”, private true`: what an update would set. */
export const changesOf = (changes: JsonObject): string =>
  Object.entries(changes)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? `“${value}”` : String(value)}`)
    .join(', ') || 'nothing';

export const idOf = (data: JsonValue): string | undefined =>
  typeof data === 'object' && data !== null && !Array.isArray(data) && typeof data.id === 'string'
    ? data.id
    : undefined;
