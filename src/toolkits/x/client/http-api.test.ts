import { describe, expect, it } from 'vitest';
import { startXWorld } from '../test/support/sandbox.ts';

const OWN = '2001000001';

describe('a read', () => {
  it('is repeated twice with growing, jittered waits when X fails in passing', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'unavailable', times: 2 });
    const reply = await world.api.request('tweet_by_id', { tweet_id: '1234567890' });
    expect(reply).toMatchObject({ status: 200, retries: 2 });
    expect(world.slept).toEqual([562.5, 1125]);
  });

  it('is repeated when the connection breaks', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'drop_before', times: 2 });
    expect(await world.api.request('me', {})).toMatchObject({ retries: 2 });
  });

  it('fails with x_api_error, still retryable, when X keeps failing', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'unavailable', times: 3 });
    await expect(world.api.request('tweet_by_id', { tweet_id: '1234567890' })).rejects.toMatchObject({
      code: 'x_api_error',
      retryable: true,
      effect: 'none',
    });
    expect(await world.sandbox.control('faults')).toEqual({ faults: [] });
  });

  it('is not repeated on 429, and says when the limit lifts', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'rate_limited', reset_in: 60, times: 5 });
    await expect(world.api.request('search_recent', { query: 'uptime' })).rejects.toMatchObject({
      code: 'x_rate_limited',
      resetAt: new Date('2026-02-25T12:01:00.000Z'),
    });
    expect(world.slept).toEqual([]);
  });

  it('says not_found for a post that is not there', async () => {
    await using world = await startXWorld();
    await expect(world.api.request('tweet_by_id', { tweet_id: '1' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is refused before it is sent when an argument is malformed', async () => {
    await using world = await startXWorld();
    await expect(world.api.request('tweet_by_id', { tweet_id: '../users/me' })).rejects.toMatchObject({
      code: 'validation_error',
      detail: { field: 'tweet_id' },
    });
    await expect(world.api.request('search_recent', { query: 'a', max_results: 5 })).rejects.toMatchObject({
      code: 'validation_error',
      message: 'max_results must be between 10 and 100',
    });
    expect(await world.api.usage(new Date(0))).toEqual([]);
  });

  it('has the old field names even where X sends the new ones', async () => {
    await using world = await startXWorld();
    const raw = await world.api.raw({
      method: 'GET',
      endpoint: '/2/tweets/1234567890',
      query: [{ key: 'post.fields', value: 'public_metrics' }],
    });
    expect(raw.json).toMatchObject({ data: { public_metrics: { repost_count: 5 } } });
    const { withOldNames } = await import('./http-api.ts');
    expect(withOldNames(raw.json ?? null)).toMatchObject({
      data: { public_metrics: { retweet_count: 5, repost_count: 5 } },
    });
  });

  it('stops immediately when the caller cancels', async () => {
    await using world = await startXWorld();
    const stop = AbortSignal.abort(new Error('enough'));
    await expect(world.api.request('me', {}, { signal: stop })).rejects.toMatchObject({
      code: 'cancelled',
      effect: 'none',
    });
  });
});

describe('a change', () => {
  it('is never repeated: a broken connection leaves it in doubt, whether it happened or not', async () => {
    await using world = await startXWorld();
    for (const kind of ['drop_before', 'drop_after'] as const) {
      await world.sandbox.control('fault', { kind, endpoint: 'create_tweet' });
      await expect(world.api.request('create_tweet', { text: kind })).rejects.toMatchObject({
        code: 'x_network_error',
        effect: 'unknown',
        retryable: false,
      });
    }
    const { json } = await world.api.request('user_tweets', { user_id: OWN });
    const texts = (json as { data: { text: string }[] }).data.map(({ text }) => text);
    expect(texts.filter((text) => text.startsWith('drop_'))).toEqual(['drop_after']);
    expect(world.slept).toEqual([]);
  });

  it('is in doubt after 503, and certainly not made after 403 and 429', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'unavailable' });
    await expect(world.api.request('create_tweet', { text: 'a' })).rejects.toMatchObject({
      code: 'x_api_error',
      effect: 'unknown',
    });
    await world.sandbox.control('fault', { kind: 'duplicate' });
    await expect(world.api.request('create_tweet', { text: 'a' })).rejects.toMatchObject({
      code: 'x_forbidden',
      effect: 'none',
    });
    await world.sandbox.control('fault', { kind: 'rate_limited' });
    await expect(world.api.request('create_tweet', { text: 'a' })).rejects.toMatchObject({
      code: 'x_rate_limited',
      effect: 'none',
    });
    await world.sandbox.control('fault', { kind: 'suspended' });
    await expect(world.api.request('create_tweet', { text: 'a' })).rejects.toMatchObject({
      code: 'x_account_restricted',
      effect: 'none',
    });
  });

  it('is in doubt when X answers something that is not JSON', async () => {
    await using world = await startXWorld();
    await world.sandbox.control('fault', { kind: 'garbled' });
    await expect(world.api.request('create_tweet', { text: 'garbled' })).rejects.toMatchObject({
      code: 'x_api_error',
      effect: 'unknown',
    });
  });

  it('fills in the own id where X wants it and the caller leaves it out', async () => {
    await using world = await startXWorld();
    expect((await world.api.request('like', { tweet_id: '1234567890' })).json).toEqual({
      data: { liked: true },
    });
    expect((await world.api.request('unlike', { user_id: 'me', tweet_id: '1234567890' })).json).toEqual({
      data: { liked: false },
    });
  });
});

describe('bookkeeping', () => {
  it('counts calls, failures, items and cost per day and endpoint in the store', async () => {
    await using world = await startXWorld();
    await world.api.request('users_by_ids', { user_ids: [OWN, '987654321'] });
    await world.api.request('users_by_ids', { user_ids: ['987654321'] });
    await expect(world.api.request('users_by_ids', { user_ids: ['5'] })).rejects.toMatchObject({
      code: 'not_found',
    });
    await world.api.request('create_tweet', { text: 'costs a cent' });
    await world.sandbox.control('fault', { kind: 'bad_request' });
    await expect(world.api.request('create_tweet', { text: 'costs nothing' })).rejects.toMatchObject({
      code: 'x_api_error',
    });
    const usage = await world.api.usage(new Date('2026-02-25T00:00:00Z'));
    expect(usage).toContainEqual({
      day: '2026-02-25',
      endpoint: 'users_by_ids',
      method: 'GET',
      calls: 3,
      failures: 0,
      items: 3,
      costUsd: 0.03,
    });
    expect(usage).toContainEqual({
      day: '2026-02-25',
      endpoint: 'create_tweet',
      method: 'POST',
      calls: 2,
      failures: 1,
      items: 1,
      costUsd: 0.01,
    });
    expect(await world.api.usage(new Date('2026-02-26T00:00:00Z'))).toEqual([]);
  });

  it('keeps what X says about each limit', async () => {
    await using world = await startXWorld();
    await world.api.request('search_recent', { query: 'uptime' });
    await world.api.request('search_recent', { query: 'dns' });
    expect(await world.api.rateLimits()).toEqual([
      {
        endpoint: 'search_recent',
        auth: 'user',
        limit: 300,
        remaining: 298,
        resetAt: new Date('2026-02-25T12:15:00Z'),
        seenAt: new Date('2026-02-25T12:00:00Z'),
      },
    ]);
  });

  it('asks who is signed in once', async () => {
    await using world = await startXWorld();
    expect(await world.api.me()).toMatchObject({ id: OWN, username: 'adamarsh_dev' });
    await world.api.me();
    await world.api.request('bookmarks', {});
    const [me] = (await world.api.usage(new Date(0))).filter(({ endpoint }) => endpoint === 'me');
    expect(me?.calls).toBe(1);
  });

  it('says on the sandbox that everything is allowed and simulated', async () => {
    await using world = await startXWorld();
    expect(world.api.provider).toMatchObject({
      backend: 'sandbox',
      data_confidence: 'simulated',
      mutations_available: true,
    });
    expect(await world.api.access()).toMatchObject({ tier: 'Sandbox', can_reply: true, missing_scopes: [] });
  });
});
