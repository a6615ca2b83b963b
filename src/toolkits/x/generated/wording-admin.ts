import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import type { Wording } from './wording.ts';
import { changesOf, idOf } from './wording-lists.ts';

type AdminTool = Extract<
  GeneratedId,
  `x_ads_${string}` | `x_v2_${'compliance' | 'usage' | 'stream'}${string}`
>;

const SPENDS = 'This can spend money from the Ads account.';

export const adminWording: Readonly<Record<AdminTool, Wording>> = {
  x_ads_accounts: { title: 'List Ads accounts', summary: 'Lists Ads accounts you can use.' },
  x_ads_account_by_id: { title: 'Get an Ads account', summary: 'Reads one Ads account.' },
  x_ads_campaigns: { title: 'List campaigns', summary: 'Lists campaigns of an Ads account.' },
  x_ads_campaign_by_id: { title: 'Get a campaign', summary: 'Reads one campaign.' },
  x_ads_campaign_create: {
    title: 'Create a campaign',
    summary: 'Creates a campaign, paused unless told otherwise.',
    ask: (args) =>
      `Create the campaign “${args.name}” (${args.status ?? 'PAUSED'}${budgetOf(args)}) in Ads account ${args.account_id}?`,
    risks: ({ status }) => (status === 'ACTIVE' ? [SPENDS] : []),
    undo: ({ account_id = '' }, data) => {
      const id = idOf(data);
      return id === undefined
        ? undefined
        : { tool: 'x_ads_campaign_delete', args: { account_id, campaign_id: id } };
    },
  },
  x_ads_campaign_update: {
    title: 'Update a campaign',
    summary: 'Changes name, status or budget of a campaign.',
    ask: ({ account_id, campaign_id, ...changes }) =>
      `Change the campaign ${campaign_id} of Ads account ${account_id}: ${changesOf(changes)}?`,
    risks: ({ status, daily_budget_amount_local_micro, total_budget_amount_local_micro }) =>
      status === 'ACTIVE' ||
      (daily_budget_amount_local_micro ?? total_budget_amount_local_micro) !== undefined
        ? [SPENDS]
        : [],
  },
  x_ads_campaign_delete: {
    title: 'Delete a campaign',
    summary: 'Deletes a campaign.',
    ask: ({ account_id, campaign_id }) => `Delete the campaign ${campaign_id} of Ads account ${account_id}?`,
    risks: () => ['A deleted campaign stops and cannot be restored.'],
  },
  x_ads_line_items: { title: 'List line items', summary: 'Lists line items of an Ads account.' },
  x_ads_line_item_create: {
    title: 'Create a line item',
    summary: 'Creates a line item in a campaign, paused unless told otherwise.',
    ask: ({ campaign_id, objective, bid_amount_local_micro, status }) =>
      `Create a line item (${status ?? 'PAUSED'}) for ${objective} with a bid of ${money(bid_amount_local_micro)} in campaign ${campaign_id}?`,
    risks: () => [SPENDS],
  },
  x_ads_promoted_tweets: { title: 'List promoted posts', summary: 'Lists promoted posts of an Ads account.' },
  x_ads_promoted_tweet_create: {
    title: 'Promote posts',
    summary: 'Promotes posts with a line item.',
    ask: ({ line_item_id, tweet_ids }) => `Promote the posts ${tweet_ids} with line item ${line_item_id}?`,
    risks: () => [SPENDS],
  },
  x_ads_targeting_criteria: { title: 'List targeting', summary: 'Lists targeting criteria of line items.' },
  x_ads_targeting_create: {
    title: 'Add targeting',
    summary: 'Adds a targeting criterion to a line item.',
    ask: ({ line_item_id, targeting_type, targeting_value }) =>
      `Target ${targeting_type} “${targeting_value}” with line item ${line_item_id}?`,
    undo: ({ account_id = '' }, data) => {
      const id = idOf(data);
      return id === undefined ? undefined : { tool: 'x_ads_targeting_delete', args: { account_id, id } };
    },
  },
  x_ads_targeting_delete: {
    title: 'Delete targeting',
    summary: 'Deletes a targeting criterion.',
    ask: ({ account_id, id }) => `Delete the targeting criterion ${id} of Ads account ${account_id}?`,
    risks: () => ['The line item may reach, and pay for, more people than before.'],
  },
  x_ads_analytics: {
    title: 'Get Ads analytics',
    summary: 'Reads impressions, engagement and cost over up to 7 days.',
  },
  x_ads_funding_instruments: { title: 'List funding instruments', summary: 'Lists how an Ads account pays.' },
  x_v2_compliance_jobs: { title: 'List compliance jobs', summary: 'Lists compliance jobs of one type.' },
  x_v2_compliance_job_by_id: { title: 'Get a compliance job', summary: 'Reads one compliance job.' },
  x_v2_compliance_job_create: {
    title: 'Create a compliance job',
    summary: 'Starts a compliance job; upload ids to its upload_url.',
    ask: ({ type, name }) => `Start a compliance job for ${type}${name ? ` named “${name}”` : ''}?`,
  },
  x_v2_usage_tweets: {
    title: 'Get API usage',
    summary: 'Reads how many posts the app has consumed per day.',
  },
  x_v2_stream_rules_list: { title: 'List stream rules', summary: 'Lists rules of the filtered stream.' },
  x_v2_stream_rules_add: {
    title: 'Add stream rules',
    summary: 'Adds rules to the filtered stream.',
    ask: ({ rules }) => `Add to the filtered stream: ${valuesOf(rules)}?`,
    undo: (_args, data) => {
      const ids = newRuleIds(data);
      return ids.length === 0 ? undefined : { tool: 'x_v2_stream_rules_delete', args: { rule_ids: ids } };
    },
  },
  x_v2_stream_rules_delete: {
    title: 'Delete stream rules',
    summary: 'Deletes rules of the filtered stream.',
    ask: ({ rule_ids }) => `Delete the stream rules ${Array.isArray(rule_ids) ? rule_ids.join(', ') : ''}?`,
  },
};

const MICRO = 1_000_000;

const money = (micros: JsonValue | undefined): string =>
  typeof micros === 'number' ? (micros / MICRO).toFixed(2) : '?';

const budgetOf = ({ daily_budget_amount_local_micro: daily }: JsonObject): string =>
  daily === undefined ? '' : `, ${money(daily)} a day`;

const valuesOf = (rules: JsonValue | undefined): string =>
  Array.isArray(rules)
    ? rules
        .map(
          (rule) =>
            `“${typeof rule === 'object' && rule !== null && !Array.isArray(rule) ? rule.value : ''}”`,
        )
        .join(', ')
    : '';

function newRuleIds(data: JsonValue): string[] {
  const rules = typeof data === 'object' && data !== null && !Array.isArray(data) ? data.data : undefined;
  return Array.isArray(rules) ? rules.map(idOf).filter((id) => id !== undefined) : [];
}
