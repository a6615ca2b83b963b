import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/support/engines.ts';
import { openTestKernel } from '../../test/support/kernel.ts';
import { createHealth, findEvidenceProblem } from './health.ts';

describe.each(ENGINES)('health on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  /** From here on the head of the log cannot be moved. */
  const jam = async (): Promise<void> => {
    const { db } = store.database;
    if (engine === 'sqlite') {
      await sql`create trigger stuck before update on audit_head begin select raise(abort, 'stuck'); end`.execute(
        db,
      );
      return;
    }
    await sql`create function stuck() returns trigger language plpgsql as $$ begin raise 'stuck'; end $$`.execute(
      db,
    );
    await sql`create trigger stuck before update on audit_head for each row execute function stuck()`.execute(
      db,
    );
  };
  const free = async (): Promise<void> => {
    const { db } = store.database;
    await sql`drop trigger stuck ${sql.raw(engine === 'postgres' ? 'on audit_head' : '')}`.execute(db);
  };

  it('says whether evidence can be written, and since when it can again', async () => {
    const { kernel, call } = await openTestKernel(store.database, store.dataDir);
    const now = (): Date => new Date();
    const health = createHealth({ kernel, database: store.database, startedAt: now(), now, version: '1' });
    const fine = { status: 'ok', evidence: { writable: true, waiting: 0, full: false, unwritten: 0 } };
    expect(await health.check()).toMatchObject(fine);
    expect(await findEvidenceProblem(store.database)).toBeUndefined();
    await jam();
    expect(await findEvidenceProblem(store.database)).toEqual(expect.any(String));
    await call('ledger_read', {});
    await kernel.flush();
    expect(await health.check()).toMatchObject({
      status: 'degraded',
      evidence: { writable: false, waiting: 1, message: expect.any(String) },
    });
    await free();
    await kernel.flush();
    expect(await health.check()).toMatchObject(fine);
  });

  it.each(['missing', 'changed'])('does not count entries when the last one is %s', async (how) => {
    const { kernel, call } = await openTestKernel(store.database, store.dataDir);
    const now = (): Date => new Date();
    const health = createHealth({ kernel, database: store.database, startedAt: now(), now, version: '1' });
    for (const _ of [1, 2]) await call('ledger_write', { text: 'a' });
    await kernel.flush();
    expect(await health.check()).toMatchObject({ status: 'ok', evidence_entries: 4 });
    const { db } = store.database;
    if (how === 'missing') await db.deleteFrom('audit_log').where('seq', '=', 3).execute();
    else await db.updateTable('audit_log').set({ body: '{}' }).where('seq', '=', 3).execute();
    expect(await health.check()).toMatchObject({
      status: 'degraded',
      database: { status: 'error', message: expect.stringContaining('The last entry of the audit log') },
    });
  });
});
