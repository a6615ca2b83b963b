import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../../../test/support/kernel.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { StandingDraft } from '../../contract/standing.ts';
import { verifyLog } from '../log/verify/verify.ts';
import { uncovered } from './predicates.ts';

const HOUR = 3_600_000;
const ASK = { require_approval_for: ['ledger_write'] };

describe.each(ENGINES)('standing approvals on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let now = new Date('2026-03-01T10:00:00Z');
  beforeEach(async () => {
    now = new Date('2026-03-01T10:00:00Z');
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir, { policy: ASK, now: () => now });
  });
  afterEach(() => store.close());

  const draft = (more: Partial<StandingDraft> = {}): StandingDraft => ({
    agent: 'agent:local',
    tool: 'ledger_write',
    predicates: [{ arg: 'text', op: 'starts_with', text: 'note' }],
    until: new Date(now.getTime() + HOUR).toISOString(),
    uses: 2,
    ...more,
  });
  const status = async (args: JsonObject, tool = 'ledger_write') =>
    (await test.call(tool, args)).outcome.status;
  const problems = async () => {
    await test.kernel.flush();
    return (await verifyLog(store.database, { rows: true })).problems.map(({ message }) => message);
  };

  it('answer an ask within their predicates, count down, and then ask again', async () => {
    expect(await status({ text: 'note 0' })).toBe('routed');
    const added = await test.kernel.standing.add(draft(), PERSON);
    expect(added.sentence).toBe(
      'Allow any client without a token to call ledger_write with text starting with “note”, at most 2 times, until 2026-03-01 11:00 UTC.',
    );
    expect(await status({ text: 'other' })).toBe('routed');
    expect(await status({ text: 'note 1', run_id: 'r' })).toBe('routed');
    expect(await status({ text: 'note 1' })).toBe('ok');
    expect(await status({ text: 'note 2' })).toBe('ok');
    expect(await status({ text: 'note 3' })).toBe('routed');
    expect(await test.lines()).toEqual(['note 1', 'note 2']);
    expect(await test.kernel.standing.list()).toMatchObject([{ used: 2, uses: 2, state: 'used_up' }]);
    expect(await problems()).toEqual([]);
  });

  it('end when they expire or are revoked', async () => {
    const { id } = await test.kernel.standing.add(draft(), PERSON);
    expect(await test.kernel.standing.revoke(id, PERSON)).toBe(true);
    expect(await test.kernel.standing.revoke(id, PERSON)).toBe(false);
    expect(await status({ text: 'note' })).toBe('routed');
    await test.kernel.standing.add(draft(), PERSON);
    now = new Date(now.getTime() + HOUR);
    expect(await status({ text: 'note' })).toBe('routed');
    expect(await problems()).toEqual([]);
  });

  it('never serve more calls than their uses, however many come at the same time', async () => {
    await test.kernel.standing.add(draft({ uses: 3 }), PERSON);
    const all = await Promise.all(Array.from({ length: 12 }, (_, at) => status({ text: `note ${at}` })));
    expect(all.filter((one) => one === 'ok')).toHaveLength(3);
    expect(all.filter((one) => one === 'routed')).toHaveLength(9);
    expect(await test.lines()).toHaveLength(3);
    expect(await problems()).toEqual([]);
  });

  it('refuse destructive tools, agents as givers, and times out of bounds', async () => {
    const { standing } = test.kernel;
    await expect(standing.add(draft({ tool: 'ledger_erase' }), PERSON)).rejects.toThrow(
      'Destructive calls require approval each time.',
    );
    await expect(standing.add(draft(), AGENT)).rejects.toThrow('only a person');
    await expect(standing.add(draft({ until: '2026-02-01T00:00:00Z' }), PERSON)).rejects.toThrow(
      'in the past',
    );
    await expect(standing.add(draft({ until: '2026-06-01T00:00:00Z' }), PERSON)).rejects.toThrow('30 days');
  });

  it('do nothing when their row was written past the log, and audit verify names it', async () => {
    const { id } = await test.kernel.standing.add(draft(), PERSON);
    const change = (set: object) =>
      store.database.db.updateTable('standing_approvals').set(set).where('id', '=', id).execute();
    await change({ predicates: '[{"arg":"text","op":"any"}]' });
    expect(await status({ text: 'anything' })).toBe('routed');
    expect(await status({ text: 'note' })).toBe('routed');
    expect(await problems()).toEqual([expect.stringContaining('is not what the log says was approved')]);
    await change({ predicates: '[{"arg":"text","op":"starts_with","text":"note"}]' });
    expect(await status({ text: 'note' })).toBe('ok');
    await change({ used: 0 });
    expect(await problems()).toEqual([
      expect.stringContaining('says it was used 0 times, but the log says 1'),
    ]);
    await store.database.db.deleteFrom('standing_approvals').execute();
    expect(await problems()).toEqual([expect.stringContaining('its row is missing')]);
  });

  it('show what they would have answered before they are saved', async () => {
    for (const text of ['note a', 'note b', 'other'])
      await test.kernel.approvals.approve(routedId(await test.call('ledger_write', { text })), PERSON);
    const no = routedId(await test.call('ledger_write', { text: 'note c' }));
    await test.kernel.approvals.reject(no, PERSON);
    expect(await test.kernel.standing.test(draft())).toMatchObject({
      of: 4,
      rejected: 1,
      answered: [{ state: 'rejected' }, { state: 'done' }, { state: 'done' }],
      asked: [{ title: 'Write “other” to the ledger (local)', why: 'text is different' }],
    });
  });

  it('start from the exact call', async () => {
    const approval = await test.kernel.approvals.get(
      routedId(await test.call('ledger_write', { text: 'x' })),
    );
    if (!approval) throw new Error('no approval');
    expect(test.kernel.standing.draftFrom(approval)).toMatchObject({
      agent: 'agent:local',
      tool: 'ledger_write',
      predicates: [{ arg: 'text', op: 'equals', value: 'x' }],
    });
    expect((await test.kernel.approvals.present(approval)).remember).toEqual({ possible: true, why: null });
  });
});

const routedId = ({ outcome }: Awaited<ReturnType<TestKernel['call']>>): number => {
  if (outcome.status !== 'routed') throw new Error(`expected routed, got ${outcome.status}`);
  return outcome.approvalId;
};

describe('argument predicates', () => {
  it('cover links only to the named hosts, however a link is written', () => {
    const only = [{ arg: 'text', op: 'links_only' as const, hosts: ['acme.dev'] }];
    const covers = (text: string): boolean => uncovered(only, { text }) === undefined;
    expect(covers('No link at all, 3.5 times as fast.')).toBe(true);
    expect(covers('See https://acme.dev/sync and acme.dev/x')).toBe(true);
    for (const text of [
      'https://acme.dev.evil.example/x',
      'https://evil.example',
      'evil.example/acme.dev',
      'https://acme.dev@evil.example',
      'HTTPS://EVIL.EXAMPLE',
      'javascript://acme.dev/%0aalert(1)',
      'sub.acme.dev',
    ])
      expect(covers(text), text).toBe(false);
  });

  it('do not cover an argument without a predicate, nor one that is left out', () => {
    expect(uncovered([], {})).toBeUndefined();
    expect(uncovered([], { a: 1 })).toBe('a is given');
    expect(uncovered([{ arg: 'a', op: 'equals', value: 1 }], {})).toBe('a is different');
    expect(uncovered([{ arg: 'a', op: 'any' }], {})).toBeUndefined();
    expect(uncovered([{ arg: 'a', op: 'at_most', number: 5 }], { a: 6 })).toBe('a is different');
    expect(uncovered([{ arg: 'a', op: 'one_of', values: [{ b: [1] }] }], { a: { b: [1] } })).toBeUndefined();
  });
});
