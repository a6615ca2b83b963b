import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/kernel/log/verify/verify.ts';
import type { Database } from '../../src/kernel/store/database.ts';
import { ENGINES, openTestStore, type TestStore } from '../support/engines.ts';
import { openTestKernel, PERSON } from '../support/kernel.ts';

describe.each(ENGINES)('an outcome that could not be recorded on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  const lostConnection = (): Error =>
    Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
  /** The write after the intent fails, before or after it is committed; later ones work. */
  const failingOutcome = (when: 'before' | 'after'): Database => {
    let writes = 0;
    return {
      ...store.database,
      async write(work) {
        writes += 1;
        if (writes !== 2) return store.database.write(work);
        if (when === 'after') await store.database.write(work);
        throw lostConnection();
      },
    };
  };
  const statuses = async (): Promise<(string | null)[]> => {
    const rows = await store.database.db.selectFrom('calls').select('status').execute();
    return rows.map(({ status }) => status);
  };

  it.each(['before', 'after'] as const)(
    'is recorded by the same process once the database works, when it was lost %s the commit',
    async (when) => {
      const test = await openTestKernel(failingOutcome(when), store.dataDir);
      const write = () => test.call('ledger_write', { text: 'a' }, { idempotencyKey: 'k' });
      expect((await write()).outcome.status).toBe('indeterminate');
      await test.kernel.recover();
      expect(await statuses()).toEqual(['ok']);
      expect((await write()).outcome).toMatchObject({ status: 'ok', replayed: true });
      expect(await test.lines()).toEqual(['a']);
      await test.kernel.flush();
      const kinds = await store.database.db.selectFrom('audit_log').select('kind').orderBy('seq').execute();
      expect(kinds.map(({ kind }) => kind)).toEqual(['intent', 'outcome', 'call']);
      expect((await verifyLog(store.database, { publicKeys: [], rows: true })).problems).toEqual([]);
    },
  );

  it('closes a call whose intent was committed without an answer: nothing was run, and its key is free', async () => {
    let writes = 0;
    const database: Database = {
      ...store.database,
      async write(work) {
        writes += 1;
        const result = await store.database.write(work);
        if (writes === 1) throw lostConnection();
        return result;
      },
    };
    const limits = [{ key: 'one', dimension: 'global', match: '*', max: 1, period_seconds: 3600 }] as const;
    const test = await openTestKernel(database, store.dataDir, { policy: { limits: [...limits] } });
    const write = () => test.call('ledger_write', { text: 'a' }, { idempotencyKey: 'k' });
    expect((await write()).outcome).toMatchObject({ status: 'failed', fault: { code: 'db_error' } });
    expect(await test.lines()).toEqual([]);
    await test.kernel.recover();
    expect(await statuses()).toEqual(['failed']);
    // Not even the limit counts it.
    expect((await write()).outcome.status).toBe('ok');
    expect(await test.lines()).toEqual(['a']);
    await test.kernel.flush();
    expect((await verifyLog(store.database, { publicKeys: [], rows: true })).problems).toEqual([]);
  });

  it('is the last word when a person has not settled the call since', async () => {
    const test = await openTestKernel(failingOutcome('before'), store.dataDir);
    const { callId } = await test.call('ledger_write_blind', { text: 'a' });
    await store.database.db
      .updateTable('calls')
      .set({ holder_host: 'elsewhere', lease_until: '2000-01-01T00:00:00.000Z' })
      .execute();
    const other = await openTestKernel(await store.again(), store.dataDir);
    await other.kernel.recover();
    expect(await statuses()).toEqual(['indeterminate']);
    await test.kernel.recover();
    expect(await statuses()).toEqual(['ok']);
    expect(await test.kernel.settle(callId, false, PERSON)).toBe(false);
    expect((await verifyLog(store.database, { publicKeys: [], rows: true })).problems).toEqual([]);
  });
});
