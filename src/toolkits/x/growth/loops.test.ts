import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import { openXKit, type XKit, type XKitOptions, type XProcess } from '../test/support/kit.ts';
import { startModel, type TestModel } from '../test/support/model.ts';
import { contentLoop, threadLoop } from './content-loop.ts';
import { discoveryLoop, targetLoop } from './discovery-loops.ts';
import { createEngine, type Engine } from './engine.ts';
import { LoopStop } from './loop.ts';
import { analyticsLoop, mentionsLoop } from './small-loops.ts';

const NEVER = new AbortController().signal;
const HOUR = 3_600_000;

describe('the growth loops', () => {
  let kit: XKit;
  let model: TestModel;
  let slept: number[];
  let written = 0;

  beforeEach(async () => {
    written = 0;
    // Short and always different, so that no text is taken for a repetition.
    model = await startModel((prompt) => {
      written += 1;
      const wanted = /thread of exactly (\d+)/.exec(prompt)?.[1];
      return wanted
        ? Array.from({ length: Number(wanted) }, (_none, index) => `Thought ${written}.${index}`).join(
            '\n---\n',
          )
        : `Thought number ${written}`;
    });
    slept = [];
  });
  afterEach(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });

  const BUSINESS = {
    product_name: 'Tidepool',
    product_keywords: ['kelp'],
    industry_topics: ['boats', 'tides'],
  };

  const open = async (options: XKitOptions = {}): Promise<Engine> => {
    kit = await openXKit({
      ...options,
      config: { business: BUSINESS, llm: model.settings, scoring: { threshold: 30 }, ...options.config },
    });
    return engineOf(kit);
  };

  const engineOf = (process: XProcess): Engine => ({
    ...createEngine(process.services, 'test'),
    sleep: async (ms) => {
      slept.push(ms);
    },
    random: () => 0.5,
  });

  const someonePosts = async (params: JsonObject): Promise<string> =>
    String((await kit.sandbox.control('post_as', params as never)).id);

  describe('discovery', () => {
    it('finds, scores and answers in Autopilot, each post once', async () => {
      const engine = await open();
      const id = await someonePosts({ username: 'benno_ships', text: 'Does anyone farm kelp?', likes: 500 });
      await discoveryLoop(engine).round(NEVER);
      expect(await kit.posted()).toEqual(['Thought number 1']);
      expect(await kit.services.growth.discovered.get(id)).toMatchObject({
        state: 'replied',
        source: 'search',
      });
      for (const _keyword of ['boats', 'tides', 'kelp']) await discoveryLoop(engine).round(NEVER);
      expect(await kit.posted()).toHaveLength(1);
      const { outcome } = await kit.call('get_recent_replies', {});
      expect(outcome).toMatchObject({
        data: { replies: [{ posted_by: 'system:discovery', in_reply_to_id: id }] },
      });
    });

    it('only finds in Composer mode', async () => {
      const engine = await open({ mode: 'composer' });
      await someonePosts({ username: 'benno_ships', text: 'Does anyone farm kelp?', likes: 500 });
      await discoveryLoop(engine).round(NEVER);
      expect(await kit.posted()).toEqual([]);
      expect(await kit.data('list_unreplied_tweets', {})).toMatchObject({ count: 1 });
      expect(await kit.kernel.approvals.count({ states: ['pending'] })).toBe(0);
    });

    it('takes one keyword after the other and remembers how far it read', async () => {
      const engine = await open();
      await someonePosts({ username: 'kofi_codes', text: 'kelp once' });
      for (let round = 0; round < 4; round += 1) {
        await discoveryLoop(engine).round(NEVER);
        kit.clock.advance(1000);
      }
      const calls = await kit.kernel.telemetry.calls({ tool: 'find_reply_opportunities', limit: 10 });
      const details = await Promise.all(calls.map(({ callId }) => kit.kernel.telemetry.call(callId)));
      const queries = details.map((call) => (call?.args as JsonObject | undefined)?.query).reverse();
      expect(queries).toEqual(['kelp', 'boats', 'tides', 'kelp'].map((word) => `${word} -is:retweet`));
      expect(details[0]?.args).toHaveProperty('since_id');
    });

    it('stops the round at a limit, keeps the post for later, and says until when', async () => {
      const engine = await open({ config: { limits: { max_replies_per_day: 1 } } });
      await someonePosts({ username: 'benno_ships', text: 'kelp one', likes: 500 });
      const second = await someonePosts({ username: 'kofi_codes', text: 'kelp two', likes: 500 });
      const first = await discoveryLoop(engine)
        .round(NEVER)
        .catch((error: unknown) => error);
      expect(first).toBeInstanceOf(LoopStop);
      expect(first).toMatchObject({
        code: 'policy_denied_hard_rule',
        until: new Date('2026-02-26T00:00:00Z'),
      });
      expect(await kit.posted()).toHaveLength(1);
      const left = await kit.services.growth.discovered.list({ minScore: 0, limit: 10, states: ['new'] });
      expect(left.map(({ tweet_id }) => tweet_id)).toContain(second);
    });

    it('leaves a reply that waits for approval in the queue and does not draft it again', async () => {
      const engine = await open({ policy: { require_approval_for: ['x_reply_to_tweet'] } });
      const id = await someonePosts({ username: 'benno_ships', text: 'kelp?', likes: 500 });
      await discoveryLoop(engine).round(NEVER);
      for (const _keyword of ['boats', 'tides', 'kelp']) await discoveryLoop(engine).round(NEVER);
      expect(await kit.services.growth.discovered.get(id)).toMatchObject({ state: 'queued' });
      expect(await kit.kernel.approvals.count({ states: ['pending'], toolkit: 'x' })).toBe(1);
      expect(model.requests).toHaveLength(1);
    });

    it('pauses between two replies', async () => {
      const limits = { min_action_delay_seconds: 45, max_action_delay_seconds: 180 };
      const engine = await open({ config: { limits } });
      await someonePosts({ username: 'benno_ships', text: 'kelp one', likes: 500 });
      await someonePosts({ username: 'kofi_codes', text: 'kelp two', likes: 500 });
      await discoveryLoop(engine).round(NEVER);
      expect(slept).toEqual([112_500]);
    });

    it('continues finding without a language model, and answers nothing', async () => {
      const engine = await open({ config: { llm: {} } });
      await someonePosts({ username: 'benno_ships', text: 'kelp?', likes: 500 });
      await discoveryLoop(engine).round(NEVER);
      expect(await kit.posted()).toEqual([]);
      expect(await kit.data('get_discovery_feed', { min_score: 0 })).toMatchObject({ count: 1 });
    });
  });

  it('answers mentions once and remembers the newest', async () => {
    const engine = await open();
    for (let round = 0; round < 4; round += 1) await mentionsLoop(engine).round(NEVER);
    const before = (await kit.posted()).length;
    await someonePosts({ username: 'lena_learns', text: '@adamarsh_dev how do you moor?' });
    await mentionsLoop(engine).round(NEVER);
    expect((await kit.posted()).length).toBe(before + 1);
    await mentionsLoop(engine).round(NEVER);
    expect((await kit.posted()).length).toBe(before + 1);
  });

  it('does not answer mentions that are older than a day', async () => {
    const engine = await open();
    const id = await someonePosts({ username: 'lena_learns', text: '@adamarsh_dev how do you moor?' });
    kit.clock.advance(25 * HOUR);
    for (let round = 0; round < 4; round += 1) await mentionsLoop(engine).round(NEVER);
    expect(await kit.services.growth.discovered.get(id)).toMatchObject({ state: 'skipped' });
    expect(await kit.posted()).toEqual([]);
  });

  it('answers new posts of target accounts, one per account, and not what was there before', async () => {
    const engine = await open({
      config: { targets: { accounts: ['@benno_ships'], max_target_replies_per_day: 1 } },
    });
    const loop = targetLoop(engine);
    await loop.round(NEVER);
    expect(await kit.posted()).toEqual([]);
    await someonePosts({ username: 'benno_ships', text: 'A new boat' });
    await loop.round(NEVER);
    expect(await kit.posted()).toHaveLength(1);
    await someonePosts({ username: 'benno_ships', text: 'A newer boat' });
    await loop.round(NEVER);
    expect(await kit.posted()).toHaveLength(1);
    expect(await kit.data('list_target_accounts', {})).toMatchObject({
      accounts: [{ username: 'benno_ships', replies_sent: 1 }],
    });
  });

  it('notifies open pages that it checked a target account and what it answered', async () => {
    const engine = await open({ config: { targets: { accounts: ['@benno_ships'] } } });
    const told = async () =>
      (await kit.kernel.events.since(0)).filter(({ topic }) => topic === 'x.changed').length;
    const loop = targetLoop(engine);
    await loop.round(NEVER);
    expect(await told()).toBe(1);
    await someonePosts({ username: 'benno_ships', text: 'A new boat' });
    await loop.round(NEVER);
    expect(await told()).toBe(3);
  });

  describe('content', () => {
    it('posts one original post per interval, about a configured topic, and records the topic', async () => {
      const engine = await open();
      const loop = contentLoop(engine);
      await loop.round(NEVER);
      expect(await kit.posted()).toEqual([]);
      kit.clock.advance(3 * HOUR);
      await loop.round(NEVER);
      await loop.round(NEVER);
      expect(await kit.posted()).toEqual(['Thought number 1']);
      const [post] = await kit.services.growth.posts.latest(['tweet'], 1);
      expect(['boats', 'tides']).toContain(post?.topic);
      expect(post).toMatchObject({ actor: 'system:content', style: expect.any(String) });
    });

    it('posts once in each preferred slot, near its time', async () => {
      const engine = await open({ config: { schedule: { preferred_times: ['13:00'] } } });
      const loop = contentLoop(engine);
      await loop.round(NEVER);
      expect(await kit.posted()).toEqual([]);
      kit.clock.advance(1.3 * HOUR);
      await loop.round(NEVER);
      await loop.round(NEVER);
      expect(await kit.posted()).toHaveLength(1);
      kit.clock.advance(24 * HOUR);
      await loop.round(NEVER);
      expect(await kit.posted()).toHaveLength(2);
    });

    it('leaves the time around a person’s scheduled post alone', async () => {
      const engine = await open();
      await contentLoop(engine).round(NEVER);
      kit.clock.advance(3 * HOUR);
      await kit.data('compose_tweet', { content: 'Mine', scheduled_for: '2026-02-25T15:20:00Z' });
      await contentLoop(engine).round(NEVER);
      expect(await kit.posted()).toEqual([]);
    });

    it('posts the weekly thread on its day', async () => {
      // 25 February 2026 is a Wednesday.
      const schedule = { thread_preferred_day: 'Wed', thread_preferred_time: '13:00' };
      const engine = await open({ config: { schedule } });
      await threadLoop(engine).round(NEVER);
      expect(await kit.posted()).toEqual([]);
      kit.clock.advance(1.3 * HOUR);
      await threadLoop(engine).round(NEVER);
      await threadLoop(engine).round(NEVER);
      expect(await kit.posted()).toHaveLength(7);
    });
  });

  describe('analytics', () => {
    it('keeps follower counts and measures each post once, a day later', async () => {
      const engine = await open();
      await kit.data('x_post_tweet', { text: 'To be measured' });
      await analyticsLoop(engine).round(NEVER);
      const [fresh] = await kit.services.growth.posts.latest(['tweet'], 1);
      expect(fresh?.measured_at).toBeNull();
      kit.clock.advance(24 * HOUR);
      await analyticsLoop(engine).round(NEVER);
      const [measured] = await kit.services.growth.posts.latest(['tweet'], 1);
      expect(measured?.measured_at).not.toBeNull();
      expect(measured?.score).toEqual(expect.any(Number));
      expect(await kit.data('get_follower_trend', { days: 7 })).toMatchObject({ count: 2, change: 0 });
    });

    it('raises an alert when many followers leave', async () => {
      const engine = await open();
      await kit.services.growth.journal.followers({
        at: kit.clock.now(),
        followers: 100_000,
        following: 1,
        posts: 1,
      });
      kit.clock.advance(HOUR);
      await analyticsLoop(engine).round(NEVER);
      expect(await kit.data('get_action_log', { action_type: 'follower_drop' })).toMatchObject({ count: 1 });
    });
  });
});
