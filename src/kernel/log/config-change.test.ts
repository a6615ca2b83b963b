import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { changeConfig } from './config-change.ts';
import { prepareEntry } from './entry.ts';
import { isPausedInLog, isPausedSince, readConfigEntry } from './rows/config-entries.ts';

const ADA = { kind: 'person', id: 'ada' } as const;
const AT = new Date('2026-01-01T00:00:00.000Z');

describe('a change of the configuration', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const entries = () =>
    store.database.db.selectFrom('audit_log').select(['seq', 'hash', 'body']).orderBy('seq').execute();
  const setPaused = (paused: boolean) => changeConfig(store.database, ADA, AT, async () => ({ paused }));
  const isPaused = () => isPausedInLog(store.database.db, 'sqlite');

  it('is stored with its entry, which says who changed what and when', async () => {
    const changed = await changeConfig(store.database, ADA, AT, async (trx) => {
      await trx.insertInto('settings').values({ key: 'colour', value: 'red' }).execute();
      return { colour: 'red' };
    });
    expect(changed).toBe(true);
    expect((await entries()).map(({ body }) => JSON.parse(body))).toEqual([
      { at: AT.toISOString(), extra: { colour: 'red' }, kind: 'config', principal: 'person:ada', v: 1 },
    ]);
    expect(await store.database.db.selectFrom('settings').select('key').execute()).toContainEqual({
      key: 'colour',
    });
  });

  it('leaves no entry when there was nothing to change', async () => {
    expect(await changeConfig(store.database, ADA, AT, async () => undefined)).toBe(false);
    expect(await entries()).toEqual([]);
  });

  it('is undone when its entry cannot be written', async () => {
    await store.database.db.deleteFrom('audit_head').execute();
    const change = changeConfig(store.database, ADA, AT, async (trx) => {
      await trx.insertInto('settings').values({ key: 'colour', value: 'red' }).execute();
      return { colour: 'red' };
    });
    await expect(change).rejects.toThrow('no head row');
    expect(await store.database.db.selectFrom('settings').select('key').execute()).not.toContainEqual({
      key: 'colour',
    });
  });

  it('pauses until the newest entry about pausing resumes', async () => {
    expect(await isPaused()).toBe(false);
    await setPaused(true);
    expect(await isPaused()).toBe(true);
    await changeConfig(store.database, ADA, AT, async () => ({ colour: 'red' }));
    expect(await isPaused()).toBe(true);
    await setPaused(false);
    expect(await isPaused()).toBe(false);
  });

  it('leaves changes paused when the entry that resumed them was edited', async () => {
    await setPaused(false);
    const body = (await entries())[0]?.body.replace('person:ada', 'person:eve') ?? '';
    await store.database.db.updateTable('audit_log').set({ body }).execute();
    expect(await isPaused()).toBe(true);
  });

  it('reads the log again only when it has a newer entry about the configuration', async () => {
    const { database } = store;
    await setPaused(true);
    expect(await isPausedSince(database, database.db, 0)).toBe(true);
    await setPaused(false);
    expect(await isPausedSince(database, database.db, 0)).toBe(true);
    expect(await isPausedSince(database, database.db, 1)).toBe(false);
    expect(await isPausedSince(database, database.db, 1)).toBe(false);
  });

  it('is read only from an entry of its kind that is as it was logged', async () => {
    await setPaused(true);
    const [{ body, hash } = { body: '', hash: '' }] = await entries();
    expect(readConfigEntry(body, hash)).toMatchObject({ kind: 'config', extra: { paused: true } });
    expect(readConfigEntry(body.replace('true', 'false'), hash)).toBeUndefined();
    expect(readConfigEntry(body, null)).toBeUndefined();
    const other = prepareEntry({ kind: 'read', at: AT.toISOString() });
    expect(readConfigEntry(other.body, other.hash)).toBeUndefined();
  });
});
