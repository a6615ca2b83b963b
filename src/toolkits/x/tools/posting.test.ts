import { afterEach, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import { codeOf, dataOf, openXKit, type XKit, type XKitOptions } from '../test/support/kit.ts';

describe('posting', () => {
  let kit: XKit;
  const open = async (options: XKitOptions = {}): Promise<XKit> => {
    kit = await openXKit(options);
    return kit;
  };
  afterEach(() => kit[Symbol.asyncDispose]());

  const someonesPost = async (username = 'benno_ships', text = 'What do you think?'): Promise<string> =>
    String((await kit.sandbox.control('post_as', { username, text })).id);

  it('posts, says how to undo it and where it went, and counts it', async () => {
    await open();
    const { outcome } = await kit.call('x_post_tweet', { text: 'Hello from the harbour' });
    expect(outcome).toMatchObject({
      status: 'ok',
      data: { text: 'Hello from the harbour' },
      notes: { provider_backend: 'sandbox', sandbox: true, rollback: { undo_tool: 'x_delete_tweet' } },
    });
    expect(await kit.posted()).toEqual(['Hello from the harbour']);
    const usage = await kit.services.safety.usage();
    expect(usage).toContainEqual(expect.objectContaining({ action: 'tweet', used: 1 }));
  });

  it('says in a dry run what the real call would meet, for whom and with which media', async () => {
    await open();
    const judged = async (options: XKitOptions) => {
      const other = await kit.second(options);
      const text = { text: 'Only a try', media_ids: ['11'] };
      const preview = await other.data('x_post_tweet_dry_run', text);
      const { outcome } = await other.call('x_post_tweet', text);
      await other.close();
      return { preview, real: outcome.status };
    };
    const asked = await judged({ policy: { template: 'safe_default' } });
    expect(asked).toMatchObject({
      real: 'routed',
      preview: {
        tweets: [{ text: 'Only a try', media_ids: ['11'] }],
        policy: {
          decision: 'ask',
          reason: "tool 'x_post_tweet' requires approval",
          matched_rule_id: expect.stringContaining('safe_default'),
        },
      },
    });
    const denied = await judged({ policy: { blocked_tools: ['x_post_tweet'] } });
    expect(denied).toMatchObject({
      real: 'refused',
      preview: { policy: { decision: 'deny', blocked: true } },
    });
    await kit.kernel.setPaused(true, PERSON);
    expect(await judged({})).toMatchObject({ real: 'refused', preview: { policy: { decision: 'deny' } } });
    await kit.kernel.setPaused(false, PERSON);
    const thread = { tweets: ['One of two', 'Two of two'], media_ids: [[], ['12']] };
    expect(await kit.data('x_post_thread_dry_run', thread)).toMatchObject({
      tweets: [{ text: 'One of two' }, { text: 'Two of two', media_ids: ['12'] }],
      policy: { decision: 'allow' },
    });
  });

  it('refuses a text that is too long as X counts it, before anything is asked or sent', async () => {
    await open({ policy: { require_approval_for: ['x_post_tweet'] } });
    const fits = '字'.repeat(140);
    expect((await kit.call('x_post_tweet', { text: fits })).outcome.status).toBe('routed');
    const { outcome } = await kit.call('x_post_tweet', { text: `${fits}a` });
    expect(outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'tweet_too_long', detail: { length: 281, max: 280 } },
    });
    expect(await kit.posted()).toEqual([]);
  });

  it('refuses a banned phrase as whole words in any case, and lets the letters pass inside other words', async () => {
    await open({ config: { limits: { banned_phrases: ['check out', 'I recommend'] } } });
    const { outcome } = await kit.call('x_post_tweet', { text: 'You must CHECK  OUT this boat' });
    expect(outcome).toMatchObject({ fault: { code: 'validation_error', detail: { phrase: 'check out' } } });
    expect(
      (await kit.call('x_post_tweet', { text: 'Wiki recommendations and checkouts' })).outcome.status,
    ).toBe('ok');
  });

  it('refuses the same text twice, and one that is nearly the same', async () => {
    await open();
    const text = 'Our uptime page now explains every single outage in plain words';
    await kit.data('x_post_tweet', { text });
    const again = await kit.call('x_post_tweet', { text: `  ${text.toUpperCase()} ` });
    expect(again.outcome).toMatchObject({
      fault: { code: 'validation_error', detail: { duplicate_of: expect.any(String) } },
    });
    const close = await kit.call('x_post_tweet', { text: `${text} today` });
    expect(close.outcome).toMatchObject({
      fault: { code: 'validation_error', detail: { similar_to: expect.any(String) } },
    });
    kit.clock.advance(31 * 86_400_000);
    const later = await kit.call('x_post_tweet', {
      text: 'Something else entirely, about boats and harbours',
    });
    expect(later.outcome.status).toBe('ok');
  });

  it('stops at the posts of a day, counting quotes, and starts again at midnight of the configured zone', async () => {
    await open({ config: { limits: { max_tweets_per_day: 2 }, schedule: { timezone: 'Asia/Tokyo' } } });
    const target = await someonesPost();
    await kit.data('x_post_tweet', { text: 'One of today' });
    await kit.data('x_quote_tweet', { text: 'Two of today, quoting', quoted_tweet_id: target });
    const third = await kit.call('x_post_tweet', { text: 'Three would be too many' });
    expect(third.outcome).toMatchObject({
      fault: { code: 'policy_denied_hard_rule', detail: { limit: 'max_tweets_per_day', max: 2 } },
    });
    // The clock stands at 12:00 UTC, which is 21:00 in Tokyo.
    expect('fault' in third.outcome && third.outcome.fault.resetAt).toEqual(new Date('2026-02-25T15:00:00Z'));
    kit.clock.advance(3 * 3_600_000);
    expect((await kit.call('x_post_tweet', { text: 'Three, on the next day' })).outcome.status).toBe('ok');
  });

  it('limits replies to one author, whichever of their posts is answered', async () => {
    await open({ config: { limits: { max_replies_per_author_per_day: 1 } } });
    const [first, second, other] = [
      await someonesPost('benno_ships', 'one'),
      await someonesPost('benno_ships', 'two'),
      await someonesPost('kofi_codes', 'three'),
    ];
    await kit.data('x_reply_to_tweet', { text: 'A good point about boats', in_reply_to_id: first });
    const again = await kit.call('x_reply_to_tweet', {
      text: 'And one more thing for you',
      in_reply_to_id: second,
    });
    expect(again.outcome).toMatchObject({
      fault: { code: 'policy_denied_hard_rule', detail: { limit: 'max_replies_per_author_per_day' } },
    });
    const elsewhere = await kit.call('x_reply_to_tweet', {
      text: 'Hello to somebody else',
      in_reply_to_id: other,
    });
    expect(elsewhere.outcome.status).toBe('ok');
  });

  it('lets only the configured share of replies name the product', async () => {
    await open({
      config: { business: { product_name: 'Tidepool' }, limits: { product_mention_ratio: 0.05 } },
    });
    const reply = async (text: string) =>
      kit.call('x_reply_to_tweet', { text, in_reply_to_id: await someonesPost('benno_ships', text) });
    expect((await reply('Tidepool does that')).outcome.status).toBe('ok');
    expect(codeOf((await reply('tidepool again, sorry')).outcome)).toBe('policy_denied_hard_rule');
    expect((await reply('A reply without the name')).outcome.status).toBe('ok');
  });

  it('holds a universal POST that posts to the same limits', async () => {
    await open({ config: { limits: { max_tweets_per_day: 1 } } });
    const post = (text: string) =>
      kit.call('x_post', { endpoint: '/2/tweets', body: JSON.stringify({ text }) });
    expect((await post('Raw, but a post')).outcome.status).toBe('ok');
    expect(codeOf((await post('Raw and one too many')).outcome)).toBe('policy_denied_hard_rule');
    expect(codeOf((await kit.call('x_post_tweet', { text: 'Typed and one too many' })).outcome)).toBe(
      'policy_denied_hard_rule',
    );
    expect(await kit.posted()).toEqual(['Raw, but a post']);
  });

  it('never lets two posts at the same moment share the last place', async () => {
    await open({ config: { limits: { max_tweets_per_day: 1 } } });
    const texts = ['first of five', 'second one here', 'a third text', 'fourth for luck', 'and number five'];
    await Promise.all(texts.map((text) => kit.call('x_post_tweet', { text })));
    expect((await kit.posted()).length).toBeLessThanOrEqual(1);
  });

  it('finds out that a post is out when the connection broke after it was made', async () => {
    await open();
    await kit.fault({ kind: 'drop_after', endpoint: 'create_tweet' });
    const { outcome } = await kit.call('x_post_tweet', {
      text: 'Cut off & still posted https://example.com/a',
    });
    expect(outcome).toMatchObject({ status: 'ok', data: { id: expect.any(String) } });
    expect((await kit.posted()).length).toBe(1);
    expect(await kit.services.growth.posts.latest(['tweet'], 5, { state: 'posted' })).toHaveLength(1);
  });

  it('says that nothing happened when the connection broke before the post was made', async () => {
    await open();
    await kit.fault({ kind: 'drop_before', endpoint: 'create_tweet' });
    const { outcome } = await kit.call('x_post_tweet', { text: 'Never arrived' });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'x_network_error' } });
    expect(await kit.posted()).toEqual([]);
    expect((await kit.call('x_post_tweet', { text: 'Never arrived' })).outcome.status).toBe('ok');
  });

  it('runs exactly the routed call when a person approves it, media and target included', async () => {
    await open({ mode: 'composer' });
    const target = await someonesPost();
    const { outcome } = await kit.call('x_reply_to_tweet', {
      text: 'Approved words',
      in_reply_to_id: target,
    });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    expect(await kit.posted()).toEqual([]);
    const decided = await kit.data('approve_item', { id: outcome.approvalId }, { principal: PERSON });
    expect(decided).toMatchObject({ executed: true, status: 'done', result: { in_reply_to_id: target } });
    expect(await kit.posted()).toEqual(['Approved words']);
    const replies = await kit.data('get_recent_replies', {});
    expect(replies).toMatchObject({ count: 1, replies: [{ in_reply_to_id: target, author: 'benno_ships' }] });
  });

  it('keeps what the sandbox did apart from the account', async () => {
    await open();
    await kit.data('x_post_tweet', { text: 'In the sandbox' });
    const rows = await kit.services.growth.posts.latest(['tweet'], 5);
    expect(rows.map(({ realm }) => realm)).toEqual(['sandbox']);
  });

  it.each([
    ['rate_limited', 'x_rate_limited'],
    ['unauthorized', 'x_auth_expired'],
    ['forbidden', 'x_forbidden'],
    ['suspended', 'x_account_restricted'],
    ['bad_request', 'x_api_error'],
  ])('reports X saying %s as %s and releases the place', async (kind, code) => {
    await open({ config: { limits: { max_tweets_per_day: 1 } } });
    await kit.fault({ kind, endpoint: 'create_tweet', times: 3 });
    const { outcome } = await kit.call('x_post_tweet', { text: 'Refused by X' });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code } });
    await kit.sandbox.control('clear_faults');
    expect((await kit.call('x_post_tweet', { text: 'Refused by X' })).outcome.status).toBe('ok');
  });

  it('deletes a post only after a person approved, and says that it cannot be undone', async () => {
    await open();
    const { id } = await kit.data('x_post_tweet', { text: 'Soon gone' });
    const { outcome } = await kit.call('x_delete_tweet', { tweet_id: String(id) });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    const { outcome: done } = await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    expect(done && dataOf(done)).toEqual({ deleted: true, tweet_id: id });
    expect(await kit.posted()).toEqual([]);
  });
});
