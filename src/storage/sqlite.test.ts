import { sql, type Transaction } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/engines.ts';
import type { Tables } from '../kernel/store/tables.ts';

describe('a transaction on SQLite', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    await sql`create table notes (text text)`.execute(store.database.db);
  });
  afterEach(() => store.close());

  const texts = async (): Promise<unknown[]> =>
    (await sql`select text from notes`.execute(store.database.db)).rows;

  it('takes no statement once it has ended, also of one who kept it', async () => {
    let kept: Transaction<Tables> | undefined;
    await store.database.write(async (trx) => {
      kept = trx;
      await sql`insert into notes values ('in time')`.execute(trx);
    });
    if (!kept) throw new Error('There was no transaction.');
    await expect(sql`insert into notes values ('too late')`.execute(kept)).rejects.toThrow('has ended');
    expect(await texts()).toEqual([{ text: 'in time' }]);
  });

  it('leaves nothing of work that fails, and lets the next one through', async () => {
    const failing = store.database.write(async (trx) => {
      await sql`insert into notes values ('undone')`.execute(trx);
      throw new Error('no');
    });
    const next = store.database.write((trx) => sql`insert into notes values ('kept')`.execute(trx));
    await expect(failing).rejects.toThrow('no');
    await next;
    expect(await texts()).toEqual([{ text: 'kept' }]);
  });

  it('is refused on a database that was closed', async () => {
    const { database, close } = await openTestStore('sqlite');
    await close();
    await expect(database.write(async () => 1)).rejects.toThrow('closed');
  });
});
