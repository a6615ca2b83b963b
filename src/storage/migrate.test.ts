import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/support/engines.ts';
import { openStorage } from '../app/open-storage.ts';
import type { Migration } from '../contract/migration.ts';
import { toolkitEntries } from '../toolkits/index.generated.ts';
import { openStorage as openDatabase } from './open.ts';

const notes: Migration = {
  name: '999-notes',
  up: async (db) => db.schema.createTable('notes_notes').addColumn('name', 'text').execute(),
};

describe.each(ENGINES)('migrations on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  it('are applied once, also when a toolkit is added to an existing database', async () => {
    let applied = 0;
    const counted: Migration = {
      ...notes,
      async up(db, its) {
        applied += 1;
        await notes.up(db, its);
      },
    };
    for (let opened = 0; opened < 2; opened += 1)
      await (await openStorage({ url: store.url, extra: [counted] })).close();
    expect(applied).toBe(1);
  });

  it('of toolkits are not loaded while the database has them all', async () => {
    const names = toolkitEntries.flatMap(({ migrationNames }) => migrationNames);
    const loaded = (await Promise.all(toolkitEntries.map((entry) => entry.migrations()))).flat();
    expect(loaded.map(({ name }) => name)).toEqual(names);
    const load = () => Promise.reject(new Error('loaded'));
    await (await openDatabase({ url: store.url, migrations: { names, load } })).close();
    const more = { names: [...names, '999-notes'], load };
    await expect(openDatabase({ url: store.url, migrations: more })).rejects.toThrow('loaded');
  });

  it('refuse a database with one that this build does not know, and name it', async () => {
    await (await openStorage({ url: store.url, extra: [notes] })).close();
    await expect(openStorage({ url: store.url })).rejects.toThrow(/it has 999-notes\)\. Update Countersign/);
  });
});
