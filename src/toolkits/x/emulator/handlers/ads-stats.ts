import { lookup, put } from '../../../../lib/lookup.ts';
import type { AdsCollection, AdsDoc, JsonDoc } from '../documents.ts';
import { type Answer, type Call, list, text } from '../handler.ts';
import { adsProblem } from '../problems.ts';

const ENTITIES: Readonly<Record<string, AdsCollection>> = {
  CAMPAIGN: 'campaigns',
  LINE_ITEM: 'line_items',
  PROMOTED_TWEET: 'promoted_tweets',
};

const HOUR_MS = 3_600_000;
const STEP_MS: Readonly<Record<string, number>> = { HOUR: HOUR_MS, DAY: 86_400_000 };
const MAX_SPAN_MS = 7 * 86_400_000;
const METRICS: Readonly<Record<string, readonly string[]>> = {
  ENGAGEMENT: ['impressions', 'engagements', 'likes', 'replies', 'retweets', 'clicks', 'follows'],
  BILLING: ['billed_engagements', 'billed_charge_local_micro'],
  VIDEO: ['video_total_views', 'video_views_100'],
  MEDIA: ['media_views', 'media_engagements'],
  WEB_CONVERSION: ['conversion_purchases', 'conversion_sign_ups'],
  MOBILE_CONVERSION: ['mobile_conversion_installs', 'mobile_conversion_purchases'],
  LIFE_TIME_VALUE_MOBILE_CONVERSION: ['mobile_conversion_lifetime_value_purchases'],
};

/** Analytics: what X demands it demands too, and the numbers are made up from id and hour alone. */
export function parseStats(call: Call, accountId: string): Answer {
  const entity = text(call, 'entity') || 'CAMPAIGN';
  const collection = lookup(ENTITIES, entity);
  const ids = list(call, 'entity_ids');
  if (!collection || ids.length === 0)
    throw adsProblem(400, 'MISSING_PARAMETER', 'entity and entity_ids are required');
  if (call.args.start_time === undefined || call.args.end_time === undefined) {
    throw adsProblem(400, 'MISSING_PARAMETER', 'start_time and end_time are required');
  }
  const [start, end] = [Date.parse(text(call, 'start_time')), Date.parse(text(call, 'end_time'))];
  if (start % HOUR_MS !== 0 || end % HOUR_MS !== 0)
    throw adsProblem(400, 'INVALID_PARAMETER', 'Times must be whole hours');
  if (end <= start || end - start > MAX_SPAN_MS)
    throw adsProblem(400, 'INVALID_TIME_WINDOW', 'The window must be positive and at most 7 days');
  const granularity = text(call, 'granularity') || 'DAY';
  const midnight = midnightOf(call, accountId);
  if (granularity !== 'HOUR' && (start - midnight) % 86_400_000 !== 0)
    throw adsProblem(400, 'INVALID_PARAMETER', "start_time must be midnight in the account's time zone");
  const step = lookup(STEP_MS, granularity) ?? end - start;
  const steps = Math.ceil((end - start) / step);
  const groups = list(call, 'metric_groups');
  const stranger = groups.find((group) => !lookup(METRICS, group));
  if (stranger !== undefined)
    throw adsProblem(
      400,
      'INVALID_PARAMETER',
      `Got ${stranger} for metric_groups, expected one of ${Object.keys(METRICS).join(', ')}`,
    );
  const data = ids.map((id) => {
    const doc = call.state.get(collection, id);
    if (doc?.account_id !== accountId)
      throw adsProblem(404, 'NOT_FOUND', `The ${entity} ${id} was not found`);
    const metrics: JsonDoc = {};
    for (const metric of groups.flatMap((group) => lookup(METRICS, group) ?? [])) {
      put(
        metrics,
        metric,
        Array.from({ length: steps }, (_, index) =>
          total(doc, metric, start + index * step, Math.min(end, start + (index + 1) * step)),
        ),
      );
    }
    return { id, id_data: [{ segment: null, metrics }] };
  });
  return {
    body: {
      data_type: 'stats',
      time_series_length: steps,
      data,
      request: {
        params: {
          entity,
          entity_ids: ids,
          granularity,
          start_time: text(call, 'start_time'),
          end_time: text(call, 'end_time'),
        },
      },
    },
  };
}

/** A midnight of the account's zone, at the offset it has now: X judges every day by that one. */
function midnightOf(call: Call, accountId: string): number {
  const timeZone = String(call.state.get('ads_accounts', accountId)?.fields.timezone ?? 'UTC');
  const wall = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const offset = Date.parse(`${wall.format(call.now).replace(' ', 'T')}Z`) - call.now.getTime();
  return -Math.round(offset / 60_000) * 60_000;
}

/** The sum over the hours of a step, so that days add up to the whole. */
function total(doc: AdsDoc, metric: string, from: number, to: number): number {
  let sum = 0;
  for (let hour = from; hour < to; hour += HOUR_MS) if (ranAt(doc, hour)) sum += hourly(doc.id, metric, hour);
  return sum;
}

/** Nothing runs before it was made, or since it was paused. */
const ranAt = (doc: AdsDoc, at: number): boolean =>
  at >= Date.parse(doc.created_at) &&
  ((doc.fields.entity_status === 'ACTIVE' && !doc.deleted) || at < Date.parse(doc.updated_at));

/** How many impressions one of each takes. */
const RARITY: Readonly<Record<string, number>> = {
  impressions: 1,
  clicks: 12,
  likes: 20,
  retweets: 45,
  replies: 50,
  follows: 70,
  media_views: 3,
  video_total_views: 4,
  video_views_100: 11,
};
const ENGAGEMENTS = ['clicks', 'likes', 'retweets', 'replies', 'follows'];
const CHARGE_MICROS = 90_000;

function hourly(id: string, metric: string, hour: number): number {
  if (metric === 'billed_charge_local_micro') return CHARGE_MICROS * hourly(id, 'engagements', hour);
  if (metric.endsWith('engagements')) return ENGAGEMENTS.reduce((sum, one) => sum + hourly(id, one, hour), 0);
  return Math.floor(impressionsIn(id, hour) / (lookup(RARITY, metric) ?? 75));
}

function impressionsIn(id: string, hour: number): number {
  let hash = 2_166_136_261;
  for (const char of `${id}/${hour}`) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619) >>> 0;
  return hash % 120;
}
