import type { AdsCollection, JsonDoc } from '../documents.ts';
import { type Answer, type Call, list, text } from '../handler.ts';
import { adsProblem } from '../problems.ts';

const ENTITIES: Readonly<Record<string, AdsCollection>> = {
  CAMPAIGN: 'campaigns',
  LINE_ITEM: 'line_items',
  PROMOTED_TWEET: 'promoted_tweets',
};

const STEP_MS: Readonly<Record<string, number>> = { HOUR: 3_600_000, DAY: 86_400_000 };
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
  const collection = ENTITIES[entity];
  const ids = list(call, 'entity_ids');
  if (!collection || ids.length === 0)
    throw adsProblem(400, 'MISSING_PARAMETER', 'entity and entity_ids are required');
  if (call.args.start_time === undefined || call.args.end_time === undefined) {
    throw adsProblem(400, 'MISSING_PARAMETER', 'start_time and end_time are required');
  }
  const [start, end] = [Date.parse(text(call, 'start_time')), Date.parse(text(call, 'end_time'))];
  if (start % 3_600_000 !== 0 || end % 3_600_000 !== 0)
    throw adsProblem(400, 'INVALID_PARAMETER', 'Times must be whole hours');
  if (end <= start || end - start > MAX_SPAN_MS)
    throw adsProblem(400, 'INVALID_TIME_WINDOW', 'The window must be positive and at most 7 days');
  const granularity = text(call, 'granularity') || 'DAY';
  const midnight = midnightOf(call, accountId);
  if (granularity !== 'HOUR' && (start - midnight) % 86_400_000 !== 0)
    throw adsProblem(400, 'INVALID_PARAMETER', "start_time must be midnight in the account's time zone");
  const step = STEP_MS[granularity] ?? end - start;
  const steps = Math.ceil((end - start) / step);
  const groups = list(call, 'metric_groups');
  const stranger = groups.find((group) => !METRICS[group]);
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
    for (const metric of groups.flatMap((group) => METRICS[group] ?? [])) {
      metrics[metric] = Array.from({ length: steps }, (_, index) =>
        sample(`${id}/${metric}/${start + index * step}`, metric),
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

function sample(seed: string, metric: string): number {
  let hash = 2_166_136_261;
  for (const char of seed) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619) >>> 0;
  const scale = metric.endsWith('micro') ? 4_000_000 : metric === 'impressions' ? 900 : 40;
  return hash % scale;
}
