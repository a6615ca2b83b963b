import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { isFirstUse, readSetting, writeSetting } from './database.ts';

describe.each(ENGINES)('shared values on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  it('stores a setting and overwrites it', async () => {
    const { database } = store;
    expect(await readSetting(database.db, 'server_url')).toBeUndefined();
    await writeSetting(database, 'server_url', 'http://127.0.0.1:1');
    await writeSetting(database, 'server_url', 'http://127.0.0.1:2');
    expect(await readSetting(database.db, 'server_url')).toBe('http://127.0.0.1:2');
  });

  it('accepts a nonce once, however many present it together', async () => {
    const at = new Date();
    const uses = await Promise.all(Array.from({ length: 5 }, () => isFirstUse(store.database, 'nonce', at)));
    expect(uses.filter(Boolean)).toHaveLength(1);
    expect(await isFirstUse(store.database, 'nonce', at)).toBe(false);
    expect(await isFirstUse(store.database, 'another', at)).toBe(true);
  });
});
