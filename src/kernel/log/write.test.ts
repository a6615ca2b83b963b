import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { Database } from '../store/database.ts';
import { prepareEntry } from './entry.ts';
import { verifyLog } from './verify/verify.ts';
import { type EvidenceWork, writeWithEvidence } from './write.ts';

const AT = '2026-01-01T00:00:00.000Z';

describe.each(ENGINES)('jobs with evidence on %s', (engine) => {
  let store: TestStore;
  let database: Database;
  let transactions = 0;
  beforeEach(async () => {
    store = await openTestStore(engine);
    transactions = 0;
    database = {
      ...store.database,
      write: (work) => {
        transactions += 1;
        return store.database.write(work);
      },
    };
  });
  afterEach(() => store.close());

  const setting =
    (key: string, fails = false): EvidenceWork<string> =>
    async ({ trx, append }) => {
      await trx.insertInto('settings').values({ key, value: key }).execute();
      append(prepareEntry({ kind: 'read', at: AT, call: key, status: 'ok' }));
      if (fails) throw new Error(`${key} changed its mind`);
      return key;
    };
  const stored = async () => {
    const settings = await store.database.db.selectFrom('settings').select('key').orderBy('key').execute();
    const entries = await store.database.db
      .selectFrom('audit_log')
      .select('call_id')
      .orderBy('call_id')
      .execute();
    return { settings: settings.map(({ key }) => key), entries: entries.map(({ call_id }) => call_id) };
  };

  it('get their own results, and those of one that fails are undone alone', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `work-${String(index).padStart(2, '0')}`);
    const results = await Promise.allSettled(
      names.map((name, index) => writeWithEvidence(database, setting(name, index === 7))),
    );
    const kept = names.filter((_, index) => index !== 7);
    expect(results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual(kept);
    expect(results[7]).toMatchObject({ reason: { message: 'work-07 changed its mind' } });
    expect(await stored()).toEqual({ settings: kept, entries: kept });
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, size: 19 });
  });

  it('all fail when their entries cannot be written', async () => {
    await store.database.db.deleteFrom('audit_head').execute();
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => writeWithEvidence(database, setting(name))),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await stored()).toEqual({ settings: [], entries: [] });
  });

  it('see what the jobs before them did', async () => {
    const both = await Promise.allSettled([
      writeWithEvidence(database, setting('same')),
      writeWithEvidence(database, setting('same')),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await stored()).toEqual({ settings: ['same'], entries: ['same'] });
  });

  it('share a transaction on SQLite while several are waiting', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => writeWithEvidence(database, setting(`work-${index}`))),
    );
    // PostgreSQL has several connections, and its jobs stay apart.
    if (engine === 'sqlite') expect(transactions).toBeLessThanOrEqual(2);
    else expect(transactions).toBe(40);
    await writeWithEvidence(database, setting('alone'));
    expect((await stored()).entries).toHaveLength(41);
  });

  it('follow entries that another connection wrote', async () => {
    const other = await store.again();
    for (let turn = 0; turn < 3; turn += 1) {
      await writeWithEvidence(database, setting(`here-${turn}`));
      await writeWithEvidence(other, setting(`there-${turn}`));
    }
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, size: 6 });
  });
});
