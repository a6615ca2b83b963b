import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { RequestOptions, XApi } from '../client/api.ts';
import type { EndpointId, GeneratedId } from '../endpoints/ids.ts';
import { dayOf } from '../growth/clock.ts';

/** Undefined: there is nothing X could be asked about. */
type Prepare = (
  args: JsonObject,
  x: XApi,
  now: Date,
  options: RequestOptions,
) => Promise<JsonObject | undefined>;

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const MONTH_MS = 30 * 24 * HOUR_MS;
const MAX_ENTITIES = 20;
const MAX_LINE_ITEMS = 200;

const LISTED_BY: Readonly<Record<string, EndpointId>> = {
  CAMPAIGN: 'x_ads_campaigns',
  LINE_ITEM: 'x_ads_line_items',
  PROMOTED_TWEET: 'x_ads_promoted_tweets',
};

/** Documented with the account alone where X wants more: the rest is looked up. */
export const PREPARE: Readonly<Partial<Record<GeneratedId, Prepare>>> = {
  x_ads_analytics: async (args, x, now, options) => {
    const end =
      typeof args.end_time === 'string' ? Date.parse(args.end_time) : await lastWhole(args, x, now, options);
    const start = typeof args.start_time === 'string' ? Date.parse(args.start_time) : end - WEEK_MS;
    const listing = LISTED_BY[String(args.entity ?? 'CAMPAIGN')] ?? 'x_ads_campaigns';
    const entity_ids = args.entity_ids ?? (await someIds(x, listing, args, MAX_ENTITIES, options));
    if (entity_ids === undefined) return undefined;
    return {
      ...args,
      entity_ids,
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
    };
  },
  x_ads_line_item_create: async (args, _x, now) => {
    const start = typeof args.start_time === 'string' ? new Date(args.start_time) : now;
    const end = new Date(start.getTime() + MONTH_MS);
    return { start_time: start.toISOString(), end_time: end.toISOString(), ...args };
  },
  x_ads_targeting_criteria: async (args, x, _now, options) => {
    const line_item_ids =
      args.line_item_ids ?? (await someIds(x, 'x_ads_line_items', args, MAX_LINE_ITEMS, options));
    return line_item_ids === undefined ? undefined : { ...args, line_item_ids };
  },
};

/** Days are counted from the midnights of the account's own time zone, at the offset it has today. */
async function lastWhole(args: JsonObject, x: XApi, now: Date, options: RequestOptions): Promise<number> {
  if (args.granularity === 'HOUR') return Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const { json } = await x.request('x_ads_account_by_id', { account_id: args.account_id ?? '' }, options);
  const account = isObject(json) && isObject(json.data) ? json.data : {};
  return dayOf(now, typeof account.timezone === 'string' ? account.timezone : 'UTC').start.getTime();
}

async function someIds(
  x: XApi,
  listing: EndpointId,
  args: JsonObject,
  count: number,
  options: RequestOptions,
): Promise<string | undefined> {
  const { json } = await x.request(listing, { account_id: args.account_id ?? '', count }, options);
  const items = isObject(json) && Array.isArray(json.data) ? json.data : [];
  const ids = items.filter(isObject).map((item) => String(item.id));
  return ids.length === 0 ? undefined : ids.join(',');
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
