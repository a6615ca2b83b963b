import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Settlement } from '../../../contract/outcome.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import { splitList } from '../endpoints/values.ts';
import { done, type FarSide, notDone, type Reconcile } from './far-side.ts';

/** A thing made by the interrupted call: new, and with the fields it was given. */
const made = (items: readonly JsonObject[], far: FarSide, wanted: JsonObject): JsonObject | undefined =>
  items.find(
    (item) => far.isNew(item) && Object.entries(wanted).every(([field, value]) => item[field] === value),
  );

const settle = (item: JsonObject | undefined): Settlement => (item ? done(item) : notDone);

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export const reconcileAdmin: Readonly<Partial<Record<GeneratedId, Reconcile>>> = {
  x_ads_campaign_create: async ({ account_id = '', name = '', funding_instrument_id = '' }, far) => {
    const { items } = await far.all('x_ads_campaigns', { account_id });
    return settle(made(items, far, { name, funding_instrument_id }));
  },
  x_ads_campaign_update: async ({ account_id = '', campaign_id = '', ...changes }, far) => {
    const campaign = await far.one('x_ads_campaign_by_id', { account_id, campaign_id });
    if (!campaign) return notDone;
    const { status, ...rest } = changes;
    const wanted = { ...rest, ...(status === undefined ? {} : { entity_status: status }) };
    const same = Object.entries(wanted).every(([field, value]) => campaign[field] === value);
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
      return { settled: 'unknown', why: 'Only some of the rules are there.' };
    return done({ data: found.filter((item) => item !== undefined) });
  },
  x_v2_stream_rules_delete: async ({ rule_ids }, far) => {
    const { items } = await far.all('x_v2_stream_rules_list', {});
    const left = Array.isArray(rule_ids) ? rule_ids.filter((id) => items.some((item) => item.id === id)) : [];
    return left.length === 0 ? done({ data: [] }) : notDone;
  },
};
