import type { Updateable } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval } from '../../contract/ports.ts';
import { LOCAL_AGENT, type Principal } from '../../contract/principal.ts';
import type { Schema } from '../../contract/schema.ts';
import { digest } from '../../lib/canonical.ts';
import { toolNamed } from '../call/steps.fixture.ts';
import type { ApprovalsTable } from '../store/tables.ts';
import { ADA, AT, approvalOf, minutesLater, openQueue, type TestQueue } from './approvals.fixture.ts';
import { ForgedApproval } from './genuine.ts';
import { findPresentation } from './presentations.ts';
import { type AskedCall, isExpired, requireComplete } from './queue.ts';

const OTHER: Principal = { kind: 'agent', id: 'other' };
const DECISION = { reason: 'the rule asks', rule: 'ask-writes' };

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore('sqlite');
});
afterAll(() => store.close());
beforeEach(() => store.database.db.deleteFrom('approvals').execute());

const callOf = ({ bound }: TestQueue, more: Partial<AskedCall> = {}): AskedCall => {
  const { args = { text: 'hello' } } = more;
  const own = digest(bound.tool.name, args);
  return {
    bound,
    args,
    digest: own,
    askedDigest: own,
    principal: LOCAL_AGENT,
    reason: undefined,
    runId: undefined,
    replayKey: undefined,
    ...more,
  };
};
const route = async (test: TestQueue, more: Partial<AskedCall> = {}): Promise<Approval> => {
  const outcome = await test.queue.route(callOf(test, more), DECISION);
  if (outcome.status !== 'routed') throw new Error(outcome.status);
  const approval = await test.queue.get(outcome.approvalId);
  if (!approval) throw new Error('It was not stored.');
  return approval;
};
const set = ({ id }: Approval, columns: Updateable<ApprovalsTable>) =>
  store.database.db.updateTable('approvals').set(columns).where('id', '=', id).execute();

describe('a call that needs an approval', () => {
  it('is stored as it was made, and people are notified', async () => {
    const test = openQueue(store.database);
    const call = callOf(test, { reason: 'for Ada', runId: 'run-1', replayKey: 'k', askedDigest: 'asked' });
    const outcome = await test.queue.route(call, DECISION);
    const [approval] = await test.queue.list({});
    expect(outcome).toEqual({
      status: 'routed',
      approvalId: approval?.id,
      approvalUuid: approval?.uuid,
      reason: 'the rule asks',
      rule: 'ask-writes',
    });
    expect(approval).toMatchObject({
      kind: 'call',
      state: 'pending',
      tool: 'ledger_write',
      toolkit: 'ledger',
      effect: 'change',
      args: { text: 'hello' },
      digest: call.digest,
      binding: undefined,
      requester: LOCAL_AGENT,
      reason: 'for Ada',
      rule: 'ask-writes',
      context: { replay_key: 'k', asked_digest: 'asked' },
      runId: 'run-1',
      createdAt: AT,
      expiresAt: minutesLater(60),
      version: 1,
    });
    expect(test.notified).toEqual([approval]);
    expect(await findPresentation(store.database.db, approval?.id ?? 0)).toMatchObject({
      said: 'for Ada',
      asked: 'the rule asks',
    });
  });

  it('has the words of the rule where the requester gave none, and no context of its own', async () => {
    const approval = await route(openQueue(store.database));
    expect(approval).toMatchObject({ reason: 'the rule asks', runId: undefined });
    expect(approval.context).toEqual({});
    expect(await findPresentation(store.database.db, approval.id)).toMatchObject({ said: null });
  });

  it('gets the row that is pending for an identical call', async () => {
    const test = openQueue(store.database);
    const { id } = await route(test);
    expect((await route(test)).id).toBe(id);
    expect(test.notified).toHaveLength(1);
    const others = [
      await route(test, { principal: OTHER }),
      await route(test, { args: { text: 'another' } }),
      await route(test, { replayKey: 'k' }),
    ];
    expect(new Set([id, ...others.map((one) => one.id)]).size).toBe(4);
  });

  it.each<[string, Updateable<ApprovalsTable>]>([
    ['is decided', { state: 'approved' }],
    ['runs', { state: 'executing' }],
    ['has expired', { expires_at: AT.toISOString() }],
    ['is a permit', { kind: 'permit' }],
  ])('gets its own row when an identical one %s', async (_what, columns) => {
    const test = openQueue(store.database);
    const first = await route(test);
    await set(first, columns);
    expect((await route(test)).id).not.toBe(first.id);
  });

  it('gets the row of its key until that call has ended', async () => {
    const test = openQueue(store.database);
    const keyed = { replayKey: 'k' };
    const first = await route(test, keyed);
    for (const state of ['pending', 'approved', 'executing']) {
      await set(first, { state });
      expect((await route(test, keyed)).id).toBe(first.id);
    }
    expect((await route(test, { replayKey: 'another' })).id).not.toBe(first.id);
    await set(first, { state: 'done' });
    expect((await route(test, keyed)).id).not.toBe(first.id);
  });

  it('is another call in another context of its toolkit', async () => {
    let context: JsonObject = { project: 'a', account: 1 };
    const test = openQueue(store.database, {
      toolkit: { callContext: async (services) => ({ ...context, services: String(services) }) },
    });
    const first = await route(test);
    expect(first.context).toEqual({ project: 'a', account: 1, services: 'services' });
    expect((await route(test)).id).toBe(first.id);
    context = { project: 'b', account: 1 };
    expect((await route(test)).id).not.toBe(first.id);
  });

  it('names on whose order it was made, and how many must sign, in the row and in the log', async () => {
    const test = openQueue(store.database, {
      signersFor: async ({ args }) => (args.text === 'hello' ? 2 : 0),
    });
    const ordered = { ...LOCAL_AGENT, label: 'Editor', orderedBy: 'person:ada' };
    const signed = await route(test, { principal: ordered });
    expect(signed).toMatchObject({ signers: 2, requester: ordered, context: { ordered_by: 'person:ada' } });
    const plain = await route(test, { args: { text: 'unsigned' } });
    const extras = async ({ uuid }: Approval) => {
      const rows = await store.database.db.selectFrom('audit_log').select('body').execute();
      const bodies = rows.map(({ body }) => JSON.parse(body));
      return bodies.filter(({ approval }) => approval?.uuid === uuid).map(({ extra }) => extra);
    };
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    const bound = (expiresAt: Date | undefined) => ({
      presentation_sha256: hash,
      context_sha256: hash,
      expires: expiresAt?.toISOString(),
    });
    expect(await extras(signed)).toEqual([{ ordered_by: 'person:ada', sign: 2, ...bound(signed.expiresAt) }]);
    expect(await extras(plain)).toEqual([bound(plain.expiresAt)]);
  });

  it('is refused to an agent that has as many pending as it may have', async () => {
    const test = openQueue(store.database, { maxPending: 2 });
    const ask = (text: string, principal = LOCAL_AGENT) => route(test, { args: { text }, principal });
    const first = await ask('one');
    await ask('two');
    const refused = {
      code: 'quota_exceeded',
      message: expect.stringContaining('agent:local already has 2 pending approvals'),
      detail: { setting: 'approvals.max_pending_per_agent', max: 2 },
    };
    await expect(ask('three')).rejects.toMatchObject(refused);
    expect(await test.queue.list({})).toHaveLength(2);
    await ask('three', OTHER);
    for (const text of ['one', 'two', 'three']) await ask(text, ADA);
    await set(first, { state: 'rejected' });
    await ask('three');
  });
});

describe('a proposal', () => {
  const propose = (test: TestQueue, args: JsonObject, more = {}) =>
    test.queue.propose({
      tool: test.bound.tool.name,
      args,
      requester: LOCAL_AGENT,
      reason: 'please',
      ...more,
    });
  /** A schema that accepts everything and remembers it. */
  const openSchema = () => {
    const seen: unknown[] = [];
    const input: Schema = { json: {}, parse: (value) => ({ ok: true, value: seen[seen.push(value) - 1] }) };
    return { seen, input };
  };

  it('is refused for a tool that does not exist, or for invalid arguments', async () => {
    const test = openQueue(store.database);
    const unknown = { tool: 'none', args: {}, requester: LOCAL_AGENT, reason: 'please' };
    await expect(test.queue.propose(unknown)).rejects.toMatchObject({ code: 'not_found' });
    await expect(propose(test, { text: '' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^Invalid arguments for ledger_write: text: /),
    });
    const issues = Array.from({ length: 12 }, (_, at) => ({ path: at === 0 ? '' : `a${at}`, message: 'no' }));
    const strict = { json: {}, parse: () => ({ ok: false as const, issues }) };
    const all = openQueue(store.database, { tool: toolNamed('ledger_write', { input: strict }) });
    await expect(propose(all, {})).rejects.toMatchObject({
      message: `Invalid arguments for ledger_write: arguments: no; ${issues
        .slice(1, 10)
        .map(({ path }) => `${path}: no`)
        .join('; ')}.`,
    });
  });

  it('is stored with what it says of itself', async () => {
    const test = openQueue(store.database);
    const more = { groupId: 'g', context: { confidence: 80 }, risks: ['Odd'], expiresAt: minutesLater(5) };
    const approval = await propose(test, { text: 'hello', dry_run: false, run_id: 'run-2' }, more);
    expect(approval).toMatchObject({
      kind: 'call',
      rule: 'proposal',
      reason: 'please',
      groupId: 'g',
      runId: 'run-2',
      context: { confidence: 80 },
      expiresAt: minutesLater(5),
    });
    expect(approval.args).toEqual({ text: 'hello', run_id: 'run-2' });
    expect(approval.digest).toBe(digest('ledger_write', approval.args));
    expect(approval.risks).toContain('Odd');
    expect(test.notified).toEqual([approval]);
    expect(await findPresentation(store.database.db, approval.id)).toMatchObject({
      said: 'please',
      asked: '',
    });
    const endless = await propose(
      test,
      { text: 'hello', run_id: 'run-2' },
      { expiresAt: null, runId: 'run-3' },
    );
    expect(endless).toMatchObject({ expiresAt: undefined, runId: 'run-3', groupId: undefined });
  });

  it('of a permit covers neither its own ID nor whether it was tried dry', async () => {
    const permit = { kind: 'permit' };
    const writing = await propose(openQueue(store.database), { text: 'a', dry_run: true }, permit);
    expect(writing).toMatchObject({ kind: 'permit', rule: 'permit', binding: undefined });
    expect(writing.args).toEqual({ text: 'a' });
    expect(writing.digest).toBe(digest('ledger_write', { args: { text: 'a' }, binding: {} }));
    const bind = async (args: JsonObject, services: unknown) => ({
      of: args.text ?? null,
      services: `${services}`,
    });
    const bound = openQueue(store.database, { tool: toolNamed('ledger_permitted', { bind }) });
    const permitted = await propose(bound, { text: 'a' }, permit);
    expect(permitted.args).toEqual({ text: 'a' });
    expect(permitted.binding).toEqual({ of: 'a', services: 'services' });
    expect(permitted.digest).toBe(
      digest('ledger_permitted', { args: { text: 'a' }, binding: permitted.binding }),
    );
    await expect(propose(bound, { text: 'a' })).rejects.toMatchObject({ code: 'invalid_input' });
    const call = await propose(bound, { text: 'a', approval_id: '7' });
    expect(call).toMatchObject({ binding: undefined, args: { text: 'a', approval_id: '7' } });
  });

  it.each([
    ['a permit of a tool that needs one', true, 'permit', { text: 'a', approval_id: 'requested' }],
    ['a permit of any other tool', false, 'permit', { text: 'a' }],
    ['a call', true, 'call', { text: 'a' }],
  ])('is checked with an ID in its place for %s alone', async (_what, needsPermit, kind, seen) => {
    const open = openSchema();
    const tool = toolNamed('ledger_write', { needsPermit, input: open.input });
    await propose(openQueue(store.database, { tool }), { text: 'a' }, { kind });
    expect(open.seen).toEqual([seen]);
  });

  it('is refused where the tool would still complete it, or refuses it', async () => {
    const asked: unknown[] = [];
    const incomplete = toolNamed('ledger_write', {
      prepare: () => ({ complete: async () => ({}) }),
    });
    await expect(
      propose(openQueue(store.database, { tool: incomplete }), { text: 'a' }),
    ).rejects.toMatchObject({
      code: 'validation_error',
    });
    const check = (...all: unknown[]) => {
      asked.push(...all);
      throw new ToolError('invalid_input', 'Not this.');
    };
    const checked = toolNamed('ledger_write', { check });
    await expect(propose(openQueue(store.database, { tool: checked }), { text: 'a' })).rejects.toThrow(
      'Not this.',
    );
    expect(asked).toEqual([{ text: 'a' }, 'services', LOCAL_AGENT]);
    const unchecked = toolNamed('ledger_write', { check: undefined });
    expect(await propose(openQueue(store.database, { tool: unchecked }), { text: 'a' })).toBeDefined();
  });
});

describe('a call that was completed before', () => {
  it('is found by its key and what was asked, while it waits', async () => {
    const test = openQueue(store.database);
    const prepared = await route(test, { replayKey: 'k', askedDigest: 'asked' });
    const find = (more: Partial<AskedCall> = {}) =>
      test.queue.findPrepared(callOf(test, { replayKey: 'k', askedDigest: 'asked', ...more }));
    for (const state of ['pending', 'approved', 'executing']) {
      await set(prepared, { state });
      expect(await find()).toMatchObject({ id: prepared.id });
    }
    for (const more of [
      { replayKey: undefined },
      { replayKey: 'x' },
      { askedDigest: 'x' },
      { principal: OTHER },
    ])
      expect(await find(more)).toBeUndefined();
    for (const columns of [
      { kind: 'permit' },
      { kind: 'call', tool: 'x' },
      { tool: 'ledger_write', state: 'done' },
    ]) {
      await set(prepared, columns);
      expect(await find()).toBeUndefined();
    }
  });

  it('is not found without a key, even where the same was asked without one', async () => {
    const test = openQueue(store.database);
    await route(test, { askedDigest: 'asked' });
    expect(await test.queue.findPrepared(callOf(test, { askedDigest: 'asked' }))).toBeUndefined();
  });
});

describe('a list that is read now', () => {
  const titled = (more = {}) =>
    toolNamed('ledger_write', { present: () => ({ title: 'Now', act: 'write', gist: 'fresh' }), ...more });

  it('has the titles of pending calls of this machine as they are now', async () => {
    const test = openQueue(store.database, { tool: titled() });
    const row = approvalOf({ summary: 'Then', gist: 'stale' });
    const others = [
      approvalOf({ state: 'done', summary: 'Then' }),
      approvalOf({ tool: 'gone', summary: 'Then' }),
    ];
    const [fresh, ...kept] = await test.queue.refreshed([row, ...others]);
    expect(fresh?.summary).toMatch(/^Now\b/);
    expect(fresh).toEqual({ ...row, summary: fresh?.summary, gist: 'fresh' });
    expect(kept).toEqual(others);
  });

  it('asks no remote service, and no tool that does not say it', async () => {
    const row = approvalOf({ summary: 'Then' });
    for (const tool of [titled({ reach: 'network' }), titled({ present: undefined })])
      expect(await openQueue(store.database, { tool }).queue.refreshed([row])).toEqual([row]);
    const bare = titled({ present: () => ({ title: 'Now', act: 'write' }) });
    const [fresh] = await openQueue(store.database, { tool: bare }).queue.refreshed([row]);
    expect(fresh?.gist).toBeUndefined();
  });
});

describe('helpers of the queue', () => {
  it('take an approval for expired from that moment on', () => {
    expect(isExpired(approvalOf({ expiresAt: AT }), AT)).toBe(true);
    expect(isExpired(approvalOf({ expiresAt: minutesLater(1) }), AT)).toBe(false);
    expect(isExpired(approvalOf(), minutesLater(1_000_000))).toBe(false);
  });

  it('say how an incomplete call gets its approval', () => {
    const tool = toolNamed('ledger_write', {
      prepare: ({ text }) => (text ? undefined : { complete: async () => ({}) }),
    });
    expect(() => requireComplete(tool, { text: 'a' })).not.toThrow();
    expect(() => requireComplete(toolNamed('ledger_write'), {})).not.toThrow();
    const refused = { code: 'validation_error', hint: expect.stringContaining('Call ledger_write itself') };
    expect(() => requireComplete(tool, {})).toThrow(expect.objectContaining(refused));
  });

  it('close a forged row, and no other', async () => {
    const warn = vi.fn();
    const test = openQueue(store.database, { log: { debug() {}, info() {}, warn, error() {} } });
    const approval = await route(test);
    await test.queue.closeForged(new ToolError('approval_invalid', 'no'));
    expect(await test.queue.get(approval.id)).toEqual(approval);
    await expect(test.queue.requireGenuine({ ...approval, state: 'approved' })).rejects.toThrow(
      ForgedApproval,
    );
    await test.queue.closeForged(new ForgedApproval(approval, 'rejected', 'it was rejected'));
    expect(await test.queue.get(approval.id)).toMatchObject({ state: 'rejected', version: 2 });
    expect(warn.mock.lastCall?.[1]).toMatchObject({ approval: approval.id, tool: 'ledger_write' });
  });
});
