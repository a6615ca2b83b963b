import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import { isObject } from '../../../lib/is-object.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { XApi } from '../client/api.ts';
import type { EndpointId, GeneratedId } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { splitList } from '../endpoints/values.ts';

const MAX_PAGES = 10;
/** X's clock and ours may differ by this much. */
const CLOCK_SLACK_MS = 120_000;

/** Says whether an interrupted change happened. */
export type Reconcile = (args: JsonObject, far: RemoteLookup) => Promise<Settlement>;

const notDone: Settlement = { settled: 'not_done' };
const done = (data: JsonObject): Settlement => ({ settled: 'done', data });

/** Looks at X after a call was cut off. */
export class RemoteLookup {
  readonly #x: XApi;
  readonly #signal: AbortSignal;
  readonly #startedAt: Date;

  constructor(x: XApi, signal: AbortSignal, startedAt: Date) {
    this.#x = x;
    this.#signal = signal;
    this.#startedAt = startedAt;
  }

  /** The item, or undefined when X says it is not there. */
  async one(endpoint: EndpointId, params: JsonObject): Promise<JsonObject | undefined> {
    try {
      const { json } = await this.#x.request(endpoint, params, { signal: this.#signal });
      return asObject(asObject(json)?.data);
    } catch (error) {
      if (error instanceof ToolError && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  /** Every item of a listing, or `complete: false` when there is more than we are willing to read. */
  async all(endpoint: EndpointId, params: JsonObject): Promise<{ items: JsonObject[]; complete: boolean }> {
    const { paging } = ENDPOINTS[endpoint];
    const items: JsonObject[] = [];
    let token: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const next = token !== undefined && paging ? { [paging.param]: token } : {};
      const { json } = await this.#x.request(endpoint, { ...params, ...next }, { signal: this.#signal });
      const body = asObject(json) ?? {};
      if (Array.isArray(body.data))
        items.push(...body.data.map(asObject).filter((item) => item !== undefined));
      token = paging?.next === 'next_cursor' ? body.next_cursor : asObject(body.meta)?.next_token;
      if (token === undefined || token === null) return { items, complete: true };
    }
    return { items, complete: false };
  }

  /** Was it made by the interrupted call, as far as time can tell? */
  isNew(item: JsonObject): boolean {
    const at = typeof item.created_at === 'string' ? Date.parse(item.created_at) : Number.NaN;
    return at >= this.#startedAt.getTime() - CLOCK_SLACK_MS;
  }

  async ownId(): Promise<string> {
    return (await this.#x.me({ signal: this.#signal })).id;
  }
}

export const asObject = (value: JsonValue | undefined): JsonObject | undefined =>
  isObject(value) ? value : undefined;

/** A thing made by the interrupted call: new, and with the fields it was given. */
const made = (items: readonly JsonObject[], far: RemoteLookup, wanted: JsonObject): JsonObject | undefined =>
  items.find(
    (item) =>
      far.isNew(item) && Object.entries(wanted).every(([field, value]) => lookup(item, field) === value),
  );

const settle = (item: JsonObject | undefined): Settlement => (item ? done(item) : notDone);

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const reconcileAdmin: Readonly<Partial<Record<GeneratedId, Reconcile>>> = {
  x_ads_campaign_create: async ({ account_id = '', name = '', funding_instrument_id = '' }, far) => {
    const { items } = await far.all('x_ads_campaigns', { account_id });
    return settle(made(items, far, { name, funding_instrument_id }));
  },
  x_ads_campaign_update: async ({ account_id = '', campaign_id = '', ...changes }, far) => {
    const campaign = await far.one('x_ads_campaign_by_id', { account_id, campaign_id });
    if (!campaign) return notDone;
    const { status, ...rest } = changes;
    const wanted = { ...rest, ...(status === undefined ? {} : { entity_status: status }) };
    const same = Object.entries(wanted).every(([field, value]) => lookup(campaign, field) === value);
    return same ? done(campaign) : notDone;
  },
  x_ads_campaign_delete: async ({ account_id = '', campaign_id = '' }, far) => {
    const campaign = await far.one('x_ads_campaign_by_id', { account_id, campaign_id, with_deleted: true });
    if (!campaign) return done({ id: campaign_id, deleted: true });
    return campaign.deleted === true ? done(campaign) : notDone;
  },
  x_ads_line_item_create: async (
    { account_id = '', campaign_id = '', objective = '', bid_amount_local_micro = 0 },
    far,
  ) => {
    const { items } = await far.all('x_ads_line_items', { account_id, campaign_ids: campaign_id });
    return settle(made(items, far, { campaign_id, objective, bid_amount_local_micro }));
  },
  x_ads_promoted_tweet_create: async ({ account_id = '', line_item_id = '', tweet_ids }, far) => {
    const { items } = await far.all('x_ads_promoted_tweets', { account_id, line_item_ids: line_item_id });
    const found = splitList(text(tweet_ids)).map((tweet_id) => made(items, far, { line_item_id, tweet_id }));
    if (found.every((item) => item === undefined)) return notDone;
    if (found.some((item) => item === undefined))
      return { settled: 'unknown', why: 'Only some of the posts are promoted.' };
    return done({ data: found.filter((item) => item !== undefined) });
  },
  x_ads_targeting_create: async (
    { account_id = '', line_item_id = '', targeting_type = '', targeting_value = '' },
    far,
  ) => {
    const { items } = await far.all('x_ads_targeting_criteria', { account_id, line_item_ids: line_item_id });
    return settle(made(items, far, { line_item_id, targeting_type, targeting_value }));
  },
  x_ads_targeting_delete: async ({ account_id = '', id = '' }, far) => {
    const { items: lineItems } = await far.all('x_ads_line_items', { account_id, with_deleted: true });
    const line_item_ids = lineItems.map((item) => text(item.id)).join(',');
    if (line_item_ids === '') return done({ id, deleted: true });
    const { items } = await far.all('x_ads_targeting_criteria', { account_id, line_item_ids });
    return items.some((item) => item.id === id) ? notDone : done({ id, deleted: true });
  },
  x_v2_compliance_job_create: async ({ type = '', name }, far) => {
    const { items } = await far.all('x_v2_compliance_jobs', { type });
    return settle(made(items, far, name === undefined ? { type } : { type, name }));
  },
  x_v2_stream_rules_add: async ({ rules }, far) => {
    const { items } = await far.all('x_v2_stream_rules_list', {});
    const wanted = Array.isArray(rules) ? (rules as JsonObject[]) : [];
    const found = wanted.map((rule) =>
      items.find((item) => item.value === rule.value && item.tag === rule.tag),
    );
    if (found.every((item) => item === undefined)) return notDone;
    if (found.some((item) => item === undefined))
      return { settled: 'unknown', why: 'Only some of the rules exist.' };
    return done({ data: found.filter((item) => item !== undefined) });
  },
  x_v2_stream_rules_delete: async ({ rule_ids }, far) => {
    const { items } = await far.all('x_v2_stream_rules_list', {});
    const left = Array.isArray(rule_ids) ? rule_ids.filter((id) => items.some((item) => item.id === id)) : [];
    return left.length === 0 ? done({ data: [] }) : notDone;
  },
};

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
    const present = items.some((item) => item.id === lookup(args, who));
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
  why: 'X does not show whether a reply is hidden; check the conversation on x.com.',
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

const pinnedPost = async (far: RemoteLookup): Promise<string | undefined> => {
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
      list !== undefined && Object.entries(changes).every(([field, value]) => lookup(list, field) === value);
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
