import type { JsonObject } from '../../../contract/json.ts';
import type { EndpointId, GeneratedId } from '../endpoints/ids.ts';
import { done, type FarSide, notDone, type Reconcile } from './far-side.ts';
import { reconcileAdmin } from './reconcile-admin.ts';

/** Is a user (or list) in a listing? What a change should have made true or false. */
const membership =
  (
    listing: EndpointId,
    where: (args: JsonObject) => JsonObject,
    who: string,
    flag: string,
    wanted: boolean,
  ): Reconcile =>
  async (args, far) => {
    const { items, complete } = await far.all(listing, where(args));
    const present = items.some((item) => item.id === args[who]);
    if (!complete && !present)
      return { settled: 'unknown', why: 'The listing is too long to be read to its end.' };
    return present === wanted ? done({ [flag]: wanted }) : notDone;
  };

const own = ({ user_id = 'me' }: JsonObject): JsonObject => ({ user_id });
const largest = (where: (args: JsonObject) => JsonObject, max_results: number) => (args: JsonObject) => ({
  ...where(args),
  max_results,
});

/** One's own message with these words, sent since. */
const sentMessage =
  (listing: EndpointId, where: (args: JsonObject) => JsonObject): Reconcile =>
  async (args, far) => {
    const me = await far.ownId();
    const { items } = await far.all(listing, where(args));
    const sent = items.find((item) => item.text === args.text && item.sender_id === me && far.isNew(item));
    return sent
      ? done({ dm_conversation_id: sent.dm_conversation_id ?? '', dm_event_id: sent.id ?? '' })
      : notDone;
  };

/** X does not say whether a reply is hidden. */
const invisible: Reconcile = async () => ({
  settled: 'unknown',
  why: 'X does not show whether a reply is hidden; look at the conversation on x.com.',
});

const followedList =
  (wanted: boolean): Reconcile =>
  async (args, far) => {
    const me = await far.ownId();
    return membership(
      'x_v2_lists_followers',
      ({ list_id = '' }) => ({ id: list_id, max_results: 100 }),
      'me',
      'following',
      wanted,
    )({ ...args, me }, far);
  };

const pinnedPost = async (far: FarSide): Promise<string | undefined> => {
  const user = await far.one('user_by_id', { user_id: await far.ownId(), user_fields: 'pinned_tweet_id' });
  return typeof user?.pinned_tweet_id === 'string' ? user.pinned_tweet_id : undefined;
};

/** How each change of the table is settled after a crash. */
export const RECONCILE: Readonly<Partial<Record<GeneratedId, Reconcile>>> = {
  ...reconcileAdmin,
  x_v2_tweets_hide_reply: invisible,
  x_v2_tweets_unhide_reply: invisible,
  x_v2_users_pin_tweet: async ({ tweet_id }, far) =>
    (await pinnedPost(far)) === tweet_id ? done({ pinned: true }) : notDone,
  x_v2_users_unpin_tweet: async (_args, far) =>
    (await pinnedPost(far)) === undefined ? done({ pinned: false }) : notDone,
  x_v2_mutes_create: membership('x_v2_mutes_list', largest(own, 1000), 'target_user_id', 'muting', true),
  x_v2_mutes_delete: membership('x_v2_mutes_list', largest(own, 1000), 'target_user_id', 'muting', false),
  x_v2_blocks_create: membership('x_v2_blocks_list', largest(own, 1000), 'target_user_id', 'blocking', true),
  x_v2_blocks_delete: membership('x_v2_blocks_list', largest(own, 1000), 'target_user_id', 'blocking', false),
  x_v2_dm_send_in_conversation: sentMessage('x_v2_dm_events_by_conversation', ({ id = '' }) => ({ id })),
  x_v2_dm_send_to_participant: sentMessage('x_v2_dm_events_by_participant', ({ participant_id = '' }) => ({
    participant_id,
  })),
  x_v2_dm_create_group: async (args, far) => {
    const settlement = await sentMessage('x_v2_dm_events', () => ({}))(args, far);
    // The same words may have gone to a single person: groups have a plain number as their id.
    const isGroup = settlement.settled === 'done' && !JSON.stringify(settlement.data).includes('-');
    return settlement.settled === 'done' && !isGroup ? notDone : settlement;
  },
  x_v2_lists_create: async ({ name, description = '', private: hidden = false }, far) => {
    const { items } = await far.all('x_v2_lists_owned', { user_id: await far.ownId(), max_results: 100 });
    const made = items.find(
      (item) =>
        item.name === name &&
        (item.description ?? '') === description &&
        (item.private ?? false) === hidden &&
        far.isNew(item),
    );
    return made ? done({ id: made.id ?? '', name: made.name ?? '' }) : notDone;
  },
  x_v2_lists_update: async ({ id = '', ...changes }, far) => {
    const list = await far.one('x_v2_lists_get', { id });
    const same =
      list !== undefined && Object.entries(changes).every(([field, value]) => list[field] === value);
    return same ? done({ updated: true }) : notDone;
  },
  x_v2_lists_delete: async ({ id = '' }, far) =>
    (await far.one('x_v2_lists_get', { id })) ? notDone : done({ deleted: true }),
  x_v2_lists_members_add: membership(
    'x_v2_lists_members',
    ({ id = '' }) => ({ id, max_results: 100 }),
    'user_id',
    'is_member',
    true,
  ),
  x_v2_lists_members_remove: membership(
    'x_v2_lists_members',
    ({ id = '' }) => ({ id, max_results: 100 }),
    'target_user_id',
    'is_member',
    false,
  ),
  x_v2_lists_pin: membership('x_v2_lists_pinned', own, 'list_id', 'pinned', true),
  x_v2_lists_follow: followedList(true),
  x_v2_lists_unfollow: followedList(false),
};
