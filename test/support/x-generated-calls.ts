import type { JsonObject } from '../../src/contract/json.ts';
import type { GeneratedId } from '../../src/toolkits/x/endpoints/ids.ts';

const OWN = '2001000001';
const LIST = '1500000000000000101';
const ACCOUNT = '18ce54d4x5t';
const GROUP = '1600000000000000001';

/** A call of each tool that must succeed, in an order that works; `expect` is what its data must contain. */
export const GENERATED_CALLS: readonly (readonly [GeneratedId, JsonObject, JsonObject])[] = [
  ['x_v2_tweets_lookup', { ids: '1234567890' }, { data: [{ id: '1234567890', author_id: '987654321' }] }],
  ['x_v2_tweets_counts_recent', { query: 'uptime', granularity: 'day' }, { meta: {} }],
  ['x_v2_tweets_quote_tweets', { id: '$mirror' }, { data: [{}] }],
  ['x_v2_tweets_retweeted_by', { id: '$mirrorquote' }, { data: [{ username: 'webdev_wanda' }] }],
  ['x_v2_tweets_hide_reply', { id: '$spam' }, { hidden: true }],
  ['x_v2_tweets_unhide_reply', { id: '$spam' }, { hidden: false }],
  [
    'x_v2_users_lookup_by_usernames',
    { usernames: 'benno_ships,agnes_ai' },
    { data: [{ id: '2001000002' }, { id: '2001000018' }] },
  ],
  ['x_v2_users_pin_tweet', { user_id: 'me', tweet_id: '$mirrorquote' }, { pinned: true }],
  ['x_v2_users_unpin_tweet', { user_id: OWN }, { pinned: false }],
  ['x_v2_mutes_list', { user_id: 'me' }, { data: [{ username: 'growth_gary' }] }],
  ['x_v2_mutes_create', { user_id: OWN, target_user_id: '2001000012' }, { muting: true }],
  ['x_v2_mutes_delete', { user_id: OWN, target_user_id: '2001000012' }, { muting: false }],
  ['x_v2_blocks_list', { user_id: 'me' }, { data: [{ username: 'spam_sam_4411' }] }],
  ['x_v2_blocks_create', { user_id: OWN, target_user_id: '2001000017' }, { blocking: true }],
  ['x_v2_blocks_delete', { user_id: OWN, target_user_id: '2001000017' }, { blocking: false }],
  ['x_v2_dm_conversations', { expansions: 'participant_ids' }, { meta: { result_count: 4 } }],
  ['x_v2_dm_conversation_by_id', { id: GROUP }, { id: GROUP, conversation_type: 'Group' }],
  ['x_v2_dm_events', { max_results: 2 }, { meta: { result_count: 2 } }],
  ['x_v2_dm_events_by_conversation', { id: GROUP }, { meta: { result_count: 3 } }],
  ['x_v2_dm_events_by_participant', { participant_id: '2001000002' }, { meta: { result_count: 3 } }],
  ['x_v2_dm_send_in_conversation', { id: GROUP, text: 'Thank you both.' }, { dm_conversation_id: GROUP }],
  [
    'x_v2_dm_send_to_participant',
    { participant_id: '2001000009', text: 'TCP checks are coming.' },
    { dm_conversation_id: '2001000001-2001000009' },
  ],
  ['x_v2_dm_create_group', { participant_ids: ['2001000003', '2001000009'], text: 'On-call corner' }, {}],
  [
    'x_v2_lists_get',
    { id: LIST, expansions: 'owner_id' },
    { id: LIST, name: 'On-call people', includes: { users: [{ id: OWN }] } },
  ],
  ['x_v2_lists_create', { name: 'Beta testers', private: true }, { name: 'Beta testers' }],
  ['x_v2_lists_update', { id: LIST, description: 'Night shift' }, { updated: true }],
  ['x_v2_lists_members', { id: LIST, max_results: 2 }, { meta: { result_count: 2 } }],
  ['x_v2_lists_members_add', { id: LIST, user_id: '2001000016' }, { is_member: true }],
  ['x_v2_lists_members_remove', { id: LIST, target_user_id: '2001000016' }, { is_member: false }],
  ['x_v2_lists_followers', { id: LIST }, { meta: { result_count: 2 } }],
  ['x_v2_lists_tweets', { id: LIST, max_results: 5 }, { meta: { result_count: 5 } }],
  ['x_v2_lists_owned', { user_id: OWN }, { meta: { result_count: 4 } }],
  ['x_v2_lists_memberships', { user_id: OWN }, { meta: { result_count: 2 } }],
  ['x_v2_lists_pinned', { user_id: OWN }, { data: [{ id: LIST }] }],
  ['x_v2_lists_pin', { user_id: OWN, list_id: '1500000000000000104' }, { pinned: true }],
  ['x_v2_lists_follow', { user_id: OWN, list_id: '1500000000000000105' }, { following: true }],
  ['x_v2_lists_unfollow', { user_id: OWN, list_id: '1500000000000000105' }, { following: false }],
  ['x_v2_lists_delete', { id: '1500000000000000102' }, { deleted: true }],
  ['x_v2_spaces_get', { id: '1DXxyRYNejbKM' }, { id: '1DXxyRYNejbKM', state: 'live' }],
  [
    'x_v2_spaces_lookup',
    { ids: '1DXxyRYNejbKM,1OyKAVQrgzwGb' },
    { data: [{ id: '1DXxyRYNejbKM' }, { id: '1OyKAVQrgzwGb' }] },
  ],
  ['x_v2_spaces_by_creator', { user_ids: OWN, expansions: 'host_ids' }, { meta: { result_count: 2 } }],
  ['x_v2_spaces_search', { query: 'agents', state: 'live' }, { data: [{ id: '1OyKAVQrgzwGb' }] }],
  ['x_v2_spaces_buyers', { id: '1nAJErpDYgRxL' }, { meta: { result_count: 3 } }],
  ['x_v2_spaces_tweets', { id: '1DXxyRYNejbKM' }, { meta: { result_count: 2 } }],
  ['x_v2_compliance_jobs', {}, { data: [{ status: 'complete' }] }],
  ['x_v2_compliance_job_by_id', { id: '1700000000000000301' }, { id: '1700000000000000301', type: 'tweets' }],
  ['x_v2_compliance_job_create', { type: 'tweets', name: 'audit' }, { status: 'created', name: 'audit' }],
  ['x_v2_usage_tweets', { days: 3 }, { project_cap: '15000' }],
  ['x_v2_stream_rules_list', {}, { meta: { result_count: 2 } }],
  [
    'x_v2_stream_rules_add',
    { rules: [{ value: 'dns outage', tag: 'dns' }, { value: 'tidepool' }] },
    { meta: { summary: { created: 2 } } },
  ],
  ['x_v2_stream_rules_delete', { rule_ids: ['1700000000000000201'] }, { meta: { summary: { deleted: 1 } } }],
  ['x_ads_accounts', { account_id: ACCOUNT }, { data: [{ id: ACCOUNT, name: 'Tidepool Ads' }] }],
  ['x_ads_account_by_id', { account_id: ACCOUNT }, { id: ACCOUNT }],
  ['x_ads_campaigns', { account_id: ACCOUNT, count: 1 }, { total_count: 2, next_cursor: '8wku3' }],
  ['x_ads_campaign_by_id', { account_id: ACCOUNT, campaign_id: '8wku2' }, { name: 'Launch week' }],
  [
    'x_ads_campaign_create',
    { account_id: ACCOUNT, name: 'Spring', funding_instrument_id: 'lygyi' },
    { name: 'Spring', entity_status: 'PAUSED' },
  ],
  [
    'x_ads_campaign_update',
    { account_id: ACCOUNT, campaign_id: '8wku3', status: 'ACTIVE' },
    { entity_status: 'ACTIVE' },
  ],
  ['x_ads_line_items', { account_id: ACCOUNT, campaign_ids: '8wku2' }, { data: [{ id: '9cqi0' }] }],
  [
    'x_ads_line_item_create',
    {
      account_id: ACCOUNT,
      campaign_id: '8wku2',
      bid_amount_local_micro: 200000,
      product_type: 'PROMOTED_TWEETS',
      placements: 'ALL_ON_TWITTER',
      objective: 'ENGAGEMENTS',
      bid_type: 'MAX',
    },
    {
      campaign_id: '8wku2',
      placements: ['ALL_ON_TWITTER'],
      bid_strategy: 'MAX',
      entity_status: 'PAUSED',
    },
  ],
  ['x_ads_promoted_tweets', { account_id: ACCOUNT }, { data: [{ line_item_id: '9cqi0' }] }],
  [
    'x_ads_promoted_tweet_create',
    { account_id: ACCOUNT, line_item_id: '9cqi1', tweet_ids: '$mirrorquote' },
    { data: [{ line_item_id: '9cqi1' }] },
  ],
  ['x_ads_targeting_criteria', { account_id: ACCOUNT }, { total_count: 2 }],
  [
    'x_ads_targeting_create',
    { account_id: ACCOUNT, line_item_id: '9cqi1', targeting_type: 'KEYWORD', targeting_value: 'sre' },
    { targeting_value: 'sre' },
  ],
  ['x_ads_targeting_delete', { account_id: ACCOUNT, id: '2rqqo' }, { deleted: true }],
  ['x_ads_analytics', { account_id: ACCOUNT }, { time_series_length: 7 }],
  ['x_ads_funding_instruments', { account_id: ACCOUNT }, { total_count: 2 }],
  ['x_ads_campaign_delete', { account_id: ACCOUNT, campaign_id: '8wku3' }, { deleted: true }],
];

/** Posts of the seeded world that the calls name by a word, found by how they begin. */
export const NAMED_POSTS: Readonly<Record<string, string>> = {
  $mirror: 'A status page that fails',
  $mirrorquote: 'Tidepool now runs its own status page',
  $spam: '@adamarsh_dev Great question!',
};

/** Puts the ids of the named posts in place. */
export const fillIds = (args: JsonObject, known: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, known[String(value)] ?? value]));
