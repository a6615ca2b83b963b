import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { codeOf, openXKit, type XKit } from '../test/support/kit.ts';
import { curatedTools } from '../tools.ts';

const ARGS: Record<string, JsonObject> = {
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
  x_post: { endpoint: '/2/users/2001000001/likes', body: '{"tweet_id":"1"}' },
  x_put: { endpoint: '/2/tweets/1/hidden', body: '{"hidden":true}' },
  x_delete: { endpoint: '/2/tweets/1' },
};

/** A thread can be resumed; of a free-form request it is unknown whether it was made. */
const AFTER_A_BREAK: Record<string, string> = {
  x_post_thread: 'thread_partial_failure',
  x_post: 'indeterminate',
  x_put: 'indeterminate',
  x_delete: 'indeterminate',
};

/** What can be undone must be there first, or a look at X would rightly say that it is gone. */
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

const changes = curatedTools.filter(({ name }) => name in ARGS);

/** Every other failure of every tool is provoked through a real client in test/e2e/x-error-codes.test.ts. */
describe('a change whose connection breaks before X has seen it', () => {
  let kit: XKit;
  let calls = 0;
  beforeAll(async () => {
    kit = await openXKit();
    await arrange(kit);
    await kit.services.x().then((x) => x.me());
  });
  afterAll(() => kit[Symbol.asyncDispose]());

  /** Calls a tool as a person would get it done: what asks first is approved. */
  const codeFrom = async (name: string): Promise<string> => {
    const args = ARGS[name] ?? {};
    calls += 1;
    // A text in doubt counts as posted, so every call brings its own.
    const { outcome } = await kit.call(name, 'text' in args ? { ...args, text: `Words ${calls}` } : args);
    if (outcome.status !== 'routed') return codeOf(outcome);
    const decided = await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    if (!decided.outcome) throw new Error('nothing was run');
    return codeOf(decided.outcome);
  };

  it.each(changes)('$name is looked up on X and reported as not done', async ({ name }) => {
    // Only changes are struck: afterwards X can be asked what became of them.
    for (const method of ['POST', 'PUT', 'DELETE']) await kit.fault({ kind: 'drop_before', method });
    const got = await codeFrom(name);
    await kit.sandbox.control('clear_faults');
    expect(got).toBe(AFTER_A_BREAK[name] ?? 'x_network_error');
  });
});
