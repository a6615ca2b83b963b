import type { AdsCollection, AdsDoc, JobDoc, JsonDoc, RuleDoc } from '../documents.ts';

/** The one advertising account in use. */
const ADS_ACCOUNT = '18ce54d4x5t';
const OLD_ACCOUNT = '18ce53uo3nm';

const DAY_MS = 86_400_000;

export function seedAds(now: Date, posts: Readonly<Record<string, string>>): [AdsCollection, AdsDoc][] {
  const doc = (id: string, daysAgo: number, fields: JsonDoc, deleted = false): AdsDoc => {
    const at = new Date(now.getTime() - daysAgo * DAY_MS).toISOString();
    return { id, account_id: ADS_ACCOUNT, created_at: at, updated_at: at, deleted, fields };
  };
  const campaign = (name: string, status: string, daily: number): JsonDoc => ({
    name,
    entity_status: status,
    funding_instrument_id: 'lygyi',
    daily_budget_amount_local_micro: daily,
    currency: 'EUR',
    servable: status === 'ACTIVE',
  });
  const lineItem = (campaignId: string, objective: string, bid: number): JsonDoc => ({
    campaign_id: campaignId,
    objective,
    product_type: 'PROMOTED_TWEETS',
    placements: ['ALL_ON_TWITTER'],
    bid_amount_local_micro: bid,
    bid_strategy: 'MAX',
    entity_status: 'ACTIVE',
  });
  return [
    [
      'ads_accounts',
      doc(ADS_ACCOUNT, 300, {
        name: 'Tidepool Ads',
        timezone: 'Europe/Berlin',
        currency: 'EUR',
        approval_status: 'ACCEPTED',
        business_name: 'Tidepool',
      }),
    ],
    // What was deleted long ago is listed only on demand.
    [
      'ads_accounts',
      {
        ...doc(OLD_ACCOUNT, 900, { name: 'Tidepool beta', timezone: 'Europe/Berlin', currency: 'EUR' }, true),
        account_id: OLD_ACCOUNT,
      },
    ],
    [
      'funding_instruments',
      doc('lygx9', 400, { type: 'CREDIT_CARD', description: 'Visa ending in 1881', currency: 'EUR' }, true),
    ],
    ['line_items', doc('9cqhz', 199, lineItem('8wku1', 'REACH', 100_000), true)],
    [
      'promoted_tweets',
      doc(
        '1efwkc',
        198,
        { line_item_id: '9cqhz', tweet_id: posts.launch ?? '', entity_status: 'PAUSED' },
        true,
      ),
    ],
    [
      'targeting',
      doc('2rqpa', 198, { line_item_id: '9cqi0', targeting_type: 'KEYWORD', targeting_value: 'pager' }, true),
    ],
    [
      'funding_instruments',
      doc('lygyi', 290, {
        type: 'CREDIT_CARD',
        description: 'Visa ending in 4242',
        currency: 'EUR',
        able_to_fund: true,
        entity_status: 'ACTIVE',
      }),
    ],
    [
      'funding_instruments',
      doc('lyh02', 280, {
        type: 'INSERTION_ORDER',
        description: 'Spring budget',
        currency: 'EUR',
        able_to_fund: false,
        entity_status: 'PAUSED',
      }),
    ],
    ['campaigns', doc('8wku2', 60, campaign('Launch week', 'ACTIVE', 15_000_000))],
    ['campaigns', doc('8wku3', 40, campaign('Status pages', 'PAUSED', 8_000_000))],
    ['campaigns', doc('8wku1', 200, campaign('Old experiment', 'PAUSED', 1_000_000), true)],
    ['line_items', doc('9cqi0', 59, lineItem('8wku2', 'ENGAGEMENTS', 250_000))],
    ['line_items', doc('9cqi1', 39, lineItem('8wku3', 'REACH', 180_000))],
    [
      'promoted_tweets',
      doc('1efwlo', 58, {
        line_item_id: '9cqi0',
        tweet_id: posts.launch ?? '',
        entity_status: 'ACTIVE',
        approval_status: 'ACCEPTED',
      }),
    ],
    [
      'targeting',
      doc('2rqqn', 58, {
        line_item_id: '9cqi0',
        targeting_type: 'LOCATION',
        targeting_value: '00a8b25e420adc94',
        name: 'Germany',
        operator_type: 'EQ',
      }),
    ],
    [
      'targeting',
      doc('2rqqo', 58, {
        line_item_id: '9cqi0',
        targeting_type: 'KEYWORD',
        targeting_value: 'uptime',
        name: 'uptime',
        operator_type: 'EQ',
      }),
    ],
  ];
}

export const RULES: readonly RuleDoc[] = [
  { id: '1700000000000000201', value: 'uptime monitoring -is:retweet', tag: 'uptime' },
  { id: '1700000000000000202', value: '"status page" lang:en', tag: 'status pages' },
];

export const seedJobs = (now: Date): JobDoc[] => [
  {
    id: '1700000000000000301',
    type: 'tweets',
    name: 'quarterly check',
    resumable: false,
    created_at: new Date(now.getTime() - 3 * DAY_MS).toISOString(),
  },
  {
    id: '1700000000000000302',
    type: 'users',
    name: 'deleted users',
    resumable: true,
    created_at: new Date(now.getTime() - DAY_MS / 24).toISOString(),
  },
];
