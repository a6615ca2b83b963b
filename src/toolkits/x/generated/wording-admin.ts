import type { JsonValue } from '../../../contract/json.ts';
import { isObject } from '../../../lib/is-object.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import type { Wording } from './wording.ts';

type ListTool =
  `x_v2_lists_${'get' | 'create' | 'update' | 'delete' | 'members' | 'members_add' | 'members_remove' | 'followers' | 'tweets' | 'owned' | 'memberships' | 'pinned' | 'pin' | 'follow' | 'unfollow'}`;

export const listWording: Readonly<Record<ListTool, Wording>> = {
  x_v2_lists_get: { title: 'Get a List', summary: 'Reads one List.' },
  x_v2_lists_create: {
    title: 'Create a List',
    summary: 'Creates a List.',
    undo: (_args, data) => {
      const id = idOf(data);
      return id === undefined ? undefined : { tool: 'x_v2_lists_delete', args: { id } };
    },
  },
  x_v2_lists_update: {
    title: 'Update a List',
    summary: 'Changes name, description or privacy of your List.',
  },
  x_v2_lists_delete: {
    title: 'Delete a List',
    summary: 'Deletes your List.',
    risks: () => ['A deleted List cannot be restored.'],
  },
  x_v2_lists_members: { title: 'List members', summary: 'Lists members of a List.' },
  x_v2_lists_members_add: {
    title: 'Add a List member',
    summary: 'Adds a user to your List.',
    undo: ({ id = '', user_id = '' }) => ({
      tool: 'x_v2_lists_members_remove',
      args: { id, target_user_id: user_id },
    }),
  },
  x_v2_lists_members_remove: {
    title: 'Remove a List member',
    summary: 'Removes a user from your List.',
    undo: ({ id = '', target_user_id = '' }) => ({
      tool: 'x_v2_lists_members_add',
      args: { id, user_id: target_user_id },
    }),
  },
  x_v2_lists_followers: { title: 'List followers of a List', summary: 'Lists followers of a List.' },
  x_v2_lists_tweets: { title: 'Read a List', summary: 'Lists posts by members of a List.' },
  x_v2_lists_owned: { title: 'List owned Lists', summary: 'Lists the Lists a user owns.' },
  x_v2_lists_memberships: { title: 'List memberships', summary: 'Lists the Lists a user is on.' },
  x_v2_lists_pinned: { title: 'List pinned Lists', summary: 'Lists the Lists you pinned.' },
  x_v2_lists_pin: {
    title: 'Pin a List',
    summary: 'Pins a List.',
  },
  x_v2_lists_follow: {
    title: 'Follow a List',
    summary: 'Follows a List.',
    undo: ({ user_id = 'me', list_id = '' }) => ({ tool: 'x_v2_lists_unfollow', args: { user_id, list_id } }),
  },
  x_v2_lists_unfollow: {
    title: 'Unfollow a List',
    summary: 'Unfollows a List.',
    undo: ({ user_id = 'me', list_id = '' }) => ({ tool: 'x_v2_lists_follow', args: { user_id, list_id } }),
  },
};

const idOf = (data: JsonValue): string | undefined =>
  isObject(data) && typeof data.id === 'string' ? data.id : undefined;

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
    summary: 'Creates a campaign, paused by default.',
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
    risks: ({ status, daily_budget_amount_local_micro, total_budget_amount_local_micro }) =>
      status === 'ACTIVE' ||
      (daily_budget_amount_local_micro ?? total_budget_amount_local_micro) !== undefined
        ? [SPENDS]
        : [],
  },
  x_ads_campaign_delete: {
    title: 'Delete a campaign',
    summary: 'Deletes a campaign.',
    risks: () => ['A deleted campaign stops and cannot be restored.'],
  },
  x_ads_line_items: { title: 'List line items', summary: 'Lists line items of an Ads account.' },
  x_ads_line_item_create: {
    title: 'Create a line item',
    summary: 'Creates a line item in a campaign, paused by default.',
    risks: () => [SPENDS],
  },
  x_ads_promoted_tweets: { title: 'List promoted posts', summary: 'Lists promoted posts of an Ads account.' },
  x_ads_promoted_tweet_create: {
    title: 'Promote posts',
    summary: 'Promotes posts with a line item.',
    risks: () => [SPENDS],
  },
  x_ads_targeting_criteria: { title: 'List targeting', summary: 'Lists targeting criteria of line items.' },
  x_ads_targeting_create: {
    title: 'Add targeting',
    summary: 'Adds a targeting criterion to a line item.',
    undo: ({ account_id = '' }, data) => {
      const id = idOf(data);
      return id === undefined ? undefined : { tool: 'x_ads_targeting_delete', args: { account_id, id } };
    },
  },
  x_ads_targeting_delete: {
    title: 'Delete targeting',
    summary: 'Deletes a targeting criterion.',
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
  },
  x_v2_usage_tweets: {
    title: 'Get API usage',
    summary: 'Reads how many posts the app has consumed per day.',
  },
  x_v2_stream_rules_list: { title: 'List stream rules', summary: 'Lists rules of the filtered stream.' },
  x_v2_stream_rules_add: {
    title: 'Add stream rules',
    summary: 'Adds rules to the filtered stream.',
    undo: (_args, data) => {
      const ids = newRuleIds(data);
      return ids.length === 0 ? undefined : { tool: 'x_v2_stream_rules_delete', args: { rule_ids: ids } };
    },
  },
  x_v2_stream_rules_delete: {
    title: 'Delete stream rules',
    summary: 'Deletes rules of the filtered stream.',
  },
};

function newRuleIds(data: JsonValue): string[] {
  const rules = isObject(data) ? data.data : undefined;
  return Array.isArray(rules) ? rules.map(idOf).filter((id) => id !== undefined) : [];
}
