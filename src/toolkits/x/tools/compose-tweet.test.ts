import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, openXKit, type XKit } from '../test/support/kit.ts';
import { startModel, type TestModel } from '../test/support/model.ts';

describe('compose_tweet', () => {
  let kit: XKit;
  let model: TestModel;
  beforeEach(async () => {
    model = await startModel(() => 'Written by the model');
    kit = await openXKit({ config: { llm: model.settings } });
  });
  afterEach(async () => {
    await kit[Symbol.asyncDispose]();
    await model.close();
  });

  it('keeps content as a draft and posts nothing', async () => {
    const draft = await kit.data('compose_tweet', { content: 'For later' });
    expect(draft).toMatchObject({ status: 'draft', content: 'For later', lengths: [9], scheduled_for: null });
    expect(await kit.posted()).toEqual([]);
  });

  it('writes about a topic with AI Assist, and keeps that as a draft', async () => {
    const draft = await kit.data('compose_tweet', { topic: 'tides', format: 'tip' });
    expect(draft).toMatchObject({
      status: 'draft',
      content: 'Written by the model',
      topic: 'tides',
      format: 'tip',
    });
    expect(model.requests[0]?.prompt).toContain('tides');
  });

  it('takes a topic next to content as what the text is about', async () => {
    expect(await kit.data('compose_tweet', { content: 'My own words', topic: 'tides' })).toMatchObject({
      content: 'My own words',
      topic: 'tides',
    });
    expect(model.requests).toEqual([]);
  });

  it('writes a thread about a topic in the format asked for', async () => {
    model.answerOnce(Array.from({ length: 6 }, (_, index) => `Thought ${index + 1}`).join('\n---\n'));
    const draft = await kit.data('compose_tweet', { topic: 'tides', format: 'tip', content_type: 'thread' });
    expect(draft).toMatchObject({ content_type: 'thread', format: 'tip' });
    expect(draft.content).toHaveLength(6);
    expect(model.requests[0]?.prompt).toContain('One practical tip');
  });

  it('takes a thread as parts between dashes or as a JSON array', async () => {
    const parts = ['First part', 'Second part'];
    for (const content of [parts.join('\n---\n'), JSON.stringify(parts)]) {
      expect(await kit.data('compose_tweet', { content, content_type: 'thread' })).toMatchObject({
        content: parts,
      });
    }
    expect(
      codeOf((await kit.call('compose_tweet', { content: 'One only', content_type: 'thread' })).outcome),
    ).toBe('validation_error');
  });

  it.each([
    [{}, 'validation_error'],
    [{ content: 'x'.repeat(300) }, 'tweet_too_long'],
    [{ content: 'Please check out my boat' }, 'validation_error'],
    [{ content: 'Too late', scheduled_for: '2020-01-01T00:00:00Z' }, 'validation_error'],
    [{ content: 'a', content_type: 'poem' }, 'invalid_input'],
    [{ topic: 'x', format: 'sonnet' }, 'invalid_input'],
  ])('refuses %j as %s', async (args, code) => {
    expect(codeOf((await kit.call('compose_tweet', args)).outcome)).toBe(code);
  });

  it('needs a model only for topics', async () => {
    const plain = await kit.second({ config: {} });
    expect(codeOf((await plain.call('compose_tweet', { topic: 'tides' })).outcome)).toBe(
      'llm_not_configured',
    );
    expect((await plain.call('compose_tweet', { content: 'No model needed' })).outcome.status).toBe('ok');
  });

  it('leaves no permit to decide when the agent that approved the scheduling may not give one', async () => {
    const agents = await kit.second({
      policy: { require_approval_for: ['compose_tweet'] },
      config: { approvals: { agents_may_approve: true } },
    });
    const [asker, decider] = ['asker', 'decider'].map((id) => ({ kind: 'agent', id }) as const);
    if (!asker || !decider) throw new Error('Two agents are needed.');
    const words = { content: 'Decided by an agent', scheduled_for: '2026-02-25T12:10:00Z' };
    const { outcome } = await agents.call('compose_tweet', words, { principal: asker });
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    const { approval } = await agents.kernel.approvals.approve(outcome.approvalId, decider);
    expect(approval.state).toBe('done');
    expect(await agents.kernel.approvals.list({ kind: 'permit' })).toMatchObject([{ state: 'withdrawn' }]);
  });
});
