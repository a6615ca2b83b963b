import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { Database } from '../store/database.ts';
import { insertShape } from '../store/statements.ts';
import { prepareEntry } from './entry.ts';
import { verifyLog } from './verify/verify.ts';
import { type EvidenceWork, writeAlone, writeWithEvidence } from './write.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SETTINGS = insertShape<{ key: string; value: string }>('settings', { key: true, value: true });

/** How jobs share transactions is SQLite's own; on PostgreSQL each has one. */
describe('jobs that share transactions', () => {
  let store: TestStore;
  let database: Database;
  let transactions: number;
  let runs: string[];
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    transactions = 0;
    runs = [];
    database = {
      ...store.database,
      write: (work) => {
        transactions += 1;
        return store.database.write(work);
      },
    };
  });
  afterEach(() => store.close());

  const work =
    (key: string, fails = false): EvidenceWork<string> =>
    async ({ append, insert }) => {
      runs.push(key);
      insert(SETTINGS, { key, value: key });
      append(prepareEntry({ kind: 'read', at: AT, call: key, status: 'ok' }));
      if (fails) throw new Error(`${key} changed its mind`);
      return key;
    };
  const group = (names: readonly string[], failing?: string) =>
    Promise.allSettled(names.map((name) => writeWithEvidence(database, work(name, name === failing))));
  const stored = async () => {
    const rows = await store.database.db
      .selectFrom('settings')
      .select('key')
      .where('key', 'like', 'w%')
      .orderBy('key')
      .execute();
    const entries = await store.database.db
      .selectFrom('audit_log')
      .select('call_id')
      .orderBy('seq')
      .execute();
    return { rows: rows.map(({ key }) => key), entries: entries.map(({ call_id }) => call_id) };
  };

  it('get their own results, and have rows and entries written at the end in the order they came', async () => {
    const results = await group(['w1', 'w2', 'w3']);
    expect(results.map((one) => one.status === 'fulfilled' && one.value)).toEqual(['w1', 'w2', 'w3']);
    expect(await stored()).toEqual({ rows: ['w1', 'w2', 'w3'], entries: ['w1', 'w2', 'w3'] });
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, size: 3 });
  });

  it('have rows of several jobs and several tables', async () => {
    const nodes = insertShape<{ name: string; holder: string; expires_at: string }>('leases', {
      name: true,
      holder: true,
      expires_at: true,
    });
    await writeAlone(database, async ({ insert, engine, database: own }) => {
      expect([engine, own]).toEqual(['sqlite', database]);
      insert(SETTINGS, { key: 'w1', value: '' }, { key: 'w2', value: '' });
      insert(nodes, { name: 'n', holder: 'h', expires_at: AT });
      insert(SETTINGS, { key: 'w3', value: '' });
    });
    expect((await stored()).rows).toEqual(['w1', 'w2', 'w3']);
    expect(await store.database.db.selectFrom('leases').select('name').execute()).toEqual([{ name: 'n' }]);
  });

  it('do not wait for others when they come alone, and do when several came before', async () => {
    await group(['w1', 'w2', 'w3']);
    // The first started immediately, alone.
    expect(transactions).toBe(2);
    await group(['w4', 'w5', 'w6']);
    expect(transactions).toBe(3);
    await group(['w7']);
    expect(transactions).toBe(4);
    await group(['w8', 'w9']);
    expect(transactions).toBe(6);
  });

  it('are at most 64 in one transaction', async () => {
    await group(Array.from({ length: 1 + 64 + 1 }, (_, index) => `w${index}`));
    expect(transactions).toBe(3);
    expect((await stored()).entries).toHaveLength(66);
  });

  it('are run again apart when one fails, and apart from the start in the next group', async () => {
    await group(['w1', 'w2', 'w3'], 'w3');
    expect(runs).toEqual(['w1', 'w2', 'w3', 'w2', 'w3']);
    runs = [];
    const results = await group(['w4', 'w5', 'w6'], 'w5');
    expect(runs).toEqual(['w4', 'w5', 'w6']);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual({
      rows: ['w1', 'w2', 'w4', 'w6'],
      entries: ['w1', 'w2', 'w4', 'w6'],
    });
  });

  it('are not run again when one that came alone fails', async () => {
    const results = await group(['w1'], 'w1');
    expect(results).toMatchObject([{ reason: { message: 'w1 changed its mind' } }]);
    expect(runs).toEqual(['w1']);
  });

  it('are not run again when none of them failed, but their entries cannot be written', async () => {
    await store.database.db.deleteFrom('audit_head').execute();
    const results = await group(['w1', 'w2', 'w3']);
    expect(results).toMatchObject(
      Array(3).fill({ reason: { message: expect.stringContaining('no head row') } }),
    );
    expect(runs).toEqual(['w1', 'w2', 'w3']);
  });

  it('share all of a transaction again after a group in which none failed', async () => {
    await group(['w1', 'w2', 'w3'], 'w3');
    await group(['w4', 'w5']);
    runs = [];
    await group(['w6', 'w7'], 'w7');
    // Tried together first, then apart.
    expect(runs).toEqual(['w6', 'w7', 'w6', 'w7']);
  });

  it('all fail when they are run apart and their entries cannot be written', async () => {
    await group(['w1', 'w2', 'w3'], 'w3');
    await store.database.db.deleteFrom('audit_head').execute();
    const results = await group(['w4', 'w5']);
    expect(results).toMatchObject(
      Array(2).fill({ reason: { message: expect.stringContaining('no head row') } }),
    );
    expect((await stored()).rows).toEqual(['w1', 'w2']);
  });

  it('all fail with the first error when it has ended the transaction', async () => {
    await group(['w1', 'w2', 'w3'], 'w3');
    const full: EvidenceWork<string> = async ({ trx }) => {
      await sql`rollback`.execute(trx);
      throw new Error('database or disk is full');
    };
    const results = await Promise.allSettled([
      writeWithEvidence(database, work('w4')),
      writeWithEvidence(database, full),
      writeWithEvidence(database, work('w5')),
    ]);
    expect(results).toMatchObject(Array(3).fill({ reason: { message: 'database or disk is full' } }));
    expect((await stored()).rows).toEqual(['w1', 'w2']);
  });

  it('get their results also when the error of one is not an error', async () => {
    const results = await Promise.allSettled([
      writeWithEvidence(database, work('w1')),
      writeWithEvidence(database, work('w2')),
      writeWithEvidence(database, () => Promise.reject('no')),
    ]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 'w1' },
      { status: 'fulfilled', value: 'w2' },
      { status: 'rejected', reason: 'no' },
    ]);
  });
});
