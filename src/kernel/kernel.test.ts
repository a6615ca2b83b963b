import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/support/engines.ts';
import { AGENT, openTestKernel, PERSON, type TestKernel } from '../../test/support/kernel.ts';
import { verifyLog } from './log/verify/verify.ts';

describe.each(ENGINES)('the pipeline on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;

  beforeEach(async () => {
    store = await openTestStore(engine);
    test = await openTestKernel(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const kinds = async (callId: string) => {
    await test.kernel.flush();
    const rows = await store.database.db
      .selectFrom('audit_log')
      .select(['kind', 'hash', 'body'])
      .where('call_id', '=', callId)
      .orderBy('seq')
      .execute();
    return rows;
  };

  it('answers a read and leaves one entry whose hash the reply already knew', async () => {
    const result = await test.call('ledger_read', { echo: 'hi' });
    expect(result.outcome).toMatchObject({ status: 'ok', data: { count: 0, echo: 'hi' } });
    const entries = await kinds(result.callId);
    expect(entries.map(({ kind }) => kind)).toEqual(['read']);
    expect(entries[0]?.hash).toBe(result.evidenceHash);
  });

  it('runs a change between a durable intent and a durable outcome', async () => {
    const result = await test.call('ledger_write', { text: 'one' });
    expect(result.outcome).toMatchObject({
      status: 'ok',
      data: { written: 'one', by: 'local', approved_by: null },
    });
    expect((await kinds(result.callId)).map(({ kind }) => kind)).toEqual(['intent', 'outcome']);
    expect(await test.lines()).toEqual(['one']);
  });

  it('refuses unknown and wrong arguments with the path of the fault, and runs nothing', async () => {
    const unknown = await test.call('ledger_write', { text: 'x', surprise: 1 });
    expect(unknown.outcome).toMatchObject({ status: 'failed', fault: { code: 'invalid_input' } });
    expect(unknown.outcome.status === 'failed' && unknown.outcome.fault.message).toContain(
      'surprise: is not a known argument',
    );
    const wrong = await test.call('ledger_write', { text: 7 });
    expect(wrong.outcome.status === 'failed' && wrong.outcome.fault.message).toContain('text:');
    expect(await test.lines()).toEqual([]);
  });

  it.each([
    ['a prototype key', JSON.parse('{"text":"x","__proto__":{"a":1}}')],
    ['a NUL character', { text: 'a\u0000b' }],
    ['half a surrogate pair', { text: '\ud800' }],
    ['deep nesting', { text: 'x', nested: JSON.parse('['.repeat(200) + ']'.repeat(200)) }],
    ['more than 8 MB', { text: 'x'.repeat(9 * 1024 * 1024) }],
    ['a number beyond every range', JSON.parse('{"text":"x","n":1e999}')],
    ['an integer that JSON does not carry exactly', JSON.parse('{"text":"x","n":-9007199254740993}')],
  ])('refuses %s before any schema or tool sees it', async (_name, args) => {
    const { outcome } = await test.call('ledger_write', args);
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'invalid_input' } });
    expect(await test.lines()).toEqual([]);
  });

  it.each([
    ['a function that every object has', Object],
    ['text that is no effect', 'toString'],
    ['nothing', undefined],
    ['a boolean', false],
  ])('refuses a tool whose effect is %s, and records that', async (_what, effect) => {
    const bound = await test.inventory.resolve('ledger_write');
    if (!bound) throw new Error('No tool.');
    const tool = { ...bound.tool, effect: effect as never };
    for (const more of [{}, { alwaysAnswers: true }, { composite: true }]) {
      const result = await test.call(
        'ledger_write',
        { text: 'x' },
        { bound: { ...bound, tool: { ...tool, ...more } } },
      );
      expect(result.outcome).toMatchObject({
        status: 'refused',
        rule: 'hard:unknown_effect',
        fault: { code: 'policy_denied_hard_rule' },
      });
      expect((await kinds(result.callId)).map(({ kind }) => kind)).toEqual(['refusal']);
    }
    expect(await test.lines()).toEqual([]);
    const { db } = store.database;
    const rows = await db.selectFrom('calls').select(['effect', 'decision']).distinct().execute();
    expect(rows).toEqual([{ effect: 'unknown', decision: 'deny' }]);
    expect((await verifyLog(store.database, { publicKeys: [], rows: true })).problems).toEqual([]);
  });

  it('keeps private arguments out of the log and the payloads', async () => {
    const result = await test.call('ledger_write', { text: 'shown', secret_note: 'hush-hush-42' });
    expect(result.outcome.status).toBe('ok');
    const entries = await store.database.db.selectFrom('audit_log').select('body').execute();
    const payloads = await store.database.db.selectFrom('audit_payloads').select('body').execute();
    const all = JSON.stringify([entries, payloads]);
    expect(all).toContain('shown');
    expect(all).not.toContain('hush-hush-42');
  });

  it('settles a change that failed after its effect by reconciling', async () => {
    const { outcome } = await test.call('ledger_write', { text: 'landed', fail: 'after' });
    expect(outcome).toMatchObject({ status: 'ok', data: { written: 'landed', by: 'reconciled' } });
    const bug = await test.call('ledger_write', { text: 'never', fail: 'crash' });
    expect(bug.outcome).toMatchObject({ status: 'failed', fault: { code: 'internal' } });
    expect(await test.lines()).toEqual(['landed']);
  });

  it('calls a change indeterminate, and never retryable, when the outcome is unknown', async () => {
    const { outcome, callId } = await test.call('ledger_write_blind', { text: 'maybe', fail: true });
    expect(outcome).toMatchObject({
      status: 'indeterminate',
      fault: { code: 'indeterminate', retryable: false },
    });
    expect(await test.kernel.settle(callId, true, PERSON)).toBe(true);
    expect(await test.kernel.settle(callId, true, PERSON)).toBe(false);
    const settled = await test.kernel.telemetry.call(callId);
    expect(settled?.status).toBe('ok');
    expect((await kinds(callId)).map(({ kind }) => kind)).toEqual(['intent', 'outcome', 'settled']);
  });

  it('stops a call at its deadline and when the caller cancels', async () => {
    const late = await test.call('ledger_slow', {});
    expect(late.outcome).toMatchObject({ status: 'failed', fault: { code: 'timeout' } });
    const cancel = new AbortController();
    const progress: string[] = [];
    const running = test.call(
      'ledger_slow',
      {},
      { signal: cancel.signal, onProgress: ({ message }) => progress.push(message) },
    );
    setTimeout(() => cancel.abort(), 20);
    expect((await running).outcome).toMatchObject({ status: 'failed', fault: { code: 'cancelled' } });
    expect(progress).toEqual(['waiting']);
  });

  it('refuses every change while paused, and reads go on', async () => {
    await test.kernel.setPaused(true, PERSON);
    expect((await test.call('ledger_write', { text: 'x' })).outcome).toMatchObject({
      status: 'refused',
      fault: { code: 'paused' },
    });
    expect((await test.call('ledger_read', {})).outcome.status).toBe('ok');
    await test.kernel.setPaused(false, PERSON);
    expect((await test.call('ledger_write', { text: 'x' })).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['x']);
  });

  it('gives the first answer again for the same key, and an error for the same key with other arguments', async () => {
    const first = await test.call('ledger_write', { text: 'once' }, { idempotencyKey: 'k1' });
    const again = await test.call('ledger_write', { text: 'once' }, { idempotencyKey: 'k1' });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true, data: { written: 'once' } });
    expect(first.outcome).toMatchObject({ status: 'ok', replayed: false });
    const other = await test.call('ledger_write', { text: 'twice' }, { idempotencyKey: 'k1' });
    expect(other.outcome).toMatchObject({ status: 'failed', fault: { code: 'idempotency_conflict' } });
    expect(await test.lines()).toEqual(['once']);
  });

  it('runs two identical simultaneous calls only once, within a run', async () => {
    const calls = Array.from({ length: 8 }, () => test.call('ledger_write', { text: 'same', run_id: 'r1' }));
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.every(({ status }) => status === 'ok')).toBe(true);
    expect(outcomes.filter((one) => one.status === 'ok' && one.replayed)).toHaveLength(7);
    expect(await test.lines()).toEqual(['same']);
  });

  it('takes dry_run: false for the same call as none', async () => {
    await test.call('ledger_write', { text: 'same', run_id: 'r3' });
    const again = await test.call('ledger_write', { text: 'same', run_id: 'r3', dry_run: false });
    expect(again.outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await test.lines()).toEqual(['same']);
  });

  it('does not let a dry run poison a key', async () => {
    const args = { text: 'later', run_id: 'r2' };
    const dry = await test.call('ledger_write', { ...args, dry_run: true }, { idempotencyKey: 'k2' });
    expect(dry.outcome).toMatchObject({ status: 'dry_run', data: { would_write: 'later' } });
    const real = await test.call('ledger_write', args, { idempotencyKey: 'k2' });
    expect(real.outcome).toMatchObject({ status: 'ok', replayed: false });
    expect(await test.lines()).toEqual(['later']);
  });

  it('counts changes exactly up to the limit and says when it lifts', async () => {
    await test.setPolicy({ max_mutations_per_hour: 3 });
    const outcomes = [];
    for (let index = 0; index < 5; index += 1)
      outcomes.push((await test.call('ledger_write', { text: `n${index}` })).outcome);
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'refused', 'refused']);
    const refused = outcomes[3];
    expect(refused).toMatchObject({
      status: 'refused',
      fault: { code: 'policy_denied_rate_limited', message: 'Policy denied: rate limited' },
    });
    const resetAt = refused?.status === 'refused' ? refused.fault.resetAt : undefined;
    expect(resetAt && resetAt.getTime() % 3_600_000).toBe(0);
  });

  it('gives the count back when a change certainly did nothing', async () => {
    await test.setPolicy({ max_mutations_per_hour: 1 });
    expect((await test.call('ledger_write', { text: 'no', fail: 'before' })).outcome.status).toBe('failed');
    expect((await test.call('ledger_write', { text: 'yes' })).outcome.status).toBe('ok');
  });

  it('counts each call of a composite, not the composite', async () => {
    await test.setPolicy({ max_mutations_per_hour: 2 });
    const { outcome } = await test.call('ledger_batch', { texts: ['a', 'b', 'c'] });
    expect(outcome).toMatchObject({ status: 'ok', data: { statuses: ['ok', 'ok', 'refused'] } });
    expect(await test.lines()).toHaveLength(2);
  });

  it('records every invocation for telemetry, refusals included', async () => {
    await test.setPolicy({ blocked_tools: ['ledger.write'] });
    await test.call('ledger_read', {});
    await test.call('ledger_write', { text: 'no' });
    await test.call('ledger_write', { wrong: true });
    const calls = await test.kernel.telemetry.calls({ limit: 10 });
    expect(calls.map(({ tool, status, code, principal }) => [tool, status, code, principal])).toEqual([
      ['ledger_write', 'failed', 'invalid_input', 'agent:local'],
      ['ledger_write', 'refused', 'policy_denied_blocked', 'agent:local'],
      ['ledger_read', 'ok', undefined, 'agent:local'],
    ]);
    const errors = await test.kernel.telemetry.errors(new Date(0));
    expect(errors.map(({ code, count }) => [code, count]).sort()).toEqual([
      ['invalid_input', 1],
      ['policy_denied_blocked', 1],
    ]);
    const metrics = await test.kernel.telemetry.metrics(new Date(0));
    expect(metrics.find(({ tool }) => tool === 'ledger_write')).toMatchObject({
      totalCalls: 2,
      successCount: 0,
      failureCount: 2,
    });
  });

  it('answers nothing it cannot write down', async () => {
    await store.database.db.schema.dropTable('audit_head').execute();
    const change = await test.call('ledger_write', { text: 'unwritten' });
    expect(change.outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect(await test.lines()).toEqual([]);
    await test.call('ledger_read', {});
    await test.kernel.flush();
    expect((await test.call('ledger_read', {})).outcome).toMatchObject({
      status: 'failed',
      fault: { code: 'db_error' },
    });
  });

  it('links an artifact that a read stored, so that the log still verifies', async () => {
    const { callId } = await test.call('ledger_read', { file: 'a report' });
    await test.kernel.flush();
    const links = await store.database.db
      .selectFrom('call_artifacts')
      .selectAll()
      .where('call_id', '=', callId)
      .execute();
    expect(links).toMatchObject([{ name: 'report.txt' }]);
    const report = await verifyLog(store.database, { artifacts: test.kernel.artifacts });
    expect(report.problems).toEqual([]);
  });

  it('gives the last word on a call presumed dead to the process that ran it', async () => {
    const running = test.call('ledger_write', { text: 'slow', hold: true });
    const { db } = store.database;
    await expect
      .poll(() => db.selectFrom('calls').select('call_id').where('status', '=', 'running').execute())
      .toHaveLength(1);
    await store.database.db
      .updateTable('calls')
      .set({ lease_until: '2000-01-01T00:00:00.000Z', holder_host: 'another-machine' })
      .where('status', '=', 'running')
      .execute();
    await test.kernel.recover();
    test.release();
    expect((await running).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['slow']);
    expect((await verifyLog(store.database)).problems).toEqual([]);
    const [call] = await test.kernel.telemetry.calls({ tool: 'ledger_write' });
    expect(call?.status).toBe('ok');
  });

  it("names who asked in every entry, regardless of the client's own name", async () => {
    const { callId } = await test.call(
      'ledger_read',
      {},
      { principal: { ...AGENT, label: 'Claude/9' }, client: 'Claude/9' },
    );
    const [entry] = await kinds(callId);
    expect(JSON.parse(entry?.body ?? '{}')).toMatchObject({ principal: 'agent:local', client: 'Claude/9' });
  });
});
