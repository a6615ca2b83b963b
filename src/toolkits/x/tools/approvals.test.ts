import { afterEach, describe, expect, it, vi } from 'vitest';
import { AGENT, OTHER, PERSON } from '../../../../test/support/kernel.ts';
import { DISCOVERY } from '../services.ts';
import { codeOf, openXKit, type XKit, type XKitOptions } from '../test/support/kit.ts';

describe('the approval tools', () => {
  let kit: XKit;
  const open = async (options: XKitOptions = {}): Promise<void> => {
    kit = await openXKit({ policy: { require_approval_for: ['x_post_tweet'] }, ...options });
  };
  afterEach(() => kit[Symbol.asyncDispose]());

  const queue = async (text: string): Promise<number> => {
    const { outcome } = await kit.call('x_post_tweet', { text });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    return outcome.approvalId;
  };
  const person = { principal: PERSON };

  it('list what waits with the whole call, oldest first, and count it', async () => {
    await open();
    const [first, second] = [await queue('Number one'), await queue('Number two')];
    const { items, pending_count } = await kit.data('list_pending_approvals', { limit: 1 });
    expect(pending_count).toBe(2);
    expect(items).toMatchObject([
      {
        id: first,
        action_type: 'x_post_tweet',
        status: 'pending',
        params: { text: 'Number one' },
        summary: 'Post to @adamarsh_dev (sandbox): Number one',
        requested_by: 'agent:local',
      },
    ]);
    expect(second).toBeGreaterThan(first);
    expect(await kit.data('get_pending_count', {})).toEqual({ pending_count: 2 });
  });

  it('approve by number or uuid, execute, and report the result', async () => {
    await open();
    const id = await queue('Say the word');
    const done = await kit.data('approve_item', { id }, person);
    expect(done).toMatchObject({ id, executed: true, status: 'done', result: { text: 'Say the word' } });
    const other = await kit.kernel.approvals.get(await queue('By uuid'));
    expect(await kit.data('approve_item', { id: other?.uuid ?? '' }, person)).toMatchObject({
      executed: true,
    });
    expect(await kit.posted()).toEqual(['Say the word', 'By uuid']);
  });

  it('fail with the fault of the execution when X refuses, and keep that on the item', async () => {
    await open();
    const id = await queue('Refused by X');
    await kit.fault({ kind: 'bad_request', endpoint: 'create_tweet' });
    const { outcome } = await kit.call('approve_item', { id }, person);
    expect(outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'x_api_error', retryable: false, detail: { approval_id: id, status: 'failed' } },
    });
    expect(await kit.kernel.approvals.get(id)).toMatchObject({ state: 'failed' });
  });

  it('reject an item for good', async () => {
    await open();
    const id = await queue('Not this one');
    expect(await kit.data('reject_item', { id }, person)).toMatchObject({ id, status: 'rejected' });
    expect(codeOf((await kit.call('approve_item', { id }, person)).outcome)).toBe('approval_state');
    expect(await kit.posted()).toEqual([]);
  });

  it('know neither unknown items nor those of another toolkit', async () => {
    await open();
    expect(codeOf((await kit.call('approve_item', { id: 999 }, person)).outcome)).toBe('not_found');
    expect(codeOf((await kit.call('reject_item', { id: 'no-such-uuid' }, person)).outcome)).toBe('not_found');
  });

  it('refuse an agent that would decide for a person', async () => {
    await open();
    const id = await queue('My own idea');
    for (const principal of [AGENT, OTHER]) {
      const { outcome } = await kit.call('approve_item', { id }, { principal });
      expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'policy_denied_hard_rule' } });
    }
    expect(await kit.posted()).toEqual([]);
  });

  it('approve all up to the batch size, and go on past an item that fails', async () => {
    await open({ config: { limits: { max_batch_approve: 3 } } });
    for (const text of ['One of them', 'Two of them', 'Three of them', 'Four of them']) await queue(text);
    await kit.fault({ kind: 'forbidden', endpoint: 'create_tweet', skip: 1 });
    const result = await kit.data('approve_all', {}, person);
    expect(result).toMatchObject({ approved: 2, failed: 1, max_batch: 3 });
    expect(result.results).toMatchObject([
      { executed: true },
      { error: { code: 'x_forbidden' } },
      { executed: true },
    ]);
    expect(await kit.posted()).toEqual(['One of them', 'Three of them']);
    expect(await kit.data('get_pending_count', {})).toEqual({ pending_count: 1 });
  });

  it('say that nothing worked when nothing did, and are content when nothing waits', async () => {
    await open();
    expect(await kit.data('approve_all', {}, person)).toMatchObject({ approved: 0, failed: 0 });
    await queue('Refused by X');
    await kit.fault({ kind: 'forbidden', endpoint: 'create_tweet' });
    expect(codeOf((await kit.call('approve_all', {}, person)).outcome)).toBe('x_forbidden');
  });

  it('answer item by item when nothing worked for certain and one item is in doubt', async () => {
    await open();
    for (const text of ['Refused by X', 'Cut off on the way back']) await queue(text);
    await kit.fault({ kind: 'rate_limited', endpoint: 'create_tweet', times: 1 });
    await kit.fault({ kind: 'drop_after', endpoint: 'create_tweet', times: 1 });
    await kit.fault({ kind: 'unavailable', endpoint: 'user_tweets', times: 50 });
    expect(await kit.data('approve_all', {}, person)).toMatchObject({
      approved: 0,
      failed: 2,
      results: [{ error: { code: 'x_rate_limited' } }, { status: 'indeterminate' }],
    });
  });

  it('run the edited call when a person edits first', async () => {
    await open();
    const id = await queue('With a tpyo');
    await kit.kernel.approvals.edit(id, PERSON, { text: 'With a typo' });
    await kit.data('approve_item', { id }, person);
    expect(await kit.posted()).toEqual(['With a typo']);
  });
});

describe('the record of changes', () => {
  let kit: XKit;
  afterEach(() => kit[Symbol.asyncDispose]());

  it('lists changes with status and how to undo each, and describes one in detail', async () => {
    kit = await openXKit();
    const post = await kit.sandbox.control('post_as', { username: 'benno_ships', text: 'Like me' });
    const tweet_id = String(post.id);
    const liked = await kit.call('x_like_tweet', { tweet_id });
    kit.clock.advance(1000);
    const posted = await kit.call('x_post_tweet', { text: 'A post to undo' });
    kit.clock.advance(1000);
    const failed = await kit.call('x_post_tweet', { text: 'x'.repeat(300) });
    kit.clock.advance(1000);
    const key = { idempotencyKey: 'once' };
    const first = await kit.call('x_bookmark_tweet', { tweet_id }, key);
    kit.clock.advance(1000);
    const replay = await kit.call('x_bookmark_tweet', { tweet_id }, key);
    const { mutations } = await kit.data('get_recent_mutations', {});
    expect(mutations).toMatchObject([
      { correlation_id: replay.callId, status: 'duplicate' },
      { correlation_id: first.callId, status: 'success' },
      {
        correlation_id: failed.callId,
        status: 'failure',
        error_code: 'tweet_too_long',
        rollback: { reversible: false },
      },
      {
        correlation_id: posted.callId,
        rollback: { undo_tool: 'x_delete_tweet', undo_params: { tweet_id: expect.any(String) } },
      },
      {
        correlation_id: liked.callId,
        status: 'success',
        rollback: { reversible: true, undo_tool: 'x_unlike_tweet', undo_params: { tweet_id } },
      },
    ]);
    expect(await kit.data('get_recent_mutations', { status: 'duplicate' })).toMatchObject({ count: 1 });
    expect(await kit.data('get_recent_mutations', { tool_name: 'x_like_tweet' })).toMatchObject({ count: 1 });
    const detail = await kit.data('get_mutation_detail', { correlation_id: liked.callId });
    expect(detail).toMatchObject({
      tool_name: 'x_like_tweet',
      params: { tweet_id },
      result: { liked: true },
      evidence_hash: expect.any(String),
      completed_at: expect.any(String),
    });
  });

  it('knows no read and no stranger’s id', async () => {
    kit = await openXKit();
    const read = await kit.call('get_mode', {});
    await kit.kernel.flush();
    for (const correlation_id of [read.callId, 'nothing']) {
      expect(codeOf((await kit.call('get_mutation_detail', { correlation_id })).outcome)).toBe(
        'invalid_input',
      );
    }
  });

  it('cuts long summaries between characters', async () => {
    kit = await openXKit();
    const { callId } = await kit.call('x_post_thread', {
      tweets: Array.from({ length: 9 }, (_n, i) => `${i} ${'🎉'.repeat(130)}`),
    });
    const { mutations } = await kit.data('get_recent_mutations', {});
    const [{ params_summary = '' } = {}] = mutations as { params_summary: string }[];
    expect([...params_summary]).toHaveLength(500);
    expect(params_summary.isWellFormed()).toBe(true);
    expect(callId).toBeTruthy();
  });
});

describe('an agent', () => {
  const [alice, bob] = ['alice', 'bob'].map((id) => ({ principal: { kind: 'agent', id } as const }));
  const loop = { principal: DISCOVERY };
  const asks = { require_approval_for: ['x_post_tweet'] };
  const textsFor = async (kit: XKit, more?: object): Promise<unknown[]> => {
    const { items, pending_count } = await kit.data('list_pending_approvals', {}, more);
    const texts = (items as { params: { text: string } }[]).map(({ params }) => params.text);
    expect(pending_count).toBe(texts.length);
    expect(await kit.data('get_pending_count', {}, more)).toEqual({ pending_count });
    expect(await kit.data('get_stats', {}, more)).toMatchObject({ pending_approvals: pending_count });
    return texts;
  };
  const queueAll = async (kit: XKit): Promise<void> => {
    await kit.call('x_post_tweet', { text: 'of alice' }, alice);
    await kit.call('x_post_tweet', { text: 'of bob' }, bob);
    await kit.call('x_post_tweet', { text: 'of local' });
    await kit.call('x_post_tweet', { text: 'of a loop' }, loop);
  };

  it('is shown of the queue what it asked for itself; the nameless one also what the loops ask', async () => {
    await using kit = await openXKit({ policy: asks });
    await queueAll(kit);
    expect(await textsFor(kit, alice)).toEqual(['of alice']);
    expect(await textsFor(kit, bob)).toEqual(['of bob']);
    expect(await textsFor(kit)).toEqual(['of local', 'of a loop']);
    for (const principal of [PERSON, DISCOVERY])
      expect(await textsFor(kit, { principal })).toEqual(['of alice', 'of bob', 'of local', 'of a loop']);
  });

  it('is shown what it may decide too, where agents may approve', async () => {
    await using kit = await openXKit({
      policy: asks,
      config: { approvals: { agents_may_approve: true } },
    });
    await queueAll(kit);
    const list = vi.spyOn(kit.kernel.queue, 'list');
    expect(await kit.data('get_pending_count', {}, alice)).toEqual({ pending_count: 3 });
    expect(list).not.toHaveBeenCalled();
    expect(await textsFor(kit, alice)).toEqual(['of alice', 'of bob', 'of a loop']);
    expect(await textsFor(kit)).toEqual(['of local', 'of a loop']);
    const { items } = await kit.data('list_pending_approvals', {}, alice);
    const [, ofBob] = items as { id: number }[];
    expect(await kit.data('approve_item', { id: ofBob?.id ?? 0 }, alice)).toMatchObject({ executed: true });
  });

  it('is shown its own changes, and another’s like one that never was', async () => {
    await using kit = await openXKit();
    const drafts = new Map<string, string>();
    for (const [name, more] of Object.entries({ alice, bob, local: {}, loop })) {
      const { callId } = await kit.call('compose_tweet', { content: `Draft of ${name}` }, more);
      drafts.set(name, callId);
      kit.clock.advance(1000);
    }
    const seen = async (more?: object) => {
      const { mutations } = await kit.data('get_recent_mutations', {}, more);
      return (mutations as { correlation_id: string }[]).map(({ correlation_id }) => correlation_id);
    };
    const ids = (...names: string[]) => names.map((name) => drafts.get(name));
    expect(await seen(alice)).toEqual(ids('alice'));
    expect(await seen()).toEqual(ids('loop', 'local'));
    expect(await seen({ principal: PERSON })).toEqual(ids('loop', 'local', 'bob', 'alice'));
    const detail = (name: string, more?: object) =>
      kit.call('get_mutation_detail', { correlation_id: drafts.get(name) ?? '' }, more);
    expect((await detail('alice', alice)).outcome).toMatchObject({ status: 'ok' });
    expect((await detail('alice', { principal: PERSON })).outcome).toMatchObject({ status: 'ok' });
    expect((await detail('loop')).outcome).toMatchObject({ status: 'ok' });
    const unknown = await kit.call('get_mutation_detail', { correlation_id: 'nothing' }, bob);
    for (const more of [bob, {}]) {
      expect(codeOf((await detail('alice', more)).outcome)).toBe(codeOf(unknown.outcome));
    }
  });
});
