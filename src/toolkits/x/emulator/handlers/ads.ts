import { lookup, put } from '../../../../lib/lookup.ts';
import { type AdsCollection, type AdsDoc, type JsonDoc, nextAdsId } from '../documents.ts';
import { type Answer, type Call, type Handler, list, text } from '../handler.ts';
import { adsProblem } from '../problems.ts';
import { parseStats } from './ads-stats.ts';

const render = (doc: AdsDoc): JsonDoc => ({
  id: doc.id,
  ...(doc.id === doc.account_id ? {} : { account_id: doc.account_id }),
  created_at: doc.created_at,
  updated_at: doc.updated_at,
  deleted: doc.deleted,
  ...doc.fields,
});

const one = (doc: AdsDoc, dataType: string, status = 200): Answer => ({
  status,
  body: { request: { params: {} }, data_type: dataType, data: render(doc) },
});

const missing = (what: string, id: string) => adsProblem(404, 'NOT_FOUND', `The ${what} ${id} was not found`);

function account(call: Call): AdsDoc {
  const doc = call.state.get('ads_accounts', text(call, 'account_id'));
  if (!doc || (doc.deleted && call.args.with_deleted !== true))
    throw missing('account', text(call, 'account_id'));
  return doc;
}

function need(call: Call, collection: AdsCollection, name: string, what: string): AdsDoc {
  const doc = call.state.get(collection, text(call, name));
  const deleted = doc?.deleted && call.args.with_deleted !== true;
  if (!doc || deleted || doc.account_id !== text(call, 'account_id')) throw missing(what, text(call, name));
  return doc;
}

/** A page of one account's things. `filters` maps an argument with ids to the field it filters. */
function page(
  call: Call,
  collection: AdsCollection,
  dataType: string,
  filters: Readonly<Record<string, string>> = {},
): Answer {
  const accountId = collection === 'ads_accounts' ? undefined : account(call).id;
  const matching = call.state
    .all(collection)
    .filter(
      (doc) =>
        (accountId === undefined || doc.account_id === accountId) &&
        (!doc.deleted || call.args.with_deleted === true),
    )
    .filter((doc) =>
      Object.entries(filters).every(([arg, field]) => {
        const ids = list(call, arg);
        return ids.length === 0 || ids.includes(field === 'id' ? doc.id : String(lookup(doc.fields, field)));
      }),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const size = typeof call.args.count === 'number' ? call.args.count : 200;
  const start =
    call.args.cursor === undefined ? 0 : matching.findIndex((doc) => doc.id === text(call, 'cursor'));
  if (start < 0) throw adsProblem(400, 'INVALID_PARAMETER', 'Expected a cursor of an earlier page');
  return {
    body: {
      request: { params: {} },
      data_type: dataType,
      total_count: matching.length,
      next_cursor: matching[start + size]?.id ?? null,
      data: matching.slice(start, start + size).map(render),
    },
  };
}

function create(call: Call, collection: AdsCollection, fields: JsonDoc): AdsDoc {
  const at = call.now.toISOString();
  const id = nextAdsId(call.state, call.now);
  const doc: AdsDoc = {
    id,
    account_id: account(call).id,
    created_at: at,
    updated_at: at,
    deleted: false,
    fields,
  };
  call.state.put(collection, id, doc);
  return doc;
}

function given(call: Call, names: Readonly<Record<string, string>>): JsonDoc {
  const fields: JsonDoc = {};
  for (const [arg, field] of Object.entries(names)) {
    const value = lookup(call.args, arg);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      put(fields, field, value);
  }
  return fields;
}

function remove(call: Call, collection: AdsCollection, doc: AdsDoc, dataType: string): Answer {
  const gone: AdsDoc = { ...doc, deleted: true, updated_at: call.now.toISOString() };
  call.state.put(collection, doc.id, gone);
  return one(gone, dataType);
}

const CAMPAIGN_FIELDS = {
  name: 'name',
  status: 'entity_status',
  funding_instrument_id: 'funding_instrument_id',
  daily_budget_amount_local_micro: 'daily_budget_amount_local_micro',
  total_budget_amount_local_micro: 'total_budget_amount_local_micro',
} as const;

const PLACEMENTS = [
  'ALL_ON_TWITTER',
  'PUBLISHER_NETWORK',
  'TWITTER_MEDIA_VIEWER',
  'TWITTER_PROFILE',
  'TWITTER_REPLIES',
  'TWITTER_SEARCH',
  'TWITTER_TIMELINE',
];

export const ads = {
  x_ads_accounts: (call) => page(call, 'ads_accounts', 'account', { account_id: 'id' }),
  x_ads_account_by_id: (call) => one(account(call), 'account'),
  x_ads_campaigns: (call) => page(call, 'campaigns', 'campaign', { campaign_ids: 'id' }),
  x_ads_campaign_by_id: (call) => one(need(call, 'campaigns', 'campaign_id', 'campaign'), 'campaign'),
  x_ads_campaign_create: (call) => {
    const funding = need(call, 'funding_instruments', 'funding_instrument_id', 'funding instrument');
    const fields = {
      entity_status: 'ACTIVE',
      currency: 'EUR',
      servable: false,
      ...given(call, CAMPAIGN_FIELDS),
    };
    if (funding.fields.able_to_fund !== true && fields.entity_status === 'ACTIVE') {
      throw adsProblem(400, 'INVALID_PARAMETER', 'The funding instrument cannot fund an active campaign');
    }
    return one(create(call, 'campaigns', fields), 'campaign', 201);
  },
  x_ads_campaign_update: (call) => {
    const doc = need(call, 'campaigns', 'campaign_id', 'campaign');
    const changed: AdsDoc = {
      ...doc,
      updated_at: call.now.toISOString(),
      fields: { ...doc.fields, ...given(call, CAMPAIGN_FIELDS) },
    };
    call.state.put('campaigns', doc.id, changed);
    return one(changed, 'campaign');
  },
  x_ads_campaign_delete: (call) =>
    remove(call, 'campaigns', need(call, 'campaigns', 'campaign_id', 'campaign'), 'campaign'),
  x_ads_line_items: (call) =>
    page(call, 'line_items', 'line_item', { campaign_ids: 'campaign_id', line_item_ids: 'id' }),
  x_ads_line_item_create: (call) => {
    need(call, 'campaigns', 'campaign_id', 'campaign');
    const stranger = list(call, 'placements').find((place) => !PLACEMENTS.includes(place));
    if (stranger !== undefined)
      throw adsProblem(
        400,
        'INVALID_PARAMETER',
        `Expected one of ${PLACEMENTS.join(', ')}, got ${stranger} for placements`,
      );
    const fields = given(call, {
      campaign_id: 'campaign_id',
      bid_amount_local_micro: 'bid_amount_local_micro',
      product_type: 'product_type',
      objective: 'objective',
      bid_type: 'bid_strategy',
      total_budget_amount_local_micro: 'total_budget_amount_local_micro',
      start_time: 'start_time',
      end_time: 'end_time',
      status: 'entity_status',
    });
    for (const name of ['start_time', 'end_time'])
      if (lookup(fields, name) === undefined)
        throw adsProblem(400, 'MISSING_PARAMETER', `"${name}" is a required parameter`);
    return one(
      create(call, 'line_items', {
        entity_status: 'ACTIVE',
        ...fields,
        placements: list(call, 'placements'),
      }),
      'line_item',
      201,
    );
  },
  x_ads_promoted_tweets: (call) =>
    page(call, 'promoted_tweets', 'promoted_tweet', { line_item_ids: 'line_item_id' }),
  x_ads_promoted_tweet_create: (call) => {
    const { id } = need(call, 'line_items', 'line_item_id', 'line item');
    const data = list(call, 'tweet_ids').map((tweet_id) => {
      if (!call.state.get('posts', tweet_id)) throw missing('tweet', tweet_id);
      return render(
        create(call, 'promoted_tweets', {
          line_item_id: id,
          tweet_id,
          entity_status: 'ACTIVE',
          approval_status: 'PENDING',
        }),
      );
    });
    return {
      status: 201,
      body: { request: { params: {} }, data_type: 'promoted_tweet', total_count: data.length, data },
    };
  },
  x_ads_targeting_criteria: (call) =>
    page(call, 'targeting', 'targeting_criterion', { line_item_ids: 'line_item_id' }),
  x_ads_targeting_create: (call) => {
    need(call, 'line_items', 'line_item_id', 'line item');
    const fields = given(call, {
      line_item_id: 'line_item_id',
      targeting_type: 'targeting_type',
      targeting_value: 'targeting_value',
    });
    return one(
      create(call, 'targeting', { ...fields, operator_type: 'EQ', name: text(call, 'targeting_value') }),
      'targeting_criterion',
      201,
    );
  },
  x_ads_targeting_delete: (call) =>
    remove(call, 'targeting', need(call, 'targeting', 'id', 'targeting criterion'), 'targeting_criterion'),
  x_ads_funding_instruments: (call) => page(call, 'funding_instruments', 'funding_instrument'),
  x_ads_analytics: (call) => parseStats(call, account(call).id),
} satisfies Record<string, Handler>;
