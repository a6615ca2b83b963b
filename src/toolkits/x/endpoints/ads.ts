import type { EndpointRow, Params } from './endpoint.ts';
import { ADS_HOST } from './endpoint.ts';
import { body, path, query } from './params.ts';

const account = path('account_id', 'ads_id');
const campaign = path('campaign_id', 'ads_id');
const ids = (wire: string) => query(wire, 'csv', { maxItems: 200 });
const withDeleted = query('with_deleted', 'boolean');
const amount = (wire: string, required = false) =>
  body(wire, 'integer', { min: 0, required, doc: 'millionths of the account currency' });

const listing: Params = {
  with_deleted: withDeleted,
  cursor: query('cursor', 'token'),
  count: query('count', 'integer', { min: 1, max: 1000 }),
};

const ads_ = {
  host: ADS_HOST,
  credentials: ['ads'],
  limit: { max: 500, seconds: 900 },
} as const;
const listed = { ...ads_, method: 'GET', paging: { param: 'cursor', next: 'next_cursor' } } as const;
const written = { ...ads_, encoding: 'form', limit: { max: 150, seconds: 900 } } as const;

const OBJECTIVES = [
  'APP_ENGAGEMENTS',
  'APP_INSTALLS',
  'REACH',
  'FOLLOWERS',
  'ENGAGEMENTS',
  'VIDEO_VIEWS',
  'PREROLL_VIEWS',
  'WEBSITE_CLICKS',
];

const UNLISTED = 'the Ads API is a separate host with no published specification file';

export const ads = {
  x_ads_accounts: {
    ...listed,
    path: '/12/accounts',
    params: { account_id: query('account_ids', 'ads_id'), ...listing },
    reply: { shape: 'many', of: 'ads_account' },
    unlisted: UNLISTED,
  },
  x_ads_account_by_id: {
    ...ads_,
    method: 'GET',
    path: '/12/accounts/{account_id}',
    params: { account_id: account, with_deleted: withDeleted },
    reply: { shape: 'one', of: 'ads_account' },
    unlisted: UNLISTED,
  },
  x_ads_campaigns: {
    ...listed,
    path: '/12/accounts/{account_id}/campaigns',
    params: { account_id: account, campaign_ids: ids('campaign_ids'), ...listing },
    reply: { shape: 'many', of: 'campaign' },
    unlisted: UNLISTED,
  },
  x_ads_campaign_by_id: {
    ...ads_,
    method: 'GET',
    path: '/12/accounts/{account_id}/campaigns/{campaign_id}',
    params: { account_id: account, campaign_id: campaign, with_deleted: withDeleted },
    reply: { shape: 'one', of: 'campaign' },
    unlisted: UNLISTED,
  },
  x_ads_campaign_create: {
    ...written,
    method: 'POST',
    path: '/12/accounts/{account_id}/campaigns',
    params: {
      account_id: account,
      name: body('name', 'text', { required: true, maxLength: 255 }),
      funding_instrument_id: body('funding_instrument_id', 'ads_id', { required: true }),
      // Nothing spends money before a person has looked at it.
      status: body('entity_status', 'text', { values: ['ACTIVE', 'PAUSED', 'DRAFT'], fallback: 'PAUSED' }),
      daily_budget_amount_local_micro: amount('daily_budget_amount_local_micro'),
      total_budget_amount_local_micro: amount('total_budget_amount_local_micro'),
    },
    reply: { shape: 'one', of: 'campaign' },
    success: 201,
    unlisted: UNLISTED,
  },
  x_ads_campaign_update: {
    ...written,
    method: 'PUT',
    path: '/12/accounts/{account_id}/campaigns/{campaign_id}',
    params: {
      account_id: account,
      campaign_id: campaign,
      name: body('name', 'text', { maxLength: 255 }),
      status: body('entity_status', 'text', { values: ['ACTIVE', 'PAUSED'] }),
      daily_budget_amount_local_micro: amount('daily_budget_amount_local_micro'),
      total_budget_amount_local_micro: amount('total_budget_amount_local_micro'),
    },
    reply: { shape: 'one', of: 'campaign' },
    unlisted: UNLISTED,
  },
  x_ads_campaign_delete: {
    ...ads_,
    method: 'DELETE',
    path: '/12/accounts/{account_id}/campaigns/{campaign_id}',
    params: { account_id: account, campaign_id: campaign },
    effect: 'destroy',
    reply: { shape: 'one', of: 'campaign' },
    unlisted: UNLISTED,
  },
  x_ads_line_items: {
    ...listed,
    path: '/12/accounts/{account_id}/line_items',
    params: {
      account_id: account,
      campaign_ids: ids('campaign_ids'),
      line_item_ids: ids('line_item_ids'),
      ...listing,
    },
    reply: { shape: 'many', of: 'line_item' },
    unlisted: UNLISTED,
  },
  x_ads_line_item_create: {
    ...written,
    method: 'POST',
    path: '/12/accounts/{account_id}/line_items',
    params: {
      account_id: account,
      campaign_id: body('campaign_id', 'ads_id', { required: true }),
      bid_amount_local_micro: amount('bid_amount_local_micro', true),
      product_type: body('product_type', 'text', {
        required: true,
        values: ['PROMOTED_TWEETS', 'PROMOTED_ACCOUNT', 'MEDIA'],
      }),
      placements: body('placements', 'csv', { required: true, doc: 'ALL_ON_TWITTER, PUBLISHER_NETWORK' }),
      objective: body('objective', 'text', { required: true, values: OBJECTIVES }),
      bid_type: body('bid_strategy', 'text', { values: ['AUTO', 'MAX', 'TARGET'] }),
      total_budget_amount_local_micro: amount('total_budget_amount_local_micro'),
      // X wants both times of a line item; a campaign has none of its own.
      start_time: body('start_time', 'time', { doc: 'default: now' }),
      end_time: body('end_time', 'time', { doc: 'default: 30 days after the start' }),
      status: body('entity_status', 'text', { values: ['ACTIVE', 'PAUSED', 'DRAFT'], fallback: 'PAUSED' }),
    },
    reply: { shape: 'one', of: 'line_item' },
    success: 201,
    unlisted: UNLISTED,
  },
  x_ads_promoted_tweets: {
    ...listed,
    path: '/12/accounts/{account_id}/promoted_tweets',
    params: { account_id: account, line_item_ids: ids('line_item_ids'), ...listing },
    reply: { shape: 'many', of: 'promoted_tweet' },
    unlisted: UNLISTED,
  },
  x_ads_promoted_tweet_create: {
    ...written,
    method: 'POST',
    path: '/12/accounts/{account_id}/promoted_tweets',
    params: {
      account_id: account,
      line_item_id: body('line_item_id', 'ads_id', { required: true }),
      tweet_ids: body('tweet_ids', 'csv', { required: true, maxItems: 50, doc: 'comma-separated' }),
    },
    reply: { shape: 'many', of: 'promoted_tweet' },
    success: 201,
    unlisted: UNLISTED,
  },
  x_ads_targeting_criteria: {
    ...listed,
    path: '/12/accounts/{account_id}/targeting_criteria',
    params: { account_id: account, line_item_ids: ids('line_item_ids'), ...listing },
    reply: { shape: 'many', of: 'targeting' },
    unlisted: UNLISTED,
  },
  x_ads_targeting_create: {
    ...written,
    method: 'POST',
    path: '/12/accounts/{account_id}/targeting_criteria',
    params: {
      account_id: account,
      line_item_id: body('line_item_id', 'ads_id', { required: true }),
      targeting_type: body('targeting_type', 'text', {
        required: true,
        doc: 'LOCATION, KEYWORD, INTEREST, …',
      }),
      targeting_value: body('targeting_value', 'text', { required: true }),
    },
    reply: { shape: 'one', of: 'targeting' },
    success: 201,
    unlisted: UNLISTED,
  },
  x_ads_targeting_delete: {
    ...ads_,
    method: 'DELETE',
    path: '/12/accounts/{account_id}/targeting_criteria/{id}',
    params: { account_id: account, id: path('id', 'ads_id') },
    effect: 'destroy',
    reply: { shape: 'one', of: 'targeting' },
    unlisted: UNLISTED,
  },
  x_ads_funding_instruments: {
    ...listed,
    path: '/12/accounts/{account_id}/funding_instruments',
    params: { account_id: account, ...listing },
    reply: { shape: 'many', of: 'funding_instrument' },
    unlisted: UNLISTED,
  },
  x_ads_analytics: {
    ...ads_,
    method: 'GET',
    path: '/12/stats/accounts/{account_id}',
    params: {
      account_id: account,
      entity: query('entity', 'text', {
        values: ['CAMPAIGN', 'LINE_ITEM', 'PROMOTED_TWEET'],
        fallback: 'CAMPAIGN',
      }),
      entity_ids: query('entity_ids', 'csv', {
        maxItems: 20,
        doc: 'up to 20, comma-separated; default: all',
      }),
      start_time: query('start_time', 'time', { doc: 'default: 7 days ago' }),
      end_time: query('end_time', 'time'),
      granularity: query('granularity', 'text', { values: ['HOUR', 'DAY', 'TOTAL'], fallback: 'DAY' }),
      metric_groups: query('metric_groups', 'csv', { fallback: 'ENGAGEMENT,BILLING' }),
    },
    queryConstants: { placement: 'ALL_ON_TWITTER' },
    reply: { shape: 'many', of: 'stat' },
    unlisted: UNLISTED,
  },
} as const satisfies Record<string, EndpointRow>;
