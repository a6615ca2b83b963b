import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../../src/contract/errors.ts';
import { prepareEntry } from '../../src/kernel/log/entry.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import { writeWithEvidence } from '../../src/kernel/log/write.ts';
import { sweepExpired } from '../../src/kernel/store/sweep.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON } from '../support/kernel.ts';

describe.each(ENGINES)('shares of agents on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  const problems = async (): Promise<unknown[]> => [
    ...(await verifyLog(store.database, { publicKeys: [], rows: true })).problems,
  ];

  it('refuse an agent more pending approvals than its share, and no other agent', async () => {
    const test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
      maxPending: 2,
    });
    const ask = async (text: string, principal = AGENT) =>
      (await test.call('ledger_write', { text }, { principal })).outcome;
    for (const text of ['a', 'b']) expect((await ask(text)).status).toBe('routed');
    const refused = await ask('c');
    expect(refused).toMatchObject({ status: 'failed', fault: { code: 'quota_exceeded' } });
    expect('fault' in refused && refused.fault.message).toContain('approvals.max_pending_per_agent');
    expect((await ask('d', OTHER)).status).toBe('routed');
    expect((await ask('e', PERSON)).status).not.toBe('failed');
    await test.kernel.approvals.reject(1, PERSON);
    expect((await ask('c')).status).toBe('routed');
    await test.kernel.flush();
    const rows = await store.database.db
      .selectFrom('calls')
      .select('code')
      .where('code', 'is not', null)
      .execute();
    expect(rows).toEqual([{ code: 'quota_exceeded' }]);
    expect(await problems()).toEqual([]);
  });

  it('refuse an idempotency key beyond the configured length', async () => {
    const test = await openTestKernel(store.database, store.dataDir);
    const write = (idempotencyKey: string) => test.call('ledger_write', { text: 'x' }, { idempotencyKey });
    const { outcome } = await write('k'.repeat(513));
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'quota_exceeded' } });
    expect('fault' in outcome && outcome.fault.message).toContain('calls.max_idempotency_key_length');
    expect(await test.lines()).toEqual([]);
    expect((await write('k'.repeat(512))).outcome.status).toBe('ok');
  });

  it('refuse and record a call that its transport has no room for', async () => {
    const test = await openTestKernel(store.database, store.dataDir);
    const refusal = new ToolError('quota_exceeded', 'No room (server.max_tasks_per_agent).');
    const { outcome } = await test.call('ledger_write', { text: 'x' }, { refusal });
    expect(outcome).toEqual({ status: 'refused', rule: 'hard:fair_share', fault: refusal });
    await test.kernel.flush();
    const row = await store.database.db.selectFrom('calls').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ status: 'refused', code: 'quota_exceeded', rule: 'hard:fair_share' });
    expect(await test.lines()).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it('refuse every call of a paused agent until it is resumed, and keep the evidence', async () => {
    let time = Date.now();
    const test = await openTestKernel(store.database, store.dataDir, { now: () => new Date(time) });
    const status = async (tool: string, args: object, principal = AGENT) => {
      // Reads learn of a pause within a second.
      time += 1_000;
      const { outcome } = await test.call(tool, args as never, { principal });
      return 'fault' in outcome ? outcome.fault.code : outcome.status;
    };
    const { agents } = test.kernel;
    expect(await agents.setPaused('local', true, PERSON)).toBe(true);
    expect(await agents.setPaused('local', true, PERSON)).toBe(false);
    expect([...(await agents.paused())]).toEqual([['local', 'person:ada']]);
    expect(await status('ledger_read', {})).toBe('agent_paused');
    expect(await status('ledger_write', { text: 'x' })).toBe('agent_paused');
    expect(await status('ledger_read', {}, OTHER)).toBe('ok');
    expect(await status('ledger_write', { text: 'mine' }, PERSON)).toBe('ok');
    expect(await test.lines()).toEqual(['mine']);
    expect(await problems()).toEqual([]);
    expect(await agents.setPaused('local', false, PERSON)).toBe(true);
    expect(await status('ledger_read', {})).toBe('ok');
    await test.kernel.flush();
    const rows = await store.database.db
      .selectFrom('calls')
      .select(['status', 'rule'])
      .where('code', '=', 'agent_paused')
      .execute();
    expect(rows).toEqual(Array(2).fill({ status: 'refused', rule: 'hard:agent_paused' }));
    expect(await problems()).toEqual([]);
  });

  it('admit no change of an agent that another process paused a moment ago', async () => {
    const test = await openTestKernel(store.database, store.dataDir, {
      now: () => new Date('2026-01-01T00:00:00Z'),
    });
    await test.call('ledger_read', {});
    await test.kernel.agents.setPaused('local', true, PERSON);
    // The clock stands still, so the cached answer is used up to admission.
    const { outcome } = await test.call('ledger_write', { text: 'x' });
    expect(outcome).toMatchObject({ status: 'refused', rule: 'hard:agent_paused' });
    expect(await test.lines()).toEqual([]);
  });

  it('do not run what a paused agent asked for, even when a person approves it', async () => {
    const test = await openTestKernel(store.database, store.dataDir, {
      policy: { require_approval_for: ['ledger_write'] },
    });
    await test.call('ledger_write', { text: 'x' });
    await test.kernel.agents.setPaused('local', true, PERSON);
    const { approval, outcome } = await test.kernel.approvals.approve(1, PERSON);
    expect(outcome).toMatchObject({ status: 'refused', fault: { code: 'agent_paused' } });
    expect(approval.state).toBe('pending');
    await test.kernel.agents.setPaused('local', false, PERSON);
    expect(await test.lines()).toEqual([]);
    expect(await problems()).toEqual([]);
  });

  it('are compared with the log: a pause that no entry speaks of is named', async () => {
    const test = await openTestKernel(store.database, store.dataDir);
    await test.kernel.agents.setPaused('robin', true, PERSON);
    await store.database.db.deleteFrom('settings').where('key', '=', 'paused:agent:robin').execute();
    expect(await problems()).toMatchObject([{ message: expect.stringContaining('paused:agent:robin') }]);
  });

  it('lose what expired when the daemon sweeps, and nothing else', async () => {
    const { db } = store.database;
    const now = new Date('2026-06-01T12:00:00Z');
    const clocks = { now: () => now, databaseNow: () => now };
    await writeWithEvidence(store.database, async (write) =>
      write.append(prepareEntry({ kind: 'config', at: now.toISOString() })),
    );
    const hour = (ago: number): number => Math.floor(now.getTime() / 1000) - ago * 3_600;
    const key = (
      scope_key: string,
      state: 'ok' | 'indeterminate' | 'running',
      expires_at: string | null,
    ) => ({
      scope_key,
      digest: 'd',
      call_id: scope_key,
      state,
      outcome: null,
      created_at: '2026-01-01T00:00:00.000Z',
      expires_at,
    });
    const past = '2026-05-31T00:00:00.000Z';
    const future = '2026-06-02T00:00:00.000Z';
    await db
      .insertInto('idempotency')
      .values([
        ...Array.from({ length: 2_500 }, (_, at) => key(`old ${at}`, 'ok', past)),
        key('unknown', 'indeterminate', past),
        key('young', 'ok', future),
        key('of a run', 'ok', null),
      ])
      .execute();
    await db
      .insertInto('counters')
      .values([
        { key: 'hourly', window_start: hour(100), used: 1 },
        { key: 'hourly', window_start: hour(20), used: 2 },
        { key: 'hourly', window_start: hour(0), used: 3 },
        { key: 'yearly', window_start: hour(200 * 24), used: 4 },
        { key: 'forgotten', window_start: hour(400 * 24), used: 5 },
      ])
      .execute();
    const session = (id_hash: string, expires_at: string) => ({
      id_hash,
      kind: 'session',
      person: 'ada',
      created_at: past,
      expires_at,
    });
    await db
      .insertInto('web_sessions')
      .values([session('a', past), session('b', future)])
      .execute();
    expect(await sweepExpired(store.database, clocks)).toEqual({ keys: 2_500, counters: 2, sessions: 1 });
    const keys = await db.selectFrom('idempotency').select('scope_key').orderBy('scope_key').execute();
    expect(keys.map(({ scope_key }) => scope_key)).toEqual(['of a run', 'unknown', 'young']);
    const counters = await db.selectFrom('counters').select('used').orderBy('used').execute();
    expect(counters.map(({ used }) => used)).toEqual([2, 3, 4]);
    expect(await sweepExpired(store.database, clocks)).toEqual({ keys: 0, counters: 0, sessions: 0 });
  });
});
