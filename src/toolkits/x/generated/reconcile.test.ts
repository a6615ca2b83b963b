import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../contract/errors.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { isChange } from '../../../contract/tool.ts';
import type { GeneratedId } from '../endpoints/ids.ts';
import { startXWorld, toolContext, type XWorld } from '../test/support/sandbox.ts';
import { generatedTools } from './tools.ts';

const LIST = '1500000000000000101';
const ACCOUNT = '18ce54d4x5t';

/** One change each that the seeded world does not have yet, so that done and not done look different. */
const CHANGES: readonly (readonly [GeneratedId, JsonObject])[] = [
  ['x_v2_users_pin_tweet', { user_id: 'me', tweet_id: '$own' }],
  ['x_v2_users_unpin_tweet', { user_id: 'me' }],
  ['x_v2_mutes_create', { user_id: 'me', target_user_id: '2001000012' }],
  ['x_v2_mutes_delete', { user_id: 'me', target_user_id: '2001000017' }],
  ['x_v2_blocks_create', { user_id: 'me', target_user_id: '2001000012' }],
  ['x_v2_blocks_delete', { user_id: 'me', target_user_id: '3001000001' }],
  ['x_v2_dm_send_in_conversation', { id: '1600000000000000001', text: 'one' }],
  ['x_v2_dm_send_to_participant', { participant_id: '2001000009', text: 'two' }],
  ['x_v2_dm_create_group', { participant_ids: ['2001000009', '2001000003'], text: 'three' }],
  ['x_v2_lists_create', { name: 'New one' }],
  ['x_v2_lists_update', { id: LIST, name: 'Renamed', private: true }],
  ['x_v2_lists_delete', { id: '1500000000000000102' }],
  ['x_v2_lists_members_add', { id: LIST, user_id: '2001000016' }],
  ['x_v2_lists_members_remove', { id: LIST, target_user_id: '2001000003' }],
  ['x_v2_lists_pin', { user_id: 'me', list_id: '1500000000000000104' }],
  ['x_v2_lists_follow', { user_id: 'me', list_id: '1500000000000000105' }],
  ['x_v2_lists_unfollow', { user_id: 'me', list_id: '1500000000000000104' }],
  ['x_v2_compliance_job_create', { type: 'tweets', name: 'audit' }],
  ['x_v2_stream_rules_add', { rules: [{ value: 'dns' }, { value: 'outage', tag: 'o' }] }],
  ['x_v2_stream_rules_delete', { rule_ids: ['1700000000000000201'] }],
  ['x_ads_campaign_create', { account_id: ACCOUNT, name: 'Spring', funding_instrument_id: 'lygyi' }],
  ['x_ads_campaign_update', { account_id: ACCOUNT, campaign_id: '8wku2', status: 'PAUSED', name: 'Launch' }],
  ['x_ads_campaign_delete', { account_id: ACCOUNT, campaign_id: '8wku3' }],
  [
    'x_ads_line_item_create',
    {
      account_id: ACCOUNT,
      campaign_id: '8wku2',
      bid_amount_local_micro: 1,
      product_type: 'PROMOTED_TWEETS',
      placements: 'ALL_ON_TWITTER',
      objective: 'REACH',
    },
  ],
  ['x_ads_promoted_tweet_create', { account_id: ACCOUNT, line_item_id: '9cqi1', tweet_ids: '1234567890' }],
  [
    'x_ads_targeting_create',
    { account_id: ACCOUNT, line_item_id: '9cqi1', targeting_type: 'KEYWORD', targeting_value: 'sre' },
  ],
  ['x_ads_targeting_delete', { account_id: ACCOUNT, id: '2rqqo' }],
];

/** X does not show whether a reply is hidden. */
const INVISIBLE = ['x_v2_tweets_hide_reply', 'x_v2_tweets_unhide_reply'];

async function interrupted(
  world: XWorld,
  kind: 'drop_before' | 'drop_after',
  name: GeneratedId,
  args: JsonObject,
) {
  const tool = generatedTools.find((each) => each.name === name);
  if (!tool?.reconcile) throw new Error(`${name} cannot be settled`);
  await world.sandbox.control('fault', { kind, endpoint: name });
  const startedAt = world.clock.now();
  const context = toolContext(world);
  const fault = await tool.run(args, context).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(ToolError);
  expect(fault).toMatchObject({ code: 'x_network_error', effect: 'unknown', retryable: false });
  world.clock.advance(30_000);
  const { services, callId, signal } = context;
  return { tool, settlement: await tool.reconcile(args, { services, callId, startedAt, signal }) };
}

describe('a change whose connection was cut', () => {
  it('is settled for every changing tool of the table', () => {
    const changing = generatedTools.filter(({ effect }) => isChange(effect)).map(({ name }) => name);
    expect([...CHANGES.map(([name]) => name), ...INVISIBLE].sort()).toEqual([...changing].sort());
  });

  it('is found not done where it never arrived, and done where it did, with data its schema accepts', async () => {
    await using world = await startXWorld();
    const { items } = await world.sandbox.control('look', { collection: 'posts' });
    const own = (items as JsonObject[]).filter((post) => post.author_id === '2001000001').at(-1);
    for (const [name, raw] of CHANGES) {
      const args = { ...raw, ...(raw.tweet_id === '$own' ? { tweet_id: String(own?.id) } : {}) };
      const before = await interrupted(world, 'drop_before', name, args);
      expect(before.settlement, `${name} before`).toEqual({ settled: 'not_done' });
      const after = await interrupted(world, 'drop_after', name, args);
      expect(after.settlement, `${name} after`).toMatchObject({ settled: 'done' });
      const data = after.settlement.settled === 'done' ? after.settlement.data : null;
      expect(after.tool.output.parse(data), name).toMatchObject({ ok: true });
    }
  });

  it('stays unknown where X cannot show it, and says why', async () => {
    await using world = await startXWorld();
    const { items } = await world.sandbox.control('look', { collection: 'posts' });
    const spam = (items as JsonObject[]).find((post) => String(post.text).includes('DM me GROWTH'));
    const { settlement } = await interrupted(world, 'drop_after', 'x_v2_tweets_hide_reply', {
      id: String(spam?.id),
    });
    expect(settlement).toMatchObject({ settled: 'unknown', why: expect.stringContaining('hidden') });
  });
});
