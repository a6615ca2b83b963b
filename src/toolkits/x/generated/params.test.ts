import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withIds } from '../../../../test/support/calls/x.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import { namedPosts } from '../test/support/call-world.ts';
import { startXWorld, toolContext, type XWorld } from '../test/support/sandbox.ts';
import { generatedTools } from './tools.ts';

const OWN = '2001000001';
const LIST = '1500000000000000101';
const ACCOUNT = { account_id: '18ce54d4x5t' };
const GROUP = '1600000000000000001';
const LIVE = '1DXxyRYNejbKM';

const people = { user_fields: 'location' };
const posts = { tweet_fields: 'source', user_fields: 'location', expansions: 'referenced_tweets.id' };
const events = { dm_event_fields: 'id', expansions: 'sender_id' };
const spaces = { space_fields: 'lang', expansions: 'host_ids' };
const listed = { with_deleted: true };

/**
 * For each read: a call, and for every optional parameter a value that must change its answer. Paging is tried with the
 * token that a page of one gives.
 */
const READS: Readonly<Partial<Record<GeneratedId, readonly [JsonObject, JsonObject]>>> = {
  x_v2_tweets_lookup: [{ ids: '$mirrorquote' }, posts],
  x_v2_tweets_counts_recent: [
    { query: 'a' },
    { granularity: 'day', start_time: '2026-02-24T12:00:00Z', end_time: '2026-02-25T06:00:00Z' },
  ],
  x_v2_tweets_quote_tweets: [{ id: '$mirror' }, { max_results: 10, ...posts }],
  x_v2_tweets_retweeted_by: [{ id: '$mirrorquote' }, { max_results: 1, ...people }],
  x_v2_users_lookup_by_usernames: [
    { usernames: 'adamarsh_dev' },
    { ...people, expansions: 'pinned_tweet_id' },
  ],
  x_v2_mutes_list: [{ user_id: 'me' }, { max_results: 1, ...people }],
  x_v2_blocks_list: [{ user_id: 'me' }, { max_results: 1, ...people }],
  x_v2_dm_conversations: [{}, { max_results: 1, dm_event_fields: 'id', expansions: 'participant_ids' }],
  x_v2_dm_conversation_by_id: [{ id: GROUP }, { dm_event_fields: 'id', expansions: 'participant_ids' }],
  x_v2_dm_events: [{}, { max_results: 1, ...events }],
  x_v2_dm_events_by_conversation: [{ id: GROUP }, { max_results: 1, ...events }],
  x_v2_dm_events_by_participant: [{ participant_id: '2001000002' }, { max_results: 1, ...events }],
  x_v2_lists_get: [{ id: LIST }, { list_fields: 'private', expansions: 'owner_id' }],
  x_v2_lists_members: [{ id: LIST }, { max_results: 1, ...people }],
  x_v2_lists_followers: [{ id: LIST }, { max_results: 1, ...people }],
  x_v2_lists_tweets: [{ id: LIST }, { max_results: 1, ...posts }],
  x_v2_lists_owned: [{ user_id: OWN }, { max_results: 1, list_fields: 'private' }],
  x_v2_lists_memberships: [{ user_id: OWN }, { max_results: 1, list_fields: 'private' }],
  x_v2_lists_pinned: [{ user_id: OWN }, { list_fields: 'private' }],
  x_v2_spaces_get: [{ id: LIVE }, spaces],
  x_v2_spaces_lookup: [{ ids: LIVE }, spaces],
  x_v2_spaces_by_creator: [{ user_ids: OWN }, spaces],
  x_v2_spaces_search: [{ query: 'a' }, { state: 'scheduled', ...spaces }],
  x_v2_spaces_buyers: [{ id: '1nAJErpDYgRxL' }, people],
  x_v2_spaces_tweets: [{ id: LIVE }, posts],
  x_v2_compliance_jobs: [{}, { type: 'users', status: 'failed' }],
  x_v2_compliance_job_by_id: [{ id: '1700000000000000301' }, {}],
  x_v2_usage_tweets: [{}, { days: 3 }],
  x_v2_stream_rules_list: [{}, {}],
  x_ads_accounts: [{ with_deleted: true }, { account_id: '18ce54d4x5t', count: 1, with_deleted: false }],
  x_ads_account_by_id: [ACCOUNT, {}],
  x_ads_campaigns: [ACCOUNT, { campaign_ids: '8wku2', count: 1, ...listed }],
  x_ads_campaign_by_id: [{ ...ACCOUNT, campaign_id: '8wku2' }, {}],
  x_ads_line_items: [ACCOUNT, { campaign_ids: '8wku2', line_item_ids: '9cqi1', count: 1, ...listed }],
  x_ads_promoted_tweets: [
    { ...ACCOUNT, with_deleted: true },
    { line_item_ids: '9cqi0', count: 1, with_deleted: false },
  ],
  x_ads_targeting_criteria: [ACCOUNT, { line_item_ids: '9cqi1', count: 1, ...listed }],
  x_ads_funding_instruments: [ACCOUNT, { count: 1, ...listed }],
  x_ads_analytics: [
    ACCOUNT,
    {
      entity: 'LINE_ITEM',
      entity_ids: '8wku2',
      start_time: '2026-02-22T23:00:00Z',
      end_time: '2026-02-23T23:00:00Z',
      granularity: 'HOUR',
      metric_groups: 'VIDEO',
    },
  ],
};

/** Whether something is deleted shows only where it is asked for by its id. */
const DELETED: readonly (readonly [GeneratedId, JsonObject])[] = [
  ['x_ads_account_by_id', { account_id: '18ce53uo3nm' }],
  ['x_ads_campaign_by_id', { ...ACCOUNT, campaign_id: '8wku1' }],
];

const PAGING = new Set(['pagination_token', 'cursor']);

const reads = generatedTools.filter(({ effect }) => effect === 'read');
const optionalOf = (name: string): string[] => {
  const { properties = {}, required = [] } = (generatedTools.find((tool) => tool.name === name)?.input.json ??
    {}) as { properties?: JsonObject; required?: string[] };
  return Object.keys(properties).filter((param) => !required.includes(param));
};

describe('every optional parameter of a read', () => {
  let world: XWorld;
  let known: Record<string, string>;
  beforeAll(async () => {
    world = await startXWorld();
    known = await namedPosts(world.sandbox);
    // Enough of everything that a page of it can be cut short.
    const ask = (id: Parameters<XWorld['api']['request']>[0], args: JsonObject) =>
      world.api.request(id, withIds(args, known));
    await ask('x_v2_users_pin_tweet', { user_id: 'me', tweet_id: '$mirrorquote' });
    await ask('retweet', { tweet_id: '$mirrorquote' });
    await ask('x_v2_mutes_create', { user_id: 'me', target_user_id: '2001000012' });
    await ask('x_v2_blocks_create', { user_id: 'me', target_user_id: '2001000016' });
    for (let index = 0; index < 10; index += 1)
      await ask('create_tweet', { text: `Quoting it, ${index}`, quoted_tweet_id: '$mirror' });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const answerTo = async (name: string, args: JsonObject): Promise<string> => {
    const tool = generatedTools.find((each) => each.name === name);
    const data = await tool?.run(withIds(args, known), toolContext(world));
    return JSON.stringify(data);
  };

  it('is tried below', () => {
    expect(Object.keys(READS).sort()).toEqual(reads.map(({ name }) => name).sort());
    const untried = reads.flatMap(({ name }) => {
      const [, values] = READS[name as GeneratedId] ?? [{}, {}];
      const byId = DELETED.some(([each]) => each === name) ? ['with_deleted'] : [];
      const tried = new Set([...Object.keys(values), ...PAGING, ...byId]);
      return optionalOf(name)
        .filter((param) => !tried.has(param))
        .map((param) => `${name}.${param}`);
    });
    expect(untried).toEqual([]);
  });

  it.each(Object.entries(READS))('of %s changes what it answers', async (name, [args, values]) => {
    const plain = await answerTo(name, args);
    for (const [param, value] of Object.entries(values))
      expect(await answerTo(name, { ...args, [param]: value }), param).not.toBe(plain);
    const paging = optionalOf(name).find((param) => PAGING.has(param));
    if (!paging) return;
    const size: JsonObject = paging === 'cursor' ? { count: 1 } : { max_results: Number(values.max_results) };
    const first = JSON.parse(await answerTo(name, { ...args, ...size })) as {
      data: { id: string }[];
      meta?: { next_token?: string };
      next_cursor?: string;
    };
    const token = first.meta?.next_token ?? first.next_cursor;
    expect(token, 'a next page').toEqual(expect.any(String));
    const next = JSON.parse(
      await answerTo(name, { ...args, ...size, [paging]: token ?? '' }),
    ) as typeof first;
    expect(next.data.length).toBeGreaterThan(0);
    expect(next.data[0]?.id).not.toBe(first.data[0]?.id);
  });

  it.each(DELETED)('of %s shows what is deleted only when asked to', async (name, args) => {
    await expect(answerTo(name, args)).rejects.toMatchObject({ code: 'not_found' });
    expect(await answerTo(name, { ...args, with_deleted: true })).toContain('"deleted":true');
  });
});
