import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERSON } from '../../../../test/support/kernel.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { openXKit, type XKit, type XKitOptions, type XProcess } from '../test/support/kit.ts';
import { startModel, type TestModel } from '../test/support/model.ts';
import { createEngine, type Engine } from './engine.ts';
import { postDue } from './scheduler.ts';

const NEVER = new AbortController().signal;
const MINUTE = 60_000;

describe('the scheduler', () => {
  let kit: XKit;
  const open = async (options: XKitOptions = {}): Promise<void> => {
    kit = await openXKit(options);
  };
  afterEach(() => kit[Symbol.asyncDispose]());

  const daemon = (process: XProcess = kit, holder = 'one'): Engine => createEngine(process.services, holder);
  const item = async (id: unknown) => kit.services.growth.contentQueue.get(Number(id));
  /** Noon UTC is when the clock of the tests starts. */
  const schedule = (args: JsonObject = {}, who = {}) =>
    kit.data(
      'compose_tweet',
      { content: 'Scheduled words', scheduled_for: '2026-02-25T12:10:00Z', ...args },
      who,
    );

  it('posts an item when its time has come, not before, and once', async () => {
    await open();
    const { id } = await schedule();
    kit.clock.advance(9 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual([]);
    kit.clock.advance(MINUTE);
    await postDue(daemon(), NEVER);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Scheduled words']);
    expect(await item(id)).toMatchObject({ state: 'posted', tweet_id: expect.any(String) });
  });

  it('reads a time without a zone in the configured one', async () => {
    await open({ config: { schedule: { timezone: 'America/New_York' } } });
    const { scheduled_for } = await schedule({ scheduled_for: '2026-02-25T09:30' });
    expect(scheduled_for).toBe('2026-02-25T14:30:00.000Z');
  });

  it('posts in Composer mode too, by the approval of the scheduling, and asks no one again', async () => {
    await open({ mode: 'composer' });
    const { outcome } = await kit.call('compose_tweet', {
      content: 'Approved for later',
      scheduled_for: '2026-02-25T12:10:00Z',
    });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Approved for later']);
    expect(await kit.kernel.approvals.count({ states: ['pending'] })).toBe(0);
  });

  it('asks in Composer mode when the text was not approved, and follows what the person decides', async () => {
    await open();
    const { id } = await schedule();
    const composer = await kit.second({ mode: 'composer' });
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(composer), NEVER);
    expect(await kit.posted()).toEqual([]);
    const waiting = await item(id);
    expect(waiting).toMatchObject({ state: 'waiting_approval', approval_id: expect.any(Number) });
    await composer.kernel.approvals.approve(waiting?.approval_id ?? 0, PERSON);
    await postDue(daemon(composer), NEVER);
    expect(await item(id)).toMatchObject({ state: 'posted', tweet_id: expect.any(String) });
    expect(await kit.posted()).toEqual(['Scheduled words']);
  });

  it('takes an item off the list when the person says no', async () => {
    await open();
    const { id } = await schedule();
    const composer = await kit.second({ mode: 'composer' });
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(composer), NEVER);
    await composer.kernel.approvals.reject((await item(id))?.approval_id ?? 0, PERSON);
    await postDue(daemon(composer), NEVER);
    expect(await item(id)).toMatchObject({ state: 'cancelled' });
  });

  it('posts once with two daemons that look at the same moment', async () => {
    await open();
    for (const text of ['One of three things', 'Another of them', 'The third and last'])
      await schedule({ content: text });
    const other = await kit.second();
    kit.clock.advance(10 * MINUTE);
    await Promise.all([postDue(daemon(kit, 'one'), NEVER), postDue(daemon(other, 'two'), NEVER)]);
    expect((await kit.posted()).sort()).toEqual([
      'Another of them',
      'One of three things',
      'The third and last',
    ]);
  });

  it('takes over what a killed daemon had claimed but not posted', async () => {
    await open();
    const { id } = await schedule();
    kit.clock.advance(10 * MINUTE);
    const claimed = await item(id);
    if (!claimed) throw new Error('the item is gone');
    expect(await kit.services.growth.contentQueue.claim(claimed, 'killed', kit.clock.now())).toBe(true);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual([]);
    kit.clock.advance(MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Scheduled words']);
  });

  it('does not post again what a killed daemon had posted but not written down', async () => {
    await open();
    const { id } = await schedule();
    kit.clock.advance(10 * MINUTE);
    const due = await item(id);
    if (!due) throw new Error('the item is gone');
    await kit.services.growth.contentQueue.claim(due, 'killed', kit.clock.now());
    await kit.services.kernel.invoke(
      'x_post_tweet',
      { text: 'Scheduled words' },
      { kind: 'system', id: 'scheduler' },
      { idempotencyKey: `content-${due.id}-${due.updated_at}` },
    );
    kit.clock.advance(MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Scheduled words']);
    expect(await item(id)).toMatchObject({ state: 'posted', tweet_id: expect.any(String) });
  });

  it('posts a scheduled thread whole, and continues where it broke', async () => {
    await open();
    const { id } = await schedule({
      content: 'Part one\n---\nPart two\n---\nPart three',
      content_type: 'thread',
    });
    await kit.fault({ kind: 'drop_before', endpoint: 'create_tweet', skip: 1 });
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await item(id)).toMatchObject({ state: 'scheduled', error_code: 'thread_partial_failure' });
    kit.clock.advance(5 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Part one', 'Part two', 'Part three']);
    expect(await item(id)).toMatchObject({ state: 'posted', error: null });
  });

  it('waits until a limit lifts instead of dropping the post', async () => {
    await open({ config: { limits: { max_tweets_per_day: 1 } } });
    await kit.data('x_post_tweet', { text: 'The one of today' });
    const { id } = await schedule();
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await item(id)).toMatchObject({
      state: 'scheduled',
      error_code: 'policy_denied_hard_rule',
      next_try_at: '2026-02-26T00:00:00.000Z',
    });
    kit.clock.advance(13 * 60 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['The one of today', 'Scheduled words']);
  });

  it('gives up on what X will never take, and says why', async () => {
    await open();
    const { id } = await schedule();
    await kit.fault({ kind: 'forbidden', endpoint: 'create_tweet' });
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await item(id)).toMatchObject({ state: 'failed', error_code: 'x_forbidden' });
  });

  it('lets a person edit, move and cancel an item that is not out yet', async () => {
    await open();
    const { id } = await schedule();
    const edited = await kit.data(
      'update_draft',
      { id: Number(id), content: 'Better words', scheduled_for: '2026-02-25T12:20:00Z' },
      { principal: PERSON },
    );
    expect(edited).toMatchObject({ content: 'Better words', scheduled_for: '2026-02-25T12:20:00.000Z' });
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual([]);
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Better words']);
    const late = await kit.call('cancel_draft', { id: Number(id) }, { principal: PERSON });
    expect(late.outcome).toMatchObject({ fault: { code: 'validation_error', detail: { state: 'posted' } } });
  });

  it.each(['rate_limited', 'drop_before', 'unavailable'])(
    'needs no second approval when X failed in passing (%s) on what a person approved',
    async (kind) => {
      await open({ mode: 'composer' });
      const words = { content: 'Approved once', scheduled_for: '2026-02-25T12:10:00Z' };
      const { outcome } = await kit.call('compose_tweet', words);
      if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
      await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
      await kit.fault({ kind, endpoint: 'create_tweet' });
      kit.clock.advance(10 * MINUTE);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual([]);
      kit.clock.advance(20 * MINUTE);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual(['Approved once']);
      expect(await kit.kernel.approvals.count({ states: ['pending'] })).toBe(0);
    },
  );

  it('keeps no permit for words a person cancelled: the same words ask again', async () => {
    await open({ mode: 'composer' });
    const words = { content: 'Second thoughts', scheduled_for: '2026-02-25T12:10:00Z' };
    const { outcome } = await kit.call('compose_tweet', words);
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    await kit.kernel.approvals.approve(outcome.approvalId, PERSON);
    const [first] = await kit.services.growth.contentQueue.list(['scheduled'], 1);
    await kit.data('cancel_draft', { id: first?.id ?? 0 }, { principal: PERSON });
    const autopilot = await kit.second({ mode: 'autopilot' });
    await autopilot.data('compose_tweet', words);
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual([]);
    expect(await kit.kernel.approvals.count({ states: ['pending'] })).toBe(1);
  });

  it('withdraws a permit that the policy did not need', async () => {
    await open();
    await schedule({}, { principal: PERSON });
    expect(await kit.kernel.approvals.count({ kind: 'permit', states: ['approved'] })).toBe(1);
    kit.clock.advance(10 * MINUTE);
    await postDue(daemon(), NEVER);
    expect(await kit.posted()).toEqual(['Scheduled words']);
    expect(await kit.kernel.approvals.count({ kind: 'permit', states: ['approved', 'pending'] })).toBe(0);
  });

  describe('with a text the model wrote', () => {
    let model: TestModel;
    let id: unknown;
    const asked = async () => {
      const [permit] = await kit.kernel.approvals.list({ kind: 'permit', states: ['pending'] });
      if (!permit) throw new Error('no one was asked');
      return permit;
    };
    beforeEach(async () => {
      model = await startModel(() => 'Written by the model');
      await open({ config: { llm: model.settings }, policy: { require_approval_for: ['post_tweet'] } });
      const made = await kit.data('compose_tweet', { topic: 'tides', scheduled_for: '2026-02-25T12:10:00Z' });
      id = made.id;
    });
    afterEach(() => model.close());

    it('asks as soon as the text exists, and posts it once at its time', async () => {
      expect((await asked()).args).toEqual({ text: 'Written by the model' });
      await kit.kernel.approvals.approve((await asked()).id, PERSON);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual([]);
      kit.clock.advance(10 * MINUTE);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual(['Written by the model']);
    });

    it('waits when no one has answered at its time, and asks no second time', async () => {
      kit.clock.advance(10 * MINUTE);
      await postDue(daemon(), NEVER);
      expect(await item(id)).toMatchObject({ state: 'waiting_approval' });
      expect(await kit.kernel.approvals.count({ states: ['pending'] })).toBe(1);
      await kit.kernel.approvals.approve((await asked()).id, PERSON);
      kit.clock.advance(MINUTE);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual(['Written by the model']);
    });

    it('never posts what a person rejected in advance', async () => {
      await kit.kernel.approvals.reject((await asked()).id, PERSON);
      kit.clock.advance(10 * MINUTE);
      await postDue(daemon(), NEVER);
      expect(await kit.posted()).toEqual([]);
      expect(await item(id)).toMatchObject({ state: 'cancelled' });
    });
  });
});
