import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../src/contract/ports.ts';
import { readEvidence } from '../../src/kernel/call/recorder.fixture.ts';
import { type CallEvidence, MAX_WAITING, Recorder } from '../../src/kernel/call/recorder.ts';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel, type TestKernel } from '../support/kernel.ts';

describe.each(ENGINES)('evidence of reads on %s', (engine) => {
  let store: TestStore;
  let said: { message: string; fields: Record<string, unknown> | undefined }[];
  let log: Log;

  beforeEach(async () => {
    store = await openTestStore(engine);
    // Its own list: a recorder of an earlier test may still have something to say.
    const heard: typeof said = [];
    said = heard;
    const quiet = (): void => {};
    log = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (message, fields) => void heard.push({ message, fields }),
    };
  });
  afterEach(() => store.close());

  const written = async (): Promise<string[]> => {
    const rows = await store.database.db.selectFrom('calls').select('call_id').execute();
    return rows.map(({ call_id }) => call_id);
  };
  const bodies = async (): Promise<string[]> => {
    const rows = await store.database.db.selectFrom('audit_log').select('body').orderBy('seq').execute();
    return rows.map(({ body }) => body);
  };

  it.each([
    ['NUL', 'a\u0000b', 'a\u{fffd}b'],
    ['half of a surrogate pair', 'a\ud83db', 'a\u{fffd}b'],
    ['a hundred thousand characters', 'x'.repeat(100_000), 'x'.repeat(120)],
  ])('is written for a client whose name has %s', async (_what, name, kept) => {
    const test: TestKernel = await openTestKernel(store.database, store.dataDir, { log });
    const first = await test.call('ledger_read', {}, { client: name });
    const second = await test.call('ledger_read', {}, { client: 'plain' });
    expect([first.outcome.status, second.outcome.status]).toEqual(['ok', 'ok']);
    await test.kernel.flush();
    const rows = await store.database.db.selectFrom('calls').select('client').orderBy('call_id').execute();
    expect(rows.map(({ client }) => client)).toEqual([kept, 'plain']);
    expect(said).toEqual([]);
  });

  it('is written for a call whose run ID has NUL and whose arguments are invalid', async () => {
    const test = await openTestKernel(store.database, store.dataDir, { log });
    const { outcome } = await test.call('ledger_write', { run_id: 'a\u0000b', text: 1 });
    expect(outcome.status).toBe('failed');
    await test.kernel.flush();
    const rows = await store.database.db.selectFrom('calls').select(['run_id', 'code']).execute();
    expect(rows).toEqual([{ run_id: 'a\u{fffd}b', code: 'invalid_input' }]);
  });

  it('cleans what an agent says about a request before a person reads it', async () => {
    const test = await openTestKernel(store.database, store.dataDir, { log, mode: 'autopilot' });
    await test.setPolicy({ require_approval_for: ['ledger_write'] });
    const principal = { kind: 'agent', id: 'local', label: 'a\u0000b' } as const;
    const { outcome } = await test.call(
      'ledger_write',
      { text: 'x' },
      { principal, reason: 'be\u0000cause' },
    );
    expect(outcome.status).toBe('routed');
    const [approval] = test.notified;
    expect([approval?.requester.label, approval?.reason]).toEqual(['a\u{fffd}b', 'be\u{fffd}cause']);
  });

  it('refuses an idempotency key that cannot be stored', async () => {
    const test = await openTestKernel(store.database, store.dataDir, { log });
    const { outcome } = await test.call('ledger_write', { text: 'x' }, { idempotencyKey: 'a\u0000b' });
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'invalid_input' } });
    expect(await test.lines()).toEqual([]);
  });

  it('is written without the one row that the database refuses, which is reported', async () => {
    const recorder = new Recorder(store.database, log);
    const taken = readEvidence();
    await recorder.add(taken);
    await recorder.flush();
    // The same call ID with other content: no engine accepts it.
    const bad = readEvidence({ call_id: taken.row.call_id, client: 'another' });
    const good = [readEvidence(), readEvidence(), readEvidence()];
    for (const one of [good[0], bad, good[1], good[2]]) await recorder.add(one as CallEvidence);
    await recorder.flush();
    expect(new Set(await written())).toEqual(new Set([taken, ...good].map(({ row }) => row.call_id)));
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0, unwritten: 1 });
    expect(said).toMatchObject([{ fields: { call: bad.row.call_id, tool: 'ledger_read' } }]);
    // The log itself says that a call has no row.
    expect((await bodies()).join('\n')).toContain(`"unwritten_call":"${bad.row.call_id}"`);
    expect((await verifyLog(store.database, { publicKeys: [], rows: true })).problems).toEqual([]);
  });

  it.each([
    ['a function', Object],
    ['an object', {}],
    ['a boolean', true],
    ['a symbol', Symbol('effect')],
  ])('is written without a row that has %s in a cell, which is reported', async (_what, effect) => {
    const recorder = new Recorder(store.database, log);
    const bad = readEvidence({ effect: effect as unknown as string });
    const good = [readEvidence(), readEvidence(), readEvidence()];
    for (const one of [good[0], bad, good[1]]) await recorder.add(one as CallEvidence);
    await recorder.flush();
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0, unwritten: 1 });
    await recorder.add(good[2] as CallEvidence);
    await recorder.flush();
    expect(new Set(await written())).toEqual(new Set(good.map(({ row }) => row.call_id)));
    expect(said).toMatchObject([{ fields: { call: bad.row.call_id, tool: 'ledger_read' } }]);
    expect((await bodies()).join('\n')).toContain(`"unwritten_call":"${bad.row.call_id}"`);
    expect((await bodies()).join('\n')).toContain(`"reason":"unstorable_${typeof effect}"`);
  });

  it('is written once when the commit succeeded but its answer was lost', async () => {
    let lose = true;
    const database: Database = {
      ...store.database,
      async write(work) {
        const result = await store.database.write(work);
        if (!lose) return result;
        lose = false;
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
      },
    };
    const recorder = new Recorder(database, log);
    const some = [readEvidence(), readEvidence()];
    for (const one of some) await recorder.add(one);
    await recorder.flush();
    expect(recorder.state.writable).toBe(false);
    await recorder.flush();
    expect(recorder.state).toMatchObject({ writable: true, waiting: 0, unwritten: 0 });
    expect(await written()).toHaveLength(2);
    expect(await bodies()).toHaveLength(2);
  });

  it('stops taking calls while its buffer is full, and recovers with the database', async () => {
    let broken = true;
    const database: Database = {
      ...store.database,
      write: (work) =>
        broken
          ? Promise.reject(Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' }))
          : store.database.write(work),
    };
    const test = await openTestKernel(database, store.dataDir, { log });
    const ran: string[] = [];
    for (let at = 0; at < MAX_WAITING + 20; at += 1) {
      const { outcome } = await test.call('ledger_read', {});
      ran.push(outcome.status);
      if (at % 1000 === 0) await test.kernel.flush();
    }
    expect(test.kernel.evidence().waiting).toBeLessThanOrEqual(MAX_WAITING);
    expect(test.kernel.evidence()).toMatchObject({ writable: false, full: true });
    const { outcome } = await test.call('ledger_read', {});
    expect(outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect('fault' in outcome ? outcome.fault.message : '').toContain('The disk is full');
    broken = false;
    await test.kernel.flush();
    expect(test.kernel.evidence()).toMatchObject({ writable: true, waiting: 0, full: false });
    expect((await test.call('ledger_read', {})).outcome.status).toBe('ok');
  }, 60_000);
});
