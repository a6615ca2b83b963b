import type { JsonObject } from '../../../src/contract/json.ts';

const OWN = '2001000001';
const LIST = '1500000000000000101';
const ACCOUNT = '18ce54d4x5t';
const GROUP = '1600000000000000001';

/** What a call can need to be done first. */
export interface CallWorld {
  /** Ids for the words with a dollar: `$post` and `$user` are someone else's, `$own` is ours, `$dir` holds `media`. */
  readonly ids: Readonly<Record<string, string>>;
  data(tool: string, args: JsonObject): Promise<JsonObject>;
  /** Makes a call and gives its id. */
  callId(tool: string, args: JsonObject): Promise<string>;
  /** Something that waits for a person. */
  pending(): Promise<number>;
  /** What the model says next. */
  answerOnce(text: string): void;
}

export interface XCall {
  readonly tool: string;
  /** Arguments with which the call succeeds. Words with a dollar stand for ids of the world it is made in. */
  readonly args: JsonObject | ((world: CallWorld) => Promise<JsonObject> | JsonObject);
  /** What its data must contain. */
  readonly data?: JsonObject;
  /** For tools that change something: what a person changes in the arguments; the call succeeds with it as well. */
  readonly edit?: JsonObject;
}

/**
 * The one table of calls of the `x` toolkit, in an order in which all of them succeed. Tools that are not here need no
 * arguments.
 */
export const X_CALLS: readonly XCall[] = [
  { tool: 'approve_item', args: async (world) => ({ id: await world.pending() }) },
  { tool: 'reject_item', args: async (world) => ({ id: await world.pending() }) },
  {
    tool: 'approve_all',
    args: async (world) => {
      await world.pending();
      return {};
    },
  },
  {
    tool: 'cancel_draft',
    args: async (world) => ({
      id: (await world.data('compose_tweet', { content: 'To be cancelled' })).id ?? 0,
    }),
  },
  {
    tool: 'update_draft',
    args: async (world) => ({
      id: (await world.data('compose_tweet', { content: 'To be edited' })).id ?? 0,
      content: 'Edited by a person',
      scheduled_for: '2026-03-01T09:15:00Z',
    }),
  },
  { tool: 'draft_replies_for_candidates', args: { tweet_ids: ['$post'] } },
  { tool: 'find_reply_opportunities', args: { min_score: 0 } },
  { tool: 'generate_reply', args: { tweet_id: '$post' } },
  {
    tool: 'generate_thread',
    args: (world) => {
      world.answerOnce('First thought\n---\nSecond thought');
      return { topic: 'monitoring', num_tweets: 2 };
    },
  },
  {
    tool: 'generate_thread_plan',
    args: (world) => {
      world.answerOnce('One\n---\nTwo\n---\nThree');
      return { topic: 'monitoring', target_tweets: 3 };
    },
  },
  { tool: 'generate_tweet', args: { topic: 'monitoring', style: 'tip' } },
  { tool: 'get_author_context', args: { author_id: '$user' } },
  {
    tool: 'get_mutation_detail',
    args: async (world) => ({
      correlation_id: await world.callId('x_bookmark_tweet', { tweet_id: world.ids.$post ?? '' }),
    }),
  },
  { tool: 'get_tweet_by_id', args: { tweet_id: '$post' } },
  {
    tool: 'recommend_engagement_action',
    args: { tweet_id: '$post', campaign_objective: 'reach people with outages' },
  },
  {
    tool: 'score_tweet',
    args: {
      tweet: {
        text: 'An outage again',
        author_username: 'a',
        author_followers: 5000,
        likes: 3,
        retweets: 0,
        replies: 1,
        created_at: '2026-02-25T11:58:00Z',
      },
    },
  },
  { tool: 'update_target_account', args: { username: '@benno_ships', watched: true } },
  { tool: 'x_get', args: { endpoint: '/2/users/me' } },
  { tool: 'x_get_followers', args: { user_id: '$user' } },
  { tool: 'x_get_following', args: { user_id: '$user' } },
  { tool: 'x_get_liked_tweets', args: { user_id: '$user', max_results: 2 } },
  { tool: 'x_get_tweet_liking_users', args: { tweet_id: '$post' } },
  { tool: 'x_get_user_by_id', args: { user_id: '$user' } },
  { tool: 'x_get_user_by_username', args: { username: '@benno_ships' } },
  { tool: 'x_get_user_tweets', args: { user_id: '$user' } },
  { tool: 'x_get_users_by_ids', args: { user_ids: ['$user', OWN] } },
  { tool: 'x_search_tweets', args: { query: 'outage' } },
  { tool: 'x_post_thread_dry_run', args: { tweets: ['Not sent', 'not either'] } },
  { tool: 'x_post_tweet_dry_run', args: { text: 'Never sent' } },
  {
    tool: 'x_upload_media',
    args: { file_path: '$dir/media/dot.png', alt_text: 'a dot' },
    edit: { alt_text: 'a very small dot' },
  },
  {
    tool: 'x_post_tweet',
    args: { text: 'Another post of ours' },
    edit: { text: 'Two pictures of harbours', media_ids: ['$one', '$two'] },
  },
  {
    tool: 'x_reply_to_tweet',
    args: { text: 'Thanks for writing this', in_reply_to_id: '$post' },
    edit: { text: 'Certificates, every time', in_reply_to_id: '1234567890', media_ids: ['$one'] },
  },
  {
    tool: 'x_quote_tweet',
    args: { text: 'Worth reading', quoted_tweet_id: '$post' },
    edit: {
      text: 'Never thought of this before',
      quoted_tweet_id: '1234567890',
      media_ids: ['$one', '$two'],
    },
  },
  {
    tool: 'x_post_thread',
    args: { tweets: ['The first of two', 'and the second'] },
    edit: {
      tweets: ['Why we test backups', 'Few people read them', 'Until they must'],
      media_ids: [['$one'], [], ['$two']],
    },
  },
  {
    tool: 'propose_and_queue_replies',
    args: { drafts: [{ tweet_id: '$post', text: 'A drafted reply to you' }] },
    edit: {
      drafts: [
        { tweet_id: '$post', text: 'Mirrors break as well, sadly' },
        { tweet_id: '1234567890', text: 'Hello to you too' },
      ],
    },
  },
  { tool: 'x_like_tweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_unlike_tweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_retweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_unretweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_bookmark_tweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_unbookmark_tweet', args: { tweet_id: '$post' }, edit: { tweet_id: '1234567890' } },
  { tool: 'x_follow_user', args: { target_user_id: '$user' }, edit: { target_user_id: '2001000018' } },
  { tool: 'x_unfollow_user', args: { target_user_id: '$user' }, edit: { target_user_id: '2001000018' } },
  {
    tool: 'x_post',
    args: { endpoint: `/2/users/${OWN}/likes`, body: '{"tweet_id":"$post"}' },
    edit: { endpoint: '/2/tweets', body: '{"text":"Rewritten by hand","media":{"media_ids":["$one"]}}' },
  },
  // Only a reply to one's own post can be hidden.
  {
    tool: 'x_put',
    args: { endpoint: '/2/tweets/$spam/hidden', body: '{"hidden":true}' },
    edit: { body: '{"hidden":false}' },
  },
  {
    tool: 'x_delete',
    args: { endpoint: `/2/users/${OWN}/likes/$post` },
    edit: { endpoint: `/2/users/${OWN}/likes/1234567890` },
  },
  {
    tool: 'x_v2_tweets_lookup',
    args: { ids: '1234567890' },
    data: { data: [{ id: '1234567890', author_id: '987654321' }] },
  },
  { tool: 'x_v2_tweets_counts_recent', args: { query: 'uptime', granularity: 'day' }, data: { meta: {} } },
  { tool: 'x_v2_tweets_quote_tweets', args: { id: '$mirror' }, data: { data: [{}] } },
  {
    tool: 'x_v2_tweets_retweeted_by',
    args: { id: '$mirrorquote' },
    data: { data: [{ username: 'webdev_wanda' }] },
  },
  { tool: 'x_v2_tweets_hide_reply', args: { id: '$spam' }, data: { hidden: true }, edit: { id: '$bell' } },
  { tool: 'x_v2_tweets_unhide_reply', args: { id: '$spam' }, data: { hidden: false }, edit: { id: '$bell' } },
  {
    tool: 'x_v2_users_lookup_by_usernames',
    args: { usernames: 'benno_ships,agnes_ai' },
    data: { data: [{ id: '2001000002' }, { id: '2001000018' }] },
  },
  {
    tool: 'x_v2_users_pin_tweet',
    args: { user_id: 'me', tweet_id: '$mirrorquote' },
    data: { pinned: true },
    edit: { tweet_id: '$receipt' },
  },
  {
    tool: 'x_v2_users_unpin_tweet',
    args: { user_id: OWN },
    data: { pinned: false },
    edit: { user_id: 'me' },
  },
  { tool: 'x_v2_mutes_list', args: { user_id: 'me' }, data: { data: [{ username: 'growth_gary' }] } },
  {
    tool: 'x_v2_mutes_create',
    args: { user_id: OWN, target_user_id: '2001000012' },
    data: { muting: true },
    edit: { target_user_id: '2001000013' },
  },
  {
    tool: 'x_v2_mutes_delete',
    args: { user_id: OWN, target_user_id: '2001000012' },
    data: { muting: false },
    edit: { target_user_id: '2001000013' },
  },
  { tool: 'x_v2_blocks_list', args: { user_id: 'me' }, data: { data: [{ username: 'spam_sam_4411' }] } },
  {
    tool: 'x_v2_blocks_create',
    args: { user_id: OWN, target_user_id: '2001000017' },
    data: { blocking: true },
    edit: { target_user_id: '2001000015' },
  },
  {
    tool: 'x_v2_blocks_delete',
    args: { user_id: OWN, target_user_id: '2001000017' },
    data: { blocking: false },
    edit: { target_user_id: '2001000015' },
  },
  {
    tool: 'x_v2_dm_conversations',
    args: { expansions: 'participant_ids' },
    data: { meta: { result_count: 4 } },
  },
  {
    tool: 'x_v2_dm_conversation_by_id',
    args: { id: GROUP },
    data: { id: GROUP, conversation_type: 'Group' },
  },
  { tool: 'x_v2_dm_events', args: { max_results: 2 }, data: { meta: { result_count: 2 } } },
  { tool: 'x_v2_dm_events_by_conversation', args: { id: GROUP }, data: { meta: { result_count: 3 } } },
  {
    tool: 'x_v2_dm_events_by_participant',
    args: { participant_id: '2001000002' },
    data: { meta: { result_count: 3 } },
  },
  {
    tool: 'x_v2_dm_send_in_conversation',
    args: { id: GROUP, text: 'Thank you both.' },
    data: { dm_conversation_id: GROUP },
    edit: { text: 'Thank you all.', attachments: '$one' },
  },
  {
    tool: 'x_v2_dm_send_to_participant',
    args: { participant_id: '2001000009', text: 'TCP checks are coming.' },
    data: { dm_conversation_id: '2001000001-2001000009' },
    edit: { participant_id: '2001000002', text: 'And IPv6.', attachments: '$two' },
  },
  {
    tool: 'x_v2_dm_create_group',
    args: { participant_ids: ['2001000003', '2001000009'], text: 'On-call corner' },
    data: {},
    edit: { participant_ids: ['2001000002', '2001000009'], text: 'Night shift' },
  },
  {
    tool: 'x_v2_lists_get',
    args: { id: LIST, expansions: 'owner_id' },
    data: { id: LIST, name: 'On-call people', includes: { users: [{ id: OWN }] } },
  },
  {
    tool: 'x_v2_lists_create',
    args: { name: 'Beta testers', private: true },
    data: { name: 'Beta testers' },
    edit: { name: 'Friends', description: 'of the house' },
  },
  {
    tool: 'x_v2_lists_update',
    args: { id: LIST, description: 'Night shift' },
    data: { updated: true },
    edit: { name: 'Day shift' },
  },
  { tool: 'x_v2_lists_members', args: { id: LIST, max_results: 2 }, data: { meta: { result_count: 2 } } },
  {
    tool: 'x_v2_lists_members_add',
    args: { id: LIST, user_id: '2001000016' },
    data: { is_member: true },
    edit: { user_id: '2001000018' },
  },
  {
    tool: 'x_v2_lists_members_remove',
    args: { id: LIST, target_user_id: '2001000016' },
    data: { is_member: false },
    edit: { target_user_id: '2001000018' },
  },
  { tool: 'x_v2_lists_followers', args: { id: LIST }, data: { meta: { result_count: 2 } } },
  { tool: 'x_v2_lists_tweets', args: { id: LIST, max_results: 5 }, data: { meta: { result_count: 5 } } },
  { tool: 'x_v2_lists_owned', args: { user_id: OWN }, data: { meta: { result_count: 4 } } },
  { tool: 'x_v2_lists_memberships', args: { user_id: OWN }, data: { meta: { result_count: 2 } } },
  { tool: 'x_v2_lists_pinned', args: { user_id: OWN }, data: { data: [{ id: LIST }] } },
  {
    tool: 'x_v2_lists_pin',
    args: { user_id: OWN, list_id: '1500000000000000104' },
    data: { pinned: true },
    edit: { list_id: '1500000000000000103' },
  },
  {
    tool: 'x_v2_lists_follow',
    args: { user_id: OWN, list_id: '1500000000000000105' },
    data: { following: true },
    edit: { list_id: '1500000000000000104' },
  },
  {
    tool: 'x_v2_lists_unfollow',
    args: { user_id: OWN, list_id: '1500000000000000105' },
    data: { following: false },
    edit: { list_id: '1500000000000000104' },
  },
  {
    tool: 'x_v2_lists_delete',
    args: { id: '1500000000000000102' },
    data: { deleted: true },
    edit: { id: '1500000000000000103' },
  },
  { tool: 'x_v2_spaces_get', args: { id: '1DXxyRYNejbKM' }, data: { id: '1DXxyRYNejbKM', state: 'live' } },
  {
    tool: 'x_v2_spaces_lookup',
    args: { ids: '1DXxyRYNejbKM,1OyKAVQrgzwGb' },
    data: { data: [{ id: '1DXxyRYNejbKM' }, { id: '1OyKAVQrgzwGb' }] },
  },
  {
    tool: 'x_v2_spaces_by_creator',
    args: { user_ids: OWN, expansions: 'host_ids' },
    data: { meta: { result_count: 2 } },
  },
  {
    tool: 'x_v2_spaces_search',
    args: { query: 'agents', state: 'live' },
    data: { data: [{ id: '1OyKAVQrgzwGb' }] },
  },
  { tool: 'x_v2_spaces_buyers', args: { id: '1nAJErpDYgRxL' }, data: { meta: { result_count: 3 } } },
  { tool: 'x_v2_spaces_tweets', args: { id: '1DXxyRYNejbKM' }, data: { meta: { result_count: 2 } } },
  { tool: 'x_v2_compliance_jobs', args: {}, data: { data: [{ status: 'complete' }] } },
  {
    tool: 'x_v2_compliance_job_by_id',
    args: { id: '1700000000000000301' },
    data: { id: '1700000000000000301', type: 'tweets' },
  },
  {
    tool: 'x_v2_compliance_job_create',
    args: { type: 'tweets', name: 'audit' },
    data: { status: 'created', name: 'audit' },
    edit: { type: 'users', name: 'audit of people' },
  },
  { tool: 'x_v2_usage_tweets', args: { days: 3 }, data: { project_cap: '15000' } },
  { tool: 'x_v2_stream_rules_list', args: {}, data: { meta: { result_count: 2 } } },
  {
    tool: 'x_v2_stream_rules_add',
    args: { rules: [{ value: 'dns outage', tag: 'dns' }, { value: 'tidepool' }] },
    data: { meta: { summary: { created: 2 } } },
    edit: { rules: [{ value: 'boats' }] },
  },
  {
    tool: 'x_v2_stream_rules_delete',
    args: { rule_ids: ['1700000000000000201'] },
    data: { meta: { summary: { deleted: 1 } } },
    edit: { rule_ids: ['1700000000000000202'] },
  },
  {
    tool: 'x_ads_accounts',
    args: { account_id: ACCOUNT },
    data: { data: [{ id: ACCOUNT, name: 'Tidepool Ads' }] },
  },
  { tool: 'x_ads_account_by_id', args: { account_id: ACCOUNT }, data: { id: ACCOUNT } },
  {
    tool: 'x_ads_campaigns',
    args: { account_id: ACCOUNT, count: 1 },
    data: { total_count: 2, next_cursor: '8wku3' },
  },
  {
    tool: 'x_ads_campaign_by_id',
    args: { account_id: ACCOUNT, campaign_id: '8wku2' },
    data: { name: 'Launch week' },
  },
  {
    tool: 'x_ads_campaign_create',
    args: { account_id: ACCOUNT, name: 'Spring', funding_instrument_id: 'lygyi' },
    data: { name: 'Spring', entity_status: 'PAUSED' },
    edit: { name: 'Autumn', status: 'PAUSED' },
  },
  {
    tool: 'x_ads_campaign_update',
    args: { account_id: ACCOUNT, campaign_id: '8wku3', status: 'ACTIVE' },
    data: { entity_status: 'ACTIVE' },
    edit: { name: 'Status boards', status: 'PAUSED' },
  },
  {
    tool: 'x_ads_line_items',
    args: { account_id: ACCOUNT, campaign_ids: '8wku2' },
    data: { data: [{ id: '9cqi0' }] },
  },
  {
    tool: 'x_ads_line_item_create',
    args: {
      account_id: ACCOUNT,
      campaign_id: '8wku2',
      bid_amount_local_micro: 200000,
      product_type: 'PROMOTED_TWEETS',
      placements: 'ALL_ON_TWITTER',
      objective: 'ENGAGEMENTS',
      bid_type: 'MAX',
    },
    data: {
      campaign_id: '8wku2',
      placements: ['ALL_ON_TWITTER'],
      bid_strategy: 'MAX',
      entity_status: 'PAUSED',
    },
    edit: {
      bid_amount_local_micro: 150000,
      campaign_id: '8wku3',
      start_time: '2027-01-01T00:00:00Z',
      end_time: '2027-02-01T00:00:00Z',
    },
  },
  {
    tool: 'x_ads_promoted_tweets',
    args: { account_id: ACCOUNT },
    data: { data: [{ line_item_id: '9cqi0' }] },
  },
  {
    tool: 'x_ads_promoted_tweet_create',
    args: { account_id: ACCOUNT, line_item_id: '9cqi1', tweet_ids: '$mirrorquote' },
    data: { data: [{ line_item_id: '9cqi1' }] },
    edit: { tweet_ids: '$receipt' },
  },
  { tool: 'x_ads_targeting_criteria', args: { account_id: ACCOUNT }, data: { total_count: 2 } },
  {
    tool: 'x_ads_targeting_create',
    args: { account_id: ACCOUNT, line_item_id: '9cqi1', targeting_type: 'KEYWORD', targeting_value: 'sre' },
    data: { targeting_value: 'sre' },
    edit: { targeting_value: 'devops' },
  },
  {
    tool: 'x_ads_targeting_delete',
    args: { account_id: ACCOUNT, id: '2rqqo' },
    data: { deleted: true },
    edit: { id: '2rqqn' },
  },
  { tool: 'x_ads_analytics', args: { account_id: ACCOUNT }, data: { time_series_length: 7 } },
  { tool: 'x_ads_funding_instruments', args: { account_id: ACCOUNT }, data: { total_count: 2 } },
  {
    tool: 'x_ads_campaign_delete',
    args: { account_id: ACCOUNT, campaign_id: '8wku3' },
    data: { deleted: true },
    edit: { campaign_id: '8wku2' },
  },
  { tool: 'x_delete_tweet', args: { tweet_id: '$own' }, edit: { tweet_id: '$receipt' } },
  {
    tool: 'compose_tweet',
    args: { content: 'A draft for later' },
    edit: { content: 'A draft about knots', scheduled_for: '$later' },
  },
];

/** Posts of the seeded world that the calls name by a word, found by how they begin. */
export const NAMED_POSTS: Readonly<Record<string, string>> = {
  $mirror: 'A status page that fails',
  $mirrorquote: 'Tidepool now runs its own status page',
  $spam: '@adamarsh_dev Great question!',
  $bell: '@adamarsh_dev We used to ring a bell',
  $receipt: 'First paying customer',
};

/** Puts ids in place of the words, wherever they stand; a word without an id is an error of the test. */
export function withIds(args: JsonObject, ids: Readonly<Record<string, string>>): JsonObject {
  const filled = JSON.stringify(args).replace(/\$[a-z]+/g, (word) => {
    const id = ids[word];
    if (id === undefined) throw new Error(`There is no id for ${word} here.`);
    return id;
  });
  return JSON.parse(filled) as JsonObject;
}

const byTool = new Map(X_CALLS.map((call) => [call.tool, call]));

/** Arguments for one call of a tool in this world. */
export async function argsOf(world: CallWorld, tool: string): Promise<JsonObject> {
  const args = byTool.get(tool)?.args ?? {};
  return withIds(typeof args === 'function' ? await args(world) : args, world.ids);
}

/** The tools that are an endpoint each, whose calls need nothing to be done first. */
export const GENERATED_CALLS = X_CALLS.flatMap(({ tool, args, data }) =>
  typeof args === 'object' && data ? [[tool, args, data] as const] : [],
);
