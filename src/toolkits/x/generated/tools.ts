import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { Tool, ToolContext } from '../../../contract/tool.ts';
import { isObject } from '../../../lib/is-object.ts';
import { lookup } from '../../../lib/lookup.ts';
import type { RequestOptions, XApi, XReply } from '../client/api.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type EndpointId, GENERATED_IDS, type GeneratedId } from '../endpoints/ids.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { ENGAGE_ERRORS, X_ERRORS } from '../errors.ts';
import { dayOf } from '../growth/clock.ts';
import { noteUndo, reachX, type XServices } from '../services.ts';
import { PRESENT } from './presentation.ts';
import { asObject, RECONCILE, RemoteLookup } from './reconcile.ts';
import { categoryOf, inputSchema, outputSchema, profilesOf, requirementsOf } from './shapes.ts';
import { WORDING } from './wording.ts';

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
const PREPARE: Readonly<Partial<Record<GeneratedId, Prepare>>> = {
  x_ads_analytics: async (args, x, now, options) => {
    const end =
      typeof args.end_time === 'string' ? Date.parse(args.end_time) : await lastWhole(args, x, now, options);
    const start = typeof args.start_time === 'string' ? Date.parse(args.start_time) : end - WEEK_MS;
    const listing = lookup(LISTED_BY, String(args.entity ?? 'CAMPAIGN')) ?? 'x_ads_campaigns';
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
  const ids = items.filter((item) => isObject(item)).map((item) => String(item.id));
  return ids.length === 0 ? undefined : ids.join(',');
}

type Services = Pick<XServices, 'x'>;

/** Each field is optional, but X takes an update without any for done. */
const UPDATES: ReadonlySet<GeneratedId> = new Set(['x_v2_lists_update', 'x_ads_campaign_update']);

/** The tools that are an endpoint each: 67 rows of the table, one function. */
export const generatedTools: readonly Tool<Services>[] = GENERATED_IDS.map(toolOf);

function toolOf(id: GeneratedId): Tool<Services> {
  const endpoint = ENDPOINTS[id];
  const { title, summary, risks, undo } = WORDING[id];
  const present = PRESENT[id];
  const reconcile = RECONCILE[id];
  const change = endpoint.effect !== 'read';
  return {
    name: id,
    title,
    summary,
    effect: endpoint.effect,
    reach: 'network',
    category: categoryOf(id),
    profiles: profilesOf(id, endpoint),
    errors: change ? ENGAGE_ERRORS : X_ERRORS,
    requires: requirementsOf(id, endpoint),
    input: inputSchema(endpoint),
    output: outputSchema(endpoint),
    ...(present ? { present } : {}),
    ...(change && id.startsWith('x_ads_') ? { movesMoney: true } : {}),
    ...(risks ? { risks } : {}),
    ...(undo ? { rollback: undo } : {}),
    ...(UPDATES.has(id) ? { check: (args: JsonObject) => mustChange(endpoint, args) } : {}),
    run: (args, context) => run(endpoint, id, args, context),
    ...(reconcile
      ? {
          reconcile: async (args: JsonObject, { services, signal, startedAt }) =>
            reconcile(args, new RemoteLookup(await services.x(), signal, startedAt)),
        }
      : {}),
  } satisfies Tool<Services>;
}

function mustChange({ params }: Endpoint, args: JsonObject): void {
  const fields = Object.keys(params).filter((name) => lookup(params, name)?.in === 'body');
  if (!fields.some((name) => lookup(args, name) !== undefined))
    throw new ToolError('invalid_input', `Nothing to change: give one or more of ${fields.join(', ')}.`);
}

async function run(
  endpoint: Endpoint,
  id: GeneratedId,
  args: JsonObject,
  context: ToolContext<Services>,
): Promise<JsonValue> {
  const x = await reachX(context);
  const options = { signal: context.signal, callId: context.callId };
  const prepare = PREPARE[id];
  const ready = prepare ? await prepare(args, x, context.now(), options) : args;
  if (!ready) return { data: [] };
  const reply = await x.request(id, ready, options);
  if (reply.retries > 0) context.note({ retry_count: reply.retries });
  if (endpoint.paging) notePage(endpoint, reply, context);
  const data = shape(endpoint, reply.json);
  if (endpoint.effect !== 'read') noteUndo(context, WORDING[id].undo?.(args, data));
  return data;
}

/** Single things and small answers come unwrapped, collections as X sends them, an empty one with its empty list. */
function shape(endpoint: Endpoint, json: JsonValue): JsonValue {
  const body = asObject(json) ?? {};
  const { data, includes, errors } = body;
  if (endpoint.reply.shape === 'many') {
    const { request, data_type, ...rest } = body;
    return { ...rest, data: Array.isArray(data) ? data : [] };
  }
  return {
    ...(asObject(data) ?? {}),
    ...(includes === undefined ? {} : { includes }),
    ...(errors === undefined ? {} : { errors }),
  };
}

function notePage(endpoint: Endpoint, { json }: XReply, context: ToolContext<Services>): void {
  const body = asObject(json) ?? {};
  const token = endpoint.paging?.next === 'next_cursor' ? body.next_cursor : asObject(body.meta)?.next_token;
  const next_token = typeof token === 'string' ? token : null;
  const result_count = Array.isArray(body.data) ? body.data.length : 0;
  context.note({ pagination: { next_token, result_count, has_more: next_token !== null } });
}
