import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import type { Score } from '../growth/scoring.ts';
import { codeOf, openXKit, type XKit, type XKitOptions } from '../test/support/kit.ts';
import { startModel, type TestModel } from '../test/support/model.ts';

const BUSINESS = {
  product_name: 'Tidepool',
  product_keywords: ['kelp', 'sea weed'],
  industry_topics: ['boats'],
};

describe('the workflows', () => {
  let kit: XKit;
  let model: TestModel;
  let answers = 0;
  beforeEach(async () => {
    answers = 0;
    model = await startModel(() => {
      answers += 1;
      return `Draft number ${answers}`;
    });
  });
  afterEach(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });
  const open = async (options: XKitOptions = {}): Promise<void> => {
    kit = await openXKit({
      ...options,
      config: { business: BUSINESS, llm: model.settings, ...options.config },
    });
  };
  const someonePosts = async (username: string, text: string, likes = 0): Promise<string> =>
    String((await kit.sandbox.control('post_as', { username, text, likes })).id);

  it('find every post that was searched with min_score 0, and recommend by the threshold all the same', async () => {
    await open();
    await someonePosts('benno_ships', 'Who eats kelp and sea weed?', 900);
    await someonePosts('lena_learns', 'kelp');
    const found = await kit.data('find_reply_opportunities', { min_score: 0 });
    const candidates = found.candidates as {
      score: { total: number; meets_threshold: boolean };
      recommended_action: string;
    }[];
    expect(found).toMatchObject({ min_score: 0, searched: candidates.length });
    expect(candidates.length).toBeGreaterThanOrEqual(2);
    for (const { score, recommended_action } of candidates) {
      expect(score.meets_threshold).toBe(score.total >= Number(found.threshold));
      expect(recommended_action === 'skip').toBe(!score.meets_threshold);
    }
    expect(candidates.some(({ recommended_action }) => recommended_action === 'skip')).toBe(true);
    const usual = await kit.data('find_reply_opportunities', {});
    expect(usual.min_score).toBe(usual.threshold);
    expect((usual.candidates as unknown[]).length).toBeLessThan(candidates.length);
  });

  it('find posts, draft replies and queue them, one approval each', async () => {
    await open({ mode: 'composer' });
    const first = await someonePosts('benno_ships', 'Who eats kelp and sea weed?', 900);
    const second = await someonePosts('kofi_codes', 'kelp is fine', 900);
    await someonePosts('lena_learns', 'nothing to see');
    const found = await kit.data('find_reply_opportunities', { min_score: 30 });
    const candidates = found.candidates as { tweet_id: string; score: { total: number } }[];
    expect(candidates.map(({ tweet_id }) => tweet_id)).toEqual([first, second]);
    const { drafts } = await kit.data('draft_replies_for_candidates', { tweet_ids: [first, second] });
    const wanted = (drafts as { tweet_id: string; text: string }[]).map(({ tweet_id, text }) => ({
      tweet_id,
      text,
    }));
    expect(wanted).toEqual([
      { tweet_id: first, text: 'Draft number 1' },
      { tweet_id: second, text: 'Draft number 2' },
    ]);
    const { outcome } = await kit.call('propose_and_queue_replies', { drafts: wanted });
    // Whether the batch asks as a whole or item by item is the policy's to say; nothing is posted either way.
    expect(['ok', 'routed']).toContain(outcome.status);
    expect(await kit.kernel.approvals.count({ states: ['pending'], toolkit: 'x' })).toBeGreaterThan(0);
    expect(await kit.posted()).toEqual([]);
  });

  it('post replies where the policy allows it, and report each', async () => {
    await open({ config: { limits: { max_replies_per_day: 1 } } });
    const [first, second] = [await someonePosts('benno_ships', 'a'), await someonePosts('kofi_codes', 'b')];
    const result = await kit.data('propose_and_queue_replies', {
      drafts: [
        { tweet_id: first, text: 'A reply for one' },
        { tweet_id: second, text: 'And one for another' },
      ],
    });
    expect(result).toMatchObject({
      executed: 1,
      failed: 1,
      results: [
        { status: 'executed', reply_id: expect.any(String) },
        { status: 'failed', error: { code: 'policy_denied_hard_rule' } },
      ],
    });
    expect(await kit.posted()).toEqual(['A reply for one']);
  });

  it('fail as a whole when every reply failed', async () => {
    await open();
    const { outcome } = await kit.call('propose_and_queue_replies', {
      drafts: [{ tweet_id: '1', text: 'To nobody' }],
    });
    expect(codeOf(outcome)).toBe('not_found');
  });

  it('report each reply when one failed for certain and one is in doubt, so that the approval is used up', async () => {
    await open({ policy: { require_approval_for: ['propose_and_queue_replies'] } });
    const [first, second] = [await someonePosts('benno_ships', 'a'), await someonePosts('kofi_codes', 'b')];
    const { outcome } = await kit.call('propose_and_queue_replies', {
      drafts: [
        { tweet_id: first, text: 'One fine reply here' },
        { tweet_id: second, text: 'Another quite different answer' },
      ],
    });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    await kit.fault({ kind: 'rate_limited', endpoint: 'create_tweet', times: 1 });
    await kit.fault({ kind: 'drop_after', endpoint: 'create_tweet', times: 1 });
    await kit.fault({ kind: 'unavailable', endpoint: 'user_tweets', times: 50 });
    const decided = await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    expect(decided.approval.state).toBe('done');
    expect(decided.outcome).toMatchObject({
      status: 'ok',
      data: {
        executed: 0,
        failed: 2,
        results: [{ error: { code: 'x_rate_limited' } }, { status: 'failed' }],
      },
    });
    expect(await kit.posted()).toEqual(['Another quite different answer']);
  });

  it('keep the drafts that worked when one post is gone', async () => {
    await open();
    const id = await someonePosts('benno_ships', 'Here I am');
    const result = await kit.data('draft_replies_for_candidates', { tweet_ids: ['1', id] });
    expect(result).toMatchObject({
      drafts: [{ tweet_id: id, confidence: 'high' }],
      failed: [{ tweet_id: '1', code: 'not_found' }],
    });
  });

  it('name the keyword a post was found by, not the search, and suggest only such words as topics', async () => {
    await open({ config: { scoring: { threshold: 1 } } });
    const kelp = await someonePosts('benno_ships', 'Who eats kelp and sea weed?');
    const other = await someonePosts('kofi_codes', 'Rope work at dawn');
    const third = await someonePosts('lena_learns', 'Rope, again');
    await kit.data('find_reply_opportunities', {});
    for (const query of ['"rope work" -is:retweet', 'rope again'])
      await kit.data('find_reply_opportunities', { query });
    const { tweets } = await kit.data('get_discovery_feed', { min_score: 0 });
    const words = (tweets as { tweet_id: string; matched_keyword: string | null }[]).map(
      ({ tweet_id, matched_keyword }) => [tweet_id, matched_keyword] as const,
    );
    expect(new Map(words)).toEqual(
      new Map([
        [kelp, 'sea weed'],
        [other, null],
        [third, 'rope again'],
      ]),
    );
    await kit.services.growth.discovered.save(
      {
        tweetId: '77',
        authorId: '2001000002',
        authorUsername: 'benno_ships',
        authorFollowers: 1,
        text: 'Watched',
        createdAt: '2026-02-25T11:00:00Z',
        likes: 0,
        retweets: 0,
        replies: 0,
        hasMedia: false,
        isQuote: false,
      },
      (await kit.services.growth.discovered
        .get(kelp)
        .then((row) => JSON.parse(row?.signals ?? '{}'))) as Score,
      { source: 'target', keyword: 'benno_ships', at: kit.clock.now() },
    );
    const { topics } = await kit.data('suggest_topics', {});
    expect((topics as { topic: string }[]).map(({ topic }) => topic).sort()).toEqual([
      'boats',
      'rope again',
      'sea weed',
    ]);
  });

  it('say what is missing when no query can be made', async () => {
    await open({ config: { business: {} } });
    expect(codeOf((await kit.call('find_reply_opportunities', {})).outcome)).toBe('validation_error');
  });

  it('tell what passed between the account and an author', async () => {
    await open();
    const id = await someonePosts('benno_ships', 'Hello you');
    await kit.data('x_reply_to_tweet', { text: 'Hello to you too', in_reply_to_id: id });
    const context = await kit.data('get_author_context', { author_id: '@benno_ships' });
    expect(context).toMatchObject({
      author: { username: 'benno_ships' },
      history: { replies_sent: 1, replies_today: 1, response_rate: null },
      risk_signals: ['no_measured_performance'],
    });
    expect(codeOf((await kit.call('get_author_context', { author_id: '@nobody_here' })).outcome)).toBe(
      'context_error',
    );
  });

  it('recommend a reply to a fitting post, and to skip one that was answered', async () => {
    await open();
    const id = await someonePosts('benno_ships', 'kelp, sea weed and boats', 50);
    const args = { tweet_id: id, campaign_objective: 'people with boats and kelp' };
    const before = await kit.data('recommend_engagement_action', args);
    expect(before).toMatchObject({ recommended_action: 'reply', blocked_by: null });
    await kit.data('x_reply_to_tweet', { text: 'Answered already', in_reply_to_id: id });
    const after = await kit.data('recommend_engagement_action', args);
    expect(after).toMatchObject({
      recommended_action: 'skip',
      confidence: 0.95,
      blocked_by: 'already_replied',
    });
    expect(codeOf((await kit.call('recommend_engagement_action', { tweet_id: '1' })).outcome)).toBe(
      'recommendation_error',
    );
  });

  it('learn from measured posts which topics to suggest', async () => {
    await open();
    const { posts, journal } = kit.services.growth;
    const scores = { boats: [9, 9, 9], tides: [1, 1, 1], rain: [5] } as const;
    for (const [topic, values] of Object.entries(scores)) {
      for (const [index, likes] of values.entries()) {
        const id = `${topic}-${index}`;
        await posts.reserve({
          id,
          kind: 'tweet',
          text: id,
          actor: 'test',
          at: kit.clock.now(),
          mentionsProduct: false,
        });
        await posts.posted(id, `9${index}`, kit.clock.now());
        await posts.measured(id, { impressions: 100, likes, replies: 0, retweets: 0 }, kit.clock.now());
        await kit.database.db
          .updateTable('x_posts' as never)
          .set({ topic } as never)
          .where('id' as never, '=', id as never)
          .execute();
      }
    }
    await journal.act(kit.clock.now(), 'noop', 'success', 'nothing');
    const { topics } = await kit.data('topic_performance_snapshot', {});
    expect(topics).toMatchObject([
      { topic: 'boats', posts: 3, recommendation: 'double_down' },
      { topic: 'rain', posts: 1, recommendation: 'experiment' },
      { topic: 'tides', recommendation: 'reduce' },
    ]);
    const ideas = await kit.data('suggest_topics', { count: 2 });
    expect(ideas).toMatchObject({
      count: 2,
      topics: [{ topic: 'boats', source: 'performance' }, { topic: 'rain' }],
    });
    expect(await kit.data('get_stats', {})).toMatchObject({ tweets: 7, tweet_performance: { measured: 7 } });
  });
});
