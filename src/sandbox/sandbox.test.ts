import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startXWorld, type XWorld } from '../../test/support/x-sandbox.ts';

describe('the sandbox over HTTP', () => {
  let world: XWorld;
  beforeAll(async () => {
    world = await startXWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  it('answers the documented example post with the documented numbers', async () => {
    const { json } = await world.api.request('tweet_by_id', { tweet_id: '1234567890' });
    expect(json).toMatchObject({
      data: {
        id: '1234567890',
        text: 'Hello world',
        author_id: '987654321',
        public_metrics: { retweet_count: 5, reply_count: 2, like_count: 10 },
      },
    });
  });
});
