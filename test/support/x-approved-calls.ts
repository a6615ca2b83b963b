import type { JsonObject } from '../../src/contract/json.ts';

const OWN = '2001000001';
const LISTS = '15000000000000001';
const GROUP = '1600000000000000001';
const account_id = '18ce54d4x5t';

/**
 * Each changing tool with the arguments an agent sends and what a person changes in them. In this order all of them
 * succeed, first as sent and then as edited. Words with a dollar stand for ids of the world they are called in.
 */
export const APPROVED_CALLS: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    'x_post_tweet',
    { text: 'Two pictures of boats', media_ids: ['$one', '$two'] },
    { text: 'One picture of harbours', media_ids: ['$two'] },
  ],
  [
    'x_reply_to_tweet',
    { text: 'We had the same last night', in_reply_to_id: '$mirror', media_ids: ['$one'] },
    { text: 'Certificates, every time', in_reply_to_id: '1234567890' },
  ],
  [
    'x_quote_tweet',
    { text: 'Worth reading twice', quoted_tweet_id: '$mirror', media_ids: ['$two'] },
    { text: 'Never thought of this before', quoted_tweet_id: '1234567890', media_ids: ['$one', '$two'] },
  ],
  [
    'x_post_thread',
    {
      tweets: ['Why we test backups', 'Nobody reads them', 'Until they must'],
      media_ids: [['$one'], [], ['$two']],
    },
    { tweets: ['What an anchor costs', 'and what it saves'], media_ids: [[], ['$one']] },
  ],
  [
    'propose_and_queue_replies',
    {
      drafts: [
        { tweet_id: '$mirror', text: 'Somewhere else entirely, yes' },
        { tweet_id: '1234567890', text: 'Hello to you too' },
      ],
    },
    { drafts: [{ tweet_id: '$mirror', text: 'Mirrors break as well, sadly' }] },
  ],
  [
    'x_upload_media',
    { file_path: '$dir/media/dot.png', alt_text: 'a dot' },
    { alt_text: 'a very small dot' },
  ],
  ['x_like_tweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_unlike_tweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_retweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_unretweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_bookmark_tweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_unbookmark_tweet', { tweet_id: '$mirror' }, { tweet_id: '1234567890' }],
  ['x_follow_user', { target_user_id: '2001000016' }, { target_user_id: '2001000018' }],
  ['x_unfollow_user', { target_user_id: '2001000016' }, { target_user_id: '2001000018' }],
  [
    'x_post',
    { endpoint: '/2/tweets', body: '{"text":"Sent below the typed tools"}' },
    { body: '{"text":"Rewritten by hand","media":{"media_ids":["$one"]}}' },
  ],
  ['x_put', { endpoint: '/2/tweets/$spam/hidden', body: '{"hidden":true}' }, { body: '{"hidden":false}' }],
  [
    'x_delete',
    { endpoint: `/2/users/${OWN}/likes/$mirror` },
    { endpoint: `/2/users/${OWN}/likes/1234567890` },
  ],
  ['x_v2_tweets_hide_reply', { id: '$spam' }, { id: '$bell' }],
  ['x_v2_tweets_unhide_reply', { id: '$spam' }, { id: '$bell' }],
  ['x_v2_users_pin_tweet', { user_id: 'me', tweet_id: '$mirrorquote' }, { tweet_id: '$receipt' }],
  ['x_v2_users_unpin_tweet', { user_id: OWN }, { user_id: 'me' }],
  ['x_v2_mutes_create', { user_id: OWN, target_user_id: '2001000012' }, { target_user_id: '2001000013' }],
  ['x_v2_mutes_delete', { user_id: OWN, target_user_id: '2001000012' }, { target_user_id: '2001000013' }],
  ['x_v2_blocks_create', { user_id: OWN, target_user_id: '2001000017' }, { target_user_id: '2001000015' }],
  ['x_v2_blocks_delete', { user_id: OWN, target_user_id: '2001000017' }, { target_user_id: '2001000015' }],
  [
    'x_v2_dm_send_in_conversation',
    { id: GROUP, text: 'Thank you both.' },
    { text: 'Thank you all.', attachments: '$one' },
  ],
  [
    'x_v2_dm_send_to_participant',
    { participant_id: '2001000009', text: 'TCP checks are coming.', attachments: '$two' },
    { participant_id: '2001000002', text: 'And IPv6.' },
  ],
  [
    'x_v2_dm_create_group',
    { participant_ids: ['2001000003', '2001000009'], text: 'On-call corner' },
    { participant_ids: ['2001000002', '2001000009'], text: 'Night shift' },
  ],
  [
    'x_v2_lists_create',
    { name: 'Beta testers', private: true },
    { name: 'Friends', description: 'of the house' },
  ],
  ['x_v2_lists_update', { id: `${LISTS}01`, description: 'Night shift' }, { name: 'Day shift' }],
  ['x_v2_lists_members_add', { id: `${LISTS}01`, user_id: '2001000016' }, { user_id: '2001000018' }],
  [
    'x_v2_lists_members_remove',
    { id: `${LISTS}01`, target_user_id: '2001000016' },
    { target_user_id: '2001000018' },
  ],
  ['x_v2_lists_pin', { user_id: OWN, list_id: `${LISTS}02` }, { list_id: `${LISTS}03` }],
  ['x_v2_lists_follow', { user_id: OWN, list_id: `${LISTS}05` }, { list_id: `${LISTS}04` }],
  ['x_v2_lists_unfollow', { user_id: OWN, list_id: `${LISTS}05` }, { list_id: `${LISTS}04` }],
  ['x_v2_lists_delete', { id: `${LISTS}02` }, { id: `${LISTS}03` }],
  [
    'x_v2_compliance_job_create',
    { type: 'tweets', name: 'audit' },
    { type: 'users', name: 'audit of people' },
  ],
  [
    'x_v2_stream_rules_add',
    { rules: [{ value: 'dns outage', tag: 'dns' }] },
    { rules: [{ value: 'tidepool' }, { value: 'boats' }] },
  ],
  ['x_v2_stream_rules_delete', { rule_ids: ['1700000000000000201'] }, { rule_ids: ['1700000000000000202'] }],
  [
    'x_ads_campaign_create',
    { account_id, name: 'Spring', funding_instrument_id: 'lygyi' },
    { name: 'Autumn', status: 'PAUSED' },
  ],
  [
    'x_ads_campaign_update',
    { account_id, campaign_id: '8wku3', status: 'ACTIVE' },
    { name: 'Status boards', status: 'PAUSED' },
  ],
  [
    'x_ads_line_item_create',
    {
      account_id,
      campaign_id: '8wku2',
      bid_amount_local_micro: 200000,
      product_type: 'PROMOTED_TWEETS',
      placements: 'ALL_ON_TWITTER',
      objective: 'ENGAGEMENTS',
      bid_type: 'MAX',
      start_time: '2027-01-01T00:00:00Z',
      end_time: '2027-02-01T00:00:00Z',
    },
    { bid_amount_local_micro: 150000, campaign_id: '8wku3' },
  ],
  [
    'x_ads_promoted_tweet_create',
    { account_id, line_item_id: '9cqi1', tweet_ids: '$mirrorquote' },
    { tweet_ids: '$receipt' },
  ],
  [
    'x_ads_targeting_create',
    { account_id, line_item_id: '9cqi1', targeting_type: 'KEYWORD', targeting_value: 'sre' },
    { targeting_value: 'devops' },
  ],
  ['x_ads_targeting_delete', { account_id, id: '2rqqo' }, { id: '2rqqn' }],
  ['x_ads_campaign_delete', { account_id, campaign_id: '8wku3' }, { campaign_id: '8wku2' }],
  ['x_delete_tweet', { tweet_id: '$mirrorquote' }, { tweet_id: '$receipt' }],
  [
    'compose_tweet',
    { content: 'A draft about ropes', scheduled_for: '$later' },
    { content: 'A draft about knots' },
  ],
];

/** How the seeded posts begin that the calls name. */
export const SEEDED: Readonly<Record<string, string>> = {
  $mirrorquote: 'Tidepool now runs its own status page',
  $mirror: 'A status page that fails',
  $spam: '@adamarsh_dev Great question!',
  $bell: '@adamarsh_dev We used to ring a bell',
  $receipt: 'First paying customer',
};

/** Puts ids in place of the words, wherever they stand. */
export function withIds(args: JsonObject, ids: Readonly<Record<string, string>>): JsonObject {
  let text = JSON.stringify(args);
  for (const [word, id] of Object.entries(ids)) text = text.replaceAll(word, id);
  return JSON.parse(text);
}
