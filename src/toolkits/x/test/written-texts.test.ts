import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../contract/json.ts';
import type { Outcome } from '../../../contract/outcome.ts';
import { verifyLog } from '../../../kernel/log/verify/verify.ts';
import { codeOf, dataOf, openXKit, type XKit, type XProcess } from './support/kit.ts';
import { startModel, type TestModel } from './support/model.ts';

const PERSON = { kind: 'person', id: 'ada' } as const;
const ASK = { require_approval_for: ['compose_tweet'] };

describe('a text that the model writes for compose_tweet', () => {
  let kit: XKit;
  let model: TestModel;
  beforeEach(async () => {
    let written = 0;
    model = await startModel(() => {
      written += 1;
      return `Text number ${written}`;
    });
    kit = await openXKit({ config: { llm: model.settings } });
  });
  afterEach(async () => {
    const { problems } = await verifyLog(kit.database, { artifacts: kit.kernel.artifacts, rows: true });
    await kit[Symbol.asyncDispose]();
    await model.close();
    expect(problems).toEqual([]);
  });

  const routed = (outcome: Outcome): number => {
    if (outcome.status !== 'routed') throw new Error(`was ${outcome.status}`);
    return outcome.approvalId;
  };
  const pending = async (id: number) => {
    const approval = await kit.kernel.approvals.get(id);
    if (!approval) throw new Error(`no approval ${id}`);
    return approval;
  };
  const drafts = async (process: XProcess = kit) =>
    (await process.services.growth.contentQueue.list(['draft', 'scheduled'], 10)).map(
      ({ content }) => content,
    );

  it.each([
    ['where the tool requires approval', { policy: ASK }],
    ['in composer mode', { mode: 'composer' as const }],
  ])('is what the person is asked about and what is then saved, %s', async (_name, options) => {
    const process = await kit.second(options);
    const { outcome } = await process.call('compose_tweet', { topic: 'tides', format: 'tip' });
    const approval = await pending(routed(outcome));
    expect(approval.args).toMatchObject({ topic: 'tides', format: 'tip', content: 'Text number 1' });
    expect(approval.gist).toContain('Text number 1');
    expect(await drafts()).toEqual([]);
    const { outcome: done } = await process.kernel.approvals.approve(approval.id, PERSON);
    expect(done && dataOf(done)).toMatchObject({ content: 'Text number 1', topic: 'tides', format: 'tip' });
    expect(await drafts()).toEqual(['Text number 1']);
    expect(model.requests).toHaveLength(1);
  });

  it('is a complete thread before the person is asked', async () => {
    model.answerOnce(Array.from({ length: 6 }, (_, index) => `Thought ${index + 1}`).join('\n---\n'));
    const process = await kit.second({ policy: ASK });
    const { outcome } = await process.call('compose_tweet', { topic: 'tides', content_type: 'thread' });
    const { args, id } = await pending(routed(outcome));
    expect(String(args.content).split('\n---\n')).toHaveLength(6);
    const { outcome: done } = await process.kernel.approvals.approve(id, PERSON);
    expect(done && dataOf(done).content).toEqual(Array.from({ length: 6 }, (_, n) => `Thought ${n + 1}`));
  });

  it('may be edited by the person, and the edited text is saved', async () => {
    const process = await kit.second({ policy: ASK });
    const id = routed((await process.call('compose_tweet', { topic: 'tides' })).outcome);
    const { args } = await pending(id);
    await process.kernel.approvals.edit(id, PERSON, { ...args, content: 'In my words' });
    await process.kernel.approvals.approve(id, PERSON);
    expect(await drafts()).toEqual(['In my words']);
    const { content: _content, ...open } = args;
    const second = routed((await process.call('compose_tweet', { topic: 'tides' })).outcome);
    await expect(process.kernel.approvals.edit(second, PERSON, open)).rejects.toMatchObject({
      code: 'validation_error',
    });
  });

  it('is permitted for its time when the person approved it, and posted as it was approved', async () => {
    const process = await kit.second({ mode: 'composer' });
    const scheduled_for = '2026-02-25T12:10:00Z';
    const id = routed((await process.call('compose_tweet', { topic: 'tides', scheduled_for })).outcome);
    await process.kernel.approvals.approve(id, PERSON);
    expect(await process.kernel.approvals.list({ kind: 'permit' })).toMatchObject([
      { state: 'approved', args: { text: 'Text number 1' } },
    ]);
  });

  it('is not permitted for its time by a person who only named the topic', async () => {
    const process = await kit.second({ policy: { require_approval_for: ['x_post_tweet'] } });
    const args = { topic: 'tides', scheduled_for: '2026-02-25T12:10:00Z' };
    await process.data('compose_tweet', args, { principal: PERSON });
    expect(await process.kernel.approvals.count({ kind: 'permit', states: ['approved'] })).toBe(0);
  });

  it('is not written for a call that policy denies or only shows', async () => {
    const blocked = await kit.second({ policy: { blocked_tools: ['compose_tweet'] } });
    expect(codeOf((await blocked.call('compose_tweet', { topic: 'tides' })).outcome)).toBe(
      'policy_denied_blocked',
    );
    const dry = await kit.second({ policy: { dry_run_mutations: true } });
    expect((await dry.call('compose_tweet', { topic: 'tides' })).outcome.status).toBe('dry_run');
    expect(model.requests).toEqual([]);
  });

  it('is not written while changes are paused', async () => {
    await kit.kernel.setPaused(true, PERSON);
    expect(codeOf((await kit.call('compose_tweet', { topic: 'tides' })).outcome)).toBe('paused');
    expect(model.requests).toEqual([]);
  });

  it('fails the call, and asks no one, when the model fails', async () => {
    model.fail(400);
    const process = await kit.second({ policy: ASK });
    expect(codeOf((await process.call('compose_tweet', { topic: 'tides' })).outcome)).toBe('llm_error');
    expect(await process.kernel.approvals.count({})).toBe(0);
  });

  it('is written once for a call that is repeated under its key, before and after the decision', async () => {
    const process = await kit.second({ policy: ASK });
    const again = (args: JsonObject = { topic: 'tides' }) =>
      process.call('compose_tweet', args, { idempotencyKey: 'k1' });
    const id = routed((await again()).outcome);
    expect(routed((await again()).outcome)).toBe(id);
    await process.kernel.approvals.approve(id, PERSON);
    expect((await again()).outcome).toMatchObject({
      status: 'ok',
      replayed: true,
      data: { content: 'Text number 1' },
    });
    expect(codeOf((await again({ topic: 'dunes' })).outcome)).toBe('idempotency_conflict');
    expect(model.requests).toHaveLength(1);
    expect(await drafts()).toEqual(['Text number 1']);
  });

  it('is written once for a call that needs no approval and is repeated under its key', async () => {
    const again = () => kit.call('compose_tweet', { topic: 'tides' }, { idempotencyKey: 'k1' });
    expect((await again()).outcome).toMatchObject({ status: 'ok', replayed: false });
    expect((await again()).outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(model.requests).toHaveLength(1);
  });

  it('cannot be permitted before it exists', async () => {
    const permit = (args: JsonObject) =>
      kit.kernel.approvals.propose({
        tool: 'compose_tweet',
        args,
        kind: 'permit',
        requester: { kind: 'agent', id: 'test' },
        reason: 'please',
      });
    await expect(permit({ topic: 'tides' })).rejects.toMatchObject({ code: 'validation_error' });
    expect((await permit({ topic: 'tides', content: 'Known words' })).state).toBe('pending');
  });

  it('leaves in the evidence what was sent and what was decided', async () => {
    const { callId } = await kit.call('compose_tweet', { topic: 'tides' });
    await kit.kernel.flush();
    const rows = await kit.database.db
      .selectFrom('audit_payloads')
      .select(['kind', 'body'])
      .where('call_id', '=', callId)
      .execute();
    expect(JSON.parse(rows.find(({ kind }) => kind === 'args')?.body ?? '{}')).toMatchObject({
      topic: 'tides',
      content: 'Text number 1',
    });
    const entries = await kit.database.db
      .selectFrom('audit_log')
      .select('body')
      .where('call_id', '=', callId)
      .execute();
    expect(entries.some(({ body }) => body.includes('"asked_digest":"'))).toBe(true);
  });
});
