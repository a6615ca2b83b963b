import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import { codeOf, openXKit, type XKit, type XProcess } from '../../../../test/support/x-kit.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { curatedTools } from '../tools.ts';

/** What the sandbox does, and the documented code it must be told as. */
const MISFORTUNES = [
  ['rate_limited', 'x_rate_limited'],
  ['unauthorized', 'x_auth_expired'],
  ['forbidden', 'x_forbidden'],
  ['drop_before', 'x_network_error'],
  ['bad_request', 'x_api_error'],
] as const;

const ARGS: Record<string, JsonObject> = {
  get_tweet_by_id: { tweet_id: '1' },
  x_search_tweets: { query: 'boats' },
  x_get_user_by_username: { username: 'benno_ships' },
  x_get_user_by_id: { user_id: '2001000002' },
  x_get_users_by_ids: { user_ids: ['2001000002'] },
  x_get_user_tweets: { user_id: '2001000002' },
  x_get_followers: { user_id: '2001000002' },
  x_get_following: { user_id: '2001000002' },
  x_get_liked_tweets: { user_id: '2001000002' },
  x_get_tweet_liking_users: { tweet_id: '1' },
  x_like_tweet: { tweet_id: '1' },
  x_unlike_tweet: { tweet_id: '1' },
  x_retweet: { tweet_id: '1' },
  x_unretweet: { tweet_id: '1' },
  x_bookmark_tweet: { tweet_id: '1' },
  x_unbookmark_tweet: { tweet_id: '1' },
  x_follow_user: { target_user_id: '2001000002' },
  x_unfollow_user: { target_user_id: '2001000002' },
  x_post_tweet: { text: '' },
  x_quote_tweet: { text: '', quoted_tweet_id: '1' },
  x_reply_to_tweet: { text: '', in_reply_to_id: '1' },
  x_post_thread: { tweets: ['One part', 'another part'] },
  x_delete_tweet: { tweet_id: '1' },
  x_get: { endpoint: '/2/users/me' },
  x_post: { endpoint: '/2/users/2001000001/likes', body: '{"tweet_id":"1"}' },
  x_put: { endpoint: '/2/tweets/1/hidden', body: '{"hidden":true}' },
  x_delete: { endpoint: '/2/tweets/1' },
};

/** A thread can be resumed; of a free-form request nobody can tell whether it was made. */
const AFTER_A_BREAK: Record<string, string> = {
  x_post_thread: 'thread_partial_failure',
  x_post: 'indeterminate',
  x_put: 'indeterminate',
  x_delete: 'indeterminate',
};

/** What can be taken back must be there first, or a look at X would rightly say that it is gone. */
async function arrange(kit: XKit): Promise<void> {
  const post = await kit.sandbox.control('post_as', { username: 'benno_ships', text: 'To be answered' });
  const tweet_id = String(post.id);
  ARGS.x_reply_to_tweet = { text: '', in_reply_to_id: tweet_id };
  for (const name of ['like_tweet', 'bookmark_tweet', 'retweet']) {
    await kit.data(`x_${name}`, { tweet_id });
    ARGS[`x_un${name}`] = { tweet_id };
  }
  const own = await kit.data('x_post_tweet', { text: 'To be deleted' });
  ARGS.x_delete_tweet = { tweet_id: String(own.id) };
  const { users } = await kit.data('x_get_following', { user_id: '2001000001' });
  const followed = (users as { id: string }[]).map(({ id }) => id);
  ARGS.x_unfollow_user = { target_user_id: followed[0] ?? '' };
  const all = (await kit.sandbox.control('look', { collection: 'users' })) as unknown as {
    items: { id: string }[];
  };
  const stranger = all.items.find(({ id }) => id !== '2001000001' && !followed.includes(id));
  ARGS.x_follow_user = { target_user_id: stranger?.id ?? '' };
}

const onX = curatedTools.filter((tool) => tool.faults.includes('x_rate_limited'));
const changes = onX.filter((tool) => tool.faults.includes('scraper_mutation_blocked'));

describe('when X or the configuration says no', () => {
  let kit: XKit;
  let notConfigured: XProcess;
  let scraper: XProcess;
  let calls = 0;
  beforeAll(async () => {
    kit = await openXKit();
    notConfigured = await kit.second({ config: { x_api: { provider_backend: 'x_api' } } });
    scraper = await kit.second({ config: { x_api: { provider_backend: 'scraper' } } });
    await arrange(kit);
    await kit.services.x().then((x) => x.me());
  });
  afterAll(() => kit[Symbol.asyncDispose]());

  /** Calls a tool as a person would get it done: what asks first is approved. */
  const codeFrom = async (process: XProcess, name: string): Promise<string> => {
    const args = ARGS[name] ?? {};
    calls += 1;
    // A text in doubt counts as posted, so every call brings its own.
    const { outcome } = await process.call(name, 'text' in args ? { ...args, text: `Words ${calls}` } : args);
    if (outcome.status !== 'routed') return codeOf(outcome);
    const decided = await process.kernel.approvals.approve(outcome.approvalId, PERSON);
    if (!decided.outcome) throw new Error('nothing was run');
    return codeOf(decided.outcome);
  };

  /** Reads wait between their tries, so a broken network is tried on two of them only. */
  const READS_WITHOUT_NETWORK = ['get_tweet_by_id', 'x_get'];

  describe.each(MISFORTUNES)('%s', (kind, code) => {
    const tools = onX.filter(
      ({ effect, name }) =>
        kind !== 'drop_before' || effect !== 'read' || READS_WITHOUT_NETWORK.includes(name),
    );
    it.each(tools)(`$name fails with ${code}`, async ({ name, effect }) => {
      // Reads try again by themselves, so a misfortune lasts; after a broken change X can be asked what became of it.
      const once = kind === 'drop_before' && effect !== 'read';
      if (once) for (const method of ['POST', 'PUT', 'DELETE']) await kit.fault({ kind, method });
      else await kit.fault({ kind, times: 50 });
      const got = await codeFrom(kit, name);
      await kit.sandbox.control('clear_faults');
      kit.clock.advance(901_000);
      expect(got).toBe(once ? (AFTER_A_BREAK[name] ?? code) : code);
    });
  });

  it.each(onX.map((tool) => tool.name))('%s says that X is not configured', async (name) => {
    expect(await codeFrom(notConfigured, name)).toBe('x_not_configured');
  });

  it.each(changes.map((tool) => tool.name))('%s is blocked on the scraper', async (name) => {
    expect(await codeFrom(scraper, name)).toBe('scraper_mutation_blocked');
  });
});
