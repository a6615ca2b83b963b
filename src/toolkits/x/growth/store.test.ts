import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { withDbErrors } from '../errors.ts';
import { createGrowthStore, type GrowthStore } from './store.ts';
import type { GrowthTables } from './tables.ts';

const NOW = new Date('2026-02-25T12:00:00Z');
const later = (ms: number): Date => new Date(NOW.getTime() + ms);

describe.each(ENGINES)('the growth store on %s', (engine) => {
  let store: TestStore;
  let growth: GrowthStore;
  let elsewhere: GrowthStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
    const db = store.database.db as unknown as Kysely<GrowthTables>;
    growth = createGrowthStore(db, async () => 'x');
    elsewhere = createGrowthStore(db, async () => 'sandbox');
  });
  afterEach(() => store.close());

  const schedule = (text = 'words') =>
    growth.contentQueue.add({
      type: 'tweet',
      texts: [text],
      scheduledFor: later(1000),
      source: 'mcp',
      createdBy: 'a',
      at: NOW,
    });

  it('gives a due item to one of many who claim it', async () => {
    await schedule();
    expect(await growth.contentQueue.due(NOW, 10)).toEqual([]);
    const [item] = await growth.contentQueue.due(later(1000), 10);
    if (!item) throw new Error('nothing was due');
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd'].map((who) => growth.contentQueue.claim(item, who, later(1000))),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await growth.contentQueue.due(later(1000), 10)).toEqual([]);
    const [again] = await growth.contentQueue.due(later(32_000), 10);
    expect(again).toMatchObject({ state: 'claimed', attempts: 1 });
  });

  it('lets only the one who holds a claim settle it', async () => {
    const { id } = await schedule();
    const [item] = await growth.contentQueue.due(later(1000), 1);
    if (!item) throw new Error('nothing was due');
    await growth.contentQueue.claim(item, 'holder', later(1000));
    await growth.contentQueue.settle(id, 'other', { state: 'failed' }, later(2000));
    expect(await growth.contentQueue.get(id)).toMatchObject({ state: 'claimed' });
    await growth.contentQueue.settle(id, 'holder', { state: 'posted', tweet_id: '9' }, later(2000));
    expect(await growth.contentQueue.get(id)).toMatchObject({ state: 'posted', tweet_id: '9' });
    expect(await growth.contentQueue.update(id, { cancel: true }, later(3000))).toBeUndefined();
  });

  it('keeps a claimed item as it was while its outcome is in doubt', async () => {
    const { id, updated_at } = await schedule();
    const [item] = await growth.contentQueue.due(later(1000), 1);
    if (!item) throw new Error('nothing was due');
    await growth.contentQueue.claim(item, 'holder', later(1000));
    await growth.contentQueue.hold(id, 'holder', later(300_000), {
      error: 'unknown',
      error_code: 'indeterminate',
    });
    expect(await growth.contentQueue.get(id)).toMatchObject({ state: 'claimed', updated_at });
    expect(await growth.contentQueue.due(later(200_000), 1)).toEqual([]);
    expect(await growth.contentQueue.due(later(340_000), 1)).toHaveLength(1);
  });

  it('counts what is out, under way or in doubt, and not what failed', async () => {
    const post = async (id: string, author?: string): Promise<void> =>
      growth.posts.reserve({
        id,
        kind: 'reply',
        text: id,
        actor: 'a',
        at: NOW,
        mentionsProduct: false,
        targetAuthorId: author,
      });
    for (const id of ['out', 'underway', 'doubt', 'failed']) await post(id, id === 'out' ? '7' : '8');
    await growth.posts.posted('out', '1', NOW);
    await growth.posts.inDoubt('doubt', 'x');
    await growth.posts.failed('failed', 'x');
    const since = later(-1000);
    expect(await growth.posts.count({ kinds: ['reply'], since })).toMatchObject({ used: 3, oldest: NOW });
    expect(await growth.posts.count({ kinds: ['reply'], since, except: 'out' })).toMatchObject({ used: 2 });
    expect(await growth.posts.count({ kinds: ['reply'], since, authorId: '7' })).toMatchObject({ used: 1 });
    expect(await growth.posts.count({ kinds: ['tweet'], since })).toEqual({ used: 0, oldest: undefined });
    expect(await elsewhere.posts.count({ kinds: ['reply'], since })).toMatchObject({ used: 0 });
  });

  it('measures a post by likes, replies and reposts per impression', async () => {
    await growth.posts.reserve({
      id: 'p',
      kind: 'tweet',
      text: 'p',
      actor: 'a',
      at: NOW,
      mentionsProduct: false,
    });
    await growth.posts.posted('p', '1', NOW);
    expect(await growth.posts.unmeasured(later(-1), later(1), 10)).toHaveLength(1);
    await growth.posts.measured('p', { impressions: 100, likes: 2, replies: 1, retweets: 1 }, later(1));
    expect(await growth.posts.find('p')).toMatchObject({ score: 150, likes: 2 });
    expect(await growth.posts.unmeasured(later(-1), later(1), 10)).toEqual([]);
  });

  it('carries topic and style over from the draft a post was made of', async () => {
    const { textKey } = await import('../posting/text.ts');
    await growth.journal.generated(
      { id: 'g', textKey: textKey('Same words'), kind: 'tweet', topic: 't', style: 's' },
      NOW,
    );
    await growth.posts.reserve({
      id: 'p',
      kind: 'tweet',
      text: 'same  WORDS',
      actor: 'a',
      at: NOW,
      mentionsProduct: true,
    });
    expect(await growth.posts.find('p')).toMatchObject({ topic: 't', style: 's', mentions_product: 1 });
  });

  it('keeps the state of a post that is found again, with its new numbers', async () => {
    const found = {
      tweetId: '1',
      authorId: '2',
      authorUsername: 'ben',
      authorFollowers: 5,
      text: 'hi',
      createdAt: NOW.toISOString(),
      likes: 1,
      retweets: 0,
      replies: 0,
      hasMedia: false,
      isQuote: true,
    };
    const score = {
      total: 70,
      keyword_relevance: 0,
      follower: 0,
      recency: 0,
      engagement: 0,
      reply_count: 0,
      content_type: 0,
      meets_threshold: true,
    };
    await growth.discovered.save(found, score, { source: 'search', keyword: 'k', at: NOW });
    await growth.discovered.mark('1', 'replied');
    await growth.discovered.save(
      { ...found, likes: 9 },
      { ...score, total: 80 },
      { source: 'mention', at: later(1) },
    );
    expect(await growth.discovered.get('1')).toMatchObject({
      state: 'replied',
      likes: 9,
      score: 80,
      source: 'search',
    });
    expect(await growth.discovered.list({ minScore: 60, limit: 5, states: ['new'] })).toEqual([]);
    expect(await elsewhere.discovered.get('1')).toBeUndefined();
  });

  it('resumes a thread for one call at a time, and not after a week', async () => {
    const { threads } = growth;
    const first = await threads.claim('key', 3, 'call-1', NOW);
    await threads.posted(first.id, 0, '100', NOW);
    await expect(threads.claim('key', 3, 'call-2', later(1000))).rejects.toMatchObject({ code: 'busy' });
    await threads.release(first.id, 'call-1');
    const again = await threads.claim('key', 3, 'call-2', later(1000));
    expect(again).toMatchObject({ id: 'call-1', parts: [{ position: 0, state: 'posted', tweetId: '100' }] });
    // The process of call-2 died: its hold runs out.
    expect(await threads.claim('key', 3, 'call-3', later(200_000))).toMatchObject({ id: 'call-1' });
    const fresh = await threads.claim('key', 3, 'call-4', later(8 * 86_400_000));
    expect(fresh).toEqual({ id: 'call-4', parts: [], createdAt: later(8 * 86_400_000) });
  });

  it('remembers cursors, follower counts, uploads and model use', async () => {
    const { journal } = growth;
    await journal.setCursor('loop:a', '1', NOW);
    await journal.setCursor('loop:a', '2', NOW);
    expect(await journal.cursor('loop:a')).toBe('2');
    expect(await journal.cursors('loop:')).toHaveLength(1);
    await journal.followers({ at: NOW, followers: 5, following: 1, posts: 2 });
    expect(await journal.followerTrend(NOW)).toEqual([{ at: NOW, followers: 5, following: 1, posts: 2 }]);
    await journal.mediaUploaded('hash', '77', later(1000));
    expect(await journal.uploadedMedia('hash', NOW)).toBe('77');
    expect(await journal.uploadedMedia('hash', later(1000))).toBeUndefined();
    const use = { at: NOW, purpose: 'reply', provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4 };
    await journal.llmUsed(use);
    await journal.llmUsed(use);
    expect(await journal.llmUsage(NOW)).toEqual([
      { provider: 'p', model: 'm', calls: 2, input_tokens: 6, output_tokens: 8 },
    ]);
    await journal.act(NOW, 'reply', 'success', 'done', { a: 1 });
    expect(await journal.actionCounts(NOW)).toEqual([{ action_type: 'reply', status: 'success', count: 1 }]);
    await journal.cleanUp(later(20 * 86_400_000));
    expect(await journal.actions(NOW, 10)).toEqual([]);
  });
});

it('a store that throws is reported as db_error, and a fault stays what it is', async () => {
  const port = withDbErrors({
    read: async () => {
      throw new Error('disk I/O error');
    },
    now: () => 7,
  });
  await expect(port.read()).rejects.toMatchObject({
    code: 'db_error',
    message: expect.not.stringContaining('disk'),
  });
  expect(port.now()).toBe(7);
});
