import { afterEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';

describe.each(ENGINES)('a test store on %s', (engine) => {
  const stores: TestStore[] = [];
  const open = async () => {
    const store = await openTestStore(engine);
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  it('has the schema and shares nothing with another', async () => {
    const one = await open();
    const two = await open();
    await one.database.db.insertInto('settings').values({ key: 'a', value: '1' }).execute();
    expect(await two.database.db.selectFrom('settings').selectAll().execute()).toEqual([]);
  });

  it('shows a second connection what the first one wrote', async () => {
    const store = await open();
    const other = await store.again();
    await store.database.db.insertInto('settings').values({ key: 'a', value: '1' }).execute();
    expect(await other.db.selectFrom('settings').selectAll().execute()).toEqual([{ key: 'a', value: '1' }]);
  });
});
