import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { AGENT, OTHER, openTestKernel, PERSON, type TestKernel } from '../support/kernel.ts';

const HOUR = 3_600_000;

describe.each(ENGINES)('keys, limits and evidence on %s', (engine) => {
  let store: TestStore;
  let test: TestKernel;
  let now: number;
  /** From when on nothing can be written: as soon as a change took effect, or at once. */
  let full: 'after the effect' | 'now' | undefined;

  /** The same database, whose writes fail as on a full disk. */
  const fragile = (database: Database): Database => ({
    engine: database.engine,
    db: database.db,
    close: () => database.close(),
    async write(work) {
      if (full === 'now' || (full && (await test.lines()).length > 0)) throw new Error('disk full');
      return database.write(work);
    },
  });
  beforeEach(async () => {
    now = Date.now();
    full = undefined;
    store = await openTestStore(engine);
    test = await openTestKernel(fragile(store.database), store.dataDir, { now: () => new Date(now) });
  });
  afterEach(() => store.close());

  const write = (text: string, key: string, principal = AGENT) =>
    test.call('ledger_write', { text }, { idempotencyKey: key, principal });

  it('replays a key after 23 hours and forgets it after 25', async () => {
    await write('daily', 'k');
    now += 23 * HOUR;
    expect((await write('daily', 'k')).outcome).toMatchObject({ status: 'ok', replayed: true });
    now += 2 * HOUR;
    expect((await write('daily', 'k')).outcome).toMatchObject({ status: 'ok', replayed: false });
    expect(await test.lines()).toEqual(['daily', 'daily']);
  });

  it('keeps the keys of two agents apart', async () => {
    expect((await write('same', 'k')).outcome).toMatchObject({ status: 'ok', replayed: false });
    expect((await write('same', 'k', OTHER)).outcome).toMatchObject({ status: 'ok', replayed: false });
    expect((await write('different', 'k', OTHER)).outcome).toMatchObject({
      fault: { code: 'idempotency_conflict' },
    });
    expect(await test.lines()).toEqual(['same', 'same']);
  });

  it('does not run a key again while the outcome of its call is unknown', async () => {
    const args = { text: 'doubtful', fail: true };
    const call = () => test.call('ledger_write_blind', args, { idempotencyKey: 'k' });
    expect((await call()).outcome.status).toBe('indeterminate');
    expect((await call()).outcome).toMatchObject({ status: 'failed', fault: { code: 'indeterminate' } });
    expect(await test.lines()).toEqual(['doubtful']);
  });

  it('lets a key try again after a failure that changed nothing', async () => {
    const args = { text: 'second try', hold: true };
    const call = () => test.call('ledger_write', args, { idempotencyKey: 'k' });
    test.gate.broken = true;
    expect((await call()).outcome.status).toBe('failed');
    test.gate.broken = false;
    test.release();
    expect((await call()).outcome).toMatchObject({ status: 'ok', replayed: false });
    expect((await call()).outcome).toMatchObject({ status: 'ok', replayed: true });
    expect(await test.lines()).toEqual(['second try']);
  });

  it('shows a dry run of a key that was used, and does not answer from it', async () => {
    await write('real', 'k');
    const dry = await test.call('ledger_write', { text: 'real', dry_run: true }, { idempotencyKey: 'k' });
    expect(dry.outcome).toMatchObject({ status: 'dry_run', data: { would_write: 'real' } });
    const fresh = await test.call('ledger_write', { text: 'new', dry_run: true }, { idempotencyKey: 'k2' });
    expect(fresh.outcome.status).toBe('dry_run');
    expect((await write('new', 'k2')).outcome).toMatchObject({ status: 'ok', replayed: false });
  });

  it('counts a call of unknown outcome against the limit', async () => {
    await test.setPolicy({ max_mutations_per_hour: 1 });
    const { outcome } = await test.call('ledger_write_blind', { text: 'doubtful', fail: true });
    expect(outcome.status).toBe('indeterminate');
    expect((await test.call('ledger_write', { text: 'next' })).outcome).toMatchObject({
      fault: { code: 'policy_denied_rate_limited' },
    });
  });

  it('admits no call under a limit of 0', async () => {
    await test.setPolicy({ max_mutations_per_hour: 0 });
    expect((await test.call('ledger_write', { text: 'one' })).outcome).toMatchObject({
      fault: { code: 'policy_denied_rate_limited' },
    });
    expect(await test.lines()).toEqual([]);
  });

  it('calls a change whose outcome could not be written indeterminate, never failed', async () => {
    // The intent is written, the outcome is not.
    full = 'after the effect';
    const { outcome, callId } = await test.call('ledger_write', { text: 'unrecorded' });
    expect(await test.lines()).toEqual(['unrecorded']);
    expect(outcome).toMatchObject({
      status: 'indeterminate',
      fault: { code: 'indeterminate', retryable: false, detail: { call_id: callId } },
    });
  });

  it('has a routed call in the database before it is answered', async () => {
    await test.setPolicy({ require_approval_for: ['ledger_write'] });
    const { outcome, callId } = await test.call('ledger_write', { text: 'ask' });
    expect(outcome.status).toBe('routed');
    const rows = await store.database.db
      .selectFrom('calls')
      .select('status')
      .where('call_id', '=', callId)
      .execute();
    expect(rows).toEqual([{ status: 'routed' }]);
  });

  it('does not say that a read used its permit when the database refused to let it begin', async () => {
    await test.setPolicy({ require_approval_for: ['ledger_read'] });
    const permit = await test.kernel.approvals.propose({
      tool: 'ledger_read',
      args: {},
      requester: AGENT,
      reason: 'please',
      kind: 'permit',
    });
    await test.kernel.approvals.approve(permit.id, PERSON);
    full = 'now';
    expect((await test.call('ledger_read', {})).outcome.status).toBe('failed');
    full = undefined;
    expect((await test.call('ledger_read', {})).outcome.status).toBe('ok');
    await test.kernel.flush();
    expect((await verifyLog(store.database, { rows: true })).problems).toEqual([]);
  });
});
