import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { openXKit, type XKit } from '../test/support/kit.ts';
import type { PublishedView } from './published.ts';
import { served } from './views.ts';

describe('the published posts', () => {
  let kit: XKit;
  beforeEach(async () => {
    kit = await openXKit();
    await kit.data('x_post_tweet', { text: 'About harbours' });
    kit.clock.advance(60_000);
    await kit.data('x_post_thread', { tweets: ['A thread on tides', 'Its second part'] });
  });
  afterEach(() => kit[Symbol.asyncDispose]());

  const show = async (query: JsonObject = {}) =>
    (await served.published(query, { services: kit.services, person: PERSON })) as unknown as PublishedView;
  const measure = (text: string, likes: number) =>
    kit.database.db
      .updateTable('x_posts' as never)
      .set({
        likes,
        replies: 0,
        retweets: 0,
        impressions: 100,
        measured_at: '2026-02-26T12:00:00.000Z',
      } as never)
      .where('text' as never, 'like', `${text}%` as never)
      .execute();

  it('are listed newest first, a thread as one entry with all its parts', async () => {
    const { total, posts } = await show();
    expect(total).toBe(2);
    expect(posts).toMatchObject([
      { kind: 'thread', texts: ['A thread on tides', 'Its second part'], figures: null },
      { kind: 'tweet', texts: ['About harbours'] },
    ]);
    expect(posts[0]?.tweet_ids).toHaveLength(2);
    expect(posts[0]?.tweet_ids[0]).toBe(posts[0]?.tweet_id);
  });

  it('are found by a word and sorted by engagement, the unmeasured last', async () => {
    expect((await show({ search: 'HARBOUR' })).posts).toMatchObject([{ texts: ['About harbours'] }]);
    await measure('About harbours', 7);
    const { posts } = await show({ sort: 'engagement' });
    expect(posts.map(({ figures }) => figures?.engagement ?? null)).toEqual([7, null]);
  });
});
