import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { FieldRow, PresentationDraft } from '../../../contract/presentation.ts';
import { isObject } from '../../../lib/is-object.ts';
import { quoted } from '../../../lib/words.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import {
  accountOf,
  presentOnPost,
  presentOnUser,
  thingNamed,
  userNamed,
  type XPresentContext,
} from '../present.ts';

type Present = (args: JsonObject, context: XPresentContext) => Promise<PresentationDraft>;

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const OWN = ['user_id'];

const onPost =
  (verb: string, done: string, effect: string, param: 'id' | 'tweet_id'): Present =>
  (args, context) =>
    presentOnPost(context, text(args[param]), {
      verb,
      done,
      effect: { text: effect },
      covers: [param, ...OWN],
    });

const onUser =
  (verb: string, done: string, effect: string, detail?: string): Present =>
  (args, context) =>
    presentOnUser(context, text(args.target_user_id), {
      verb,
      done,
      effect: { text: effect, ...(detail ? { detail } : {}) },
      covers: ['target_user_id', ...OWN],
    });

const NO_UNSEND = { possible: false, text: 'No undo', detail: 'A sent message cannot be unsent' } as const;

const message =
  (recipients: (args: JsonObject, own: string | undefined) => readonly string[], covers: string[]): Present =>
  async (args, context) => {
    const account = await accountOf(context);
    const ids = recipients(args, account.id);
    const found = await Promise.all(ids.map((id) => userNamed(context, id)));
    const [only] = found;
    const to =
      ids.length === 0
        ? 'a conversation'
        : ids.length === 1
          ? (only?.handle ?? 'a user')
          : `${ids.length} users`;
    const body = text(args.text);
    return {
      title: `Message ${to} as ${account.handle}`,
      done: `Messaged ${to} as ${account.handle}`,
      act: 'send',
      kind: 'message',
      gist: body,
      target: account.target,
      effect: { text: 'Delivered immediately', detail: 'Only the recipients see it' },
      undo: NO_UNSEND,
      body: [
        {
          type: 'message',
          title: 'Direct message',
          from: account.author,
          to: found.map((one) => one?.author ?? { name: 'A user X could not be asked about' }),
          text: body,
        },
        ...(args.attachments
          ? [{ type: 'notice' as const, level: 'note' as const, text: 'A media file is attached.' }]
          : []),
      ],
      covers: [...covers, 'text', 'attachments'],
    };
  };

/** A conversation of two has the IDs of both in its own. */
const otherOf = (args: JsonObject, own: string | undefined): readonly string[] => {
  const parts = text(args.id).split('-');
  return parts.length === 2 ? parts.filter((id) => id !== own).slice(0, 1) : [];
};

const idList = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.map(String) : text(value).split(',').filter(Boolean);

const listName = async (context: XPresentContext, id: JsonValue | undefined): Promise<string> => {
  const name = await thingNamed(context, 'x_v2_lists_get', { id: text(id) });
  return name === undefined ? 'a List' : `List ${quoted(name)}`;
};

const onList =
  (verb: string, done: string, effect: string, param: 'id' | 'list_id'): Present =>
  async (args, context) => {
    const account = await accountOf(context);
    const name = await listName(context, args[param]);
    return {
      title: `${verb} ${name} as ${account.handle}`,
      done: `${done} ${name} as ${account.handle}`,
      act: verb.toLowerCase(),
      kind: 'label',
      target: account.target,
      effect: { text: effect },
      covers: [param, ...OWN],
    };
  };

const member =
  (verb: string, done: string, join: string, param: 'user_id' | 'target_user_id'): Present =>
  async (args, context) =>
    presentOnUser(context, text(args[param]), {
      verb,
      done,
      effect: {
        text: '1 member of a List',
        detail: verb === 'Add' ? 'They may be notified' : 'Not notified',
      },
      covers: ['id', param],
      more: `${join} ${await listName(context, args.id)}`,
    });

const MICRO = 1_000_000;
const amount = (micros: JsonValue | undefined): string =>
  typeof micros === 'number' ? (micros / MICRO).toFixed(2) : 'not given';

const row = (name: string, label: string, value: string): FieldRow => ({
  name,
  label,
  depth: 0,
  type: 'text',
  text: value,
});

const BUDGETS = ['daily_budget_amount_local_micro', 'total_budget_amount_local_micro'] as const;
const budgetRows = (args: JsonObject): FieldRow[] =>
  BUDGETS.filter((name) => args[name] !== undefined).map((name) =>
    row(name, name.startsWith('daily') ? 'Budget a day' : 'Budget in all', amount(args[name])),
  );

/** Ads spend money of an account; the amount belongs where the person looks first. */
const ads =
  (
    verb: string,
    done: string,
    object: (args: JsonObject, context: XPresentContext) => Promise<string> | string,
    rows: (args: JsonObject) => readonly FieldRow[],
    covers: readonly string[],
  ): Present =>
  async (args, context) => {
    const account = await accountOf(context);
    const what = await object(args, context);
    const shown = rows(args);
    const amounts = shown.filter(({ label }) => /budget|bid/iu.test(label));
    return {
      title: `${verb} ${what} in X Ads`,
      done: `${done} ${what} in X Ads`,
      act: verb.toLowerCase(),
      kind: 'money',
      ...(amounts.length > 0
        ? { gist: amounts.map(({ label, text: value }) => `${label}: ${value}`).join(', ') }
        : {}),
      target: {
        ...account.target,
        kind: 'account',
        label: 'X Ads',
        detail: `Signed in as ${account.handle}`,
      },
      effect: {
        text: 'Changes paid advertising',
        detail: args.status === 'ACTIVE' ? 'Active immediately' : 'Paused until someone activates it',
      },
      ...(shown.length > 0
        ? { body: [{ type: 'fields', title: 'Campaign', source: 'agent', rows: shown }] as const }
        : {}),
      covers: ['account_id', ...covers],
    };
  };

const campaignName = async (args: JsonObject, context: XPresentContext): Promise<string> => {
  const { account_id = '', campaign_id = '' } = args;
  const name = await thingNamed(context, 'x_ads_campaign_by_id', { account_id, campaign_id });
  return name === undefined ? 'a campaign' : `campaign ${quoted(name)}`;
};

const statusRow = ({ status }: JsonObject): FieldRow[] => [row('status', 'Status', text(status) || 'PAUSED')];

const ruleRows = (rules: JsonValue | undefined): FieldRow[] =>
  (Array.isArray(rules) ? rules : []).map((rule, at) =>
    row(`rule_${at + 1}`, `Rule ${at + 1}`, isObject(rule) ? String(rule.value ?? '') : ''),
  );

/** How each endpoint that changes something is shown; reads are presented from their schema. */
export const PRESENT: Readonly<Partial<Record<GeneratedId, Present>>> = {
  x_v2_tweets_hide_reply: onPost('Hide', 'Hid', 'Hidden from your conversation', 'id'),
  x_v2_tweets_unhide_reply: onPost('Show again', 'Showed again', 'Visible in your conversation', 'id'),
  x_v2_users_pin_tweet: onPost('Pin', 'Pinned', 'Replaces the pinned post', 'tweet_id'),
  x_v2_users_unpin_tweet: async (_args, context) => {
    const account = await accountOf(context);
    return {
      title: `Unpin the post on ${account.handle}`,
      done: `Unpinned the post on ${account.handle}`,
      act: 'unpin',
      kind: 'reaction',
      target: account.target,
      effect: { text: 'The profile has no pinned post' },
      undo: { possible: false, text: 'No undo here', detail: 'The post can be pinned again' },
      covers: OWN,
    };
  },
  x_v2_mutes_create: onUser('Mute', 'Muted', 'Their posts are hidden from you', 'They are not notified'),
  x_v2_mutes_delete: onUser('Unmute', 'Unmuted', 'You see their posts again'),
  x_v2_blocks_create: onUser(
    'Block',
    'Blocked',
    'You stop following each other',
    'Unblocking restores no follow',
  ),
  x_v2_blocks_delete: onUser('Unblock', 'Unblocked', 'They can see and follow you again'),
  x_v2_dm_send_in_conversation: message(otherOf, ['id']),
  x_v2_dm_send_to_participant: message((args) => [text(args.participant_id)], ['participant_id']),
  x_v2_dm_create_group: message(
    (args) => idList(args.participant_ids),
    ['participant_ids', 'conversation_type'],
  ),
  x_v2_lists_create: async (args, context) => {
    const account = await accountOf(context);
    const kind = args.private === true ? 'private' : 'public';
    const name = quoted(text(args.name));
    return {
      title: `Create ${kind} List ${name} as ${account.handle}`,
      done: `Created ${kind} List ${name} as ${account.handle}`,
      act: 'create',
      kind: 'label',
      target: account.target,
      effect: { text: kind === 'public' ? 'Public immediately' : 'Only you see it' },
      covers: ['name', 'private'],
    };
  },
  x_v2_lists_update: onList('Change', 'Changed', 'Changes name, description or privacy', 'id'),
  x_v2_lists_delete: onList('Delete', 'Deleted', 'Its members and followers are lost', 'id'),
  x_v2_lists_members_add: member('Add', 'Added', 'to', 'user_id'),
  x_v2_lists_members_remove: member('Remove', 'Removed', 'from', 'target_user_id'),
  x_v2_lists_pin: onList('Pin', 'Pinned', 'Pinned for you', 'list_id'),
  x_v2_lists_follow: onList('Follow', 'Followed', 'Its owner may be notified', 'list_id'),
  x_v2_lists_unfollow: onList('Unfollow', 'Unfollowed', 'No longer followed', 'list_id'),
  x_ads_campaign_create: ads(
    'Create',
    'Created',
    ({ name }) => `campaign ${quoted(text(name))}`,
    (args) => [...statusRow(args), ...budgetRows(args)],
    ['name', 'status', ...BUDGETS],
  ),
  x_ads_campaign_update: ads(
    'Change',
    'Changed',
    campaignName,
    (args) => [...(args.status === undefined ? [] : statusRow(args)), ...budgetRows(args)],
    ['campaign_id', 'status', ...BUDGETS],
  ),
  x_ads_campaign_delete: ads('Delete', 'Deleted', campaignName, () => [], ['campaign_id']),
  x_ads_line_item_create: ads(
    'Create',
    'Created',
    async (args, context) => `a line item in ${await campaignName(args, context)}`,
    (args) => [...statusRow(args), row('bid_amount_local_micro', 'Bid', amount(args.bid_amount_local_micro))],
    ['campaign_id', 'status', 'bid_amount_local_micro'],
  ),
  x_ads_promoted_tweet_create: ads(
    'Promote',
    'Promoted',
    ({ tweet_ids }) => {
      const count = idList(tweet_ids).length;
      return count === 1 ? '1 post' : `${count} posts`;
    },
    () => [],
    ['line_item_id', 'tweet_ids'],
  ),
  x_ads_targeting_create: ads(
    'Target',
    'Targeted',
    ({ targeting_type, targeting_value }) =>
      `${text(targeting_type).toLowerCase().replaceAll('_', ' ')} ${quoted(text(targeting_value), 20)}`,
    () => [],
    ['line_item_id', 'targeting_type', 'targeting_value'],
  ),
  x_ads_targeting_delete: ads(
    'Delete',
    'Deleted',
    () => 'a targeting criterion',
    () => [],
    ['id'],
  ),
  x_v2_stream_rules_add: async ({ rules }, context) => {
    const account = await accountOf(context);
    const rows = ruleRows(rules);
    const count = rows.length === 1 ? '1 rule' : `${rows.length} rules`;
    return {
      title: `Add ${count} to the filtered stream`,
      done: `Added ${count} to the filtered stream`,
      act: 'add',
      gist: rows.map((one) => one.text).join(' · '),
      target: account.target,
      effect: { text: 'Changes what the app receives', detail: 'Nothing is published' },
      body: [{ type: 'fields', title: 'Rules', source: 'agent', rows }],
      covers: ['rules'],
    };
  },
  x_v2_stream_rules_delete: async ({ rule_ids }, context) => {
    const account = await accountOf(context);
    const count = idList(rule_ids).length;
    const what = count === 1 ? '1 rule' : `${count} rules`;
    return {
      title: `Delete ${what} of the filtered stream`,
      done: `Deleted ${what} of the filtered stream`,
      act: 'delete',
      target: account.target,
      effect: { text: 'Changes what the app receives', detail: 'Nothing is published' },
    };
  },
  x_v2_compliance_job_create: async ({ type, name }, context) => {
    const account = await accountOf(context);
    return {
      title: `Start a compliance job for ${text(type)}`,
      done: `Started a compliance job for ${text(type)}`,
      act: 'start',
      ...(typeof name === 'string' ? { gist: name } : {}),
      target: account.target,
      effect: { text: 'Creates an upload address', detail: 'Nothing is published' },
      covers: ['type', 'name'],
    };
  },
};
