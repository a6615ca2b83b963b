import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Database } from '../../store/database.ts';
import { prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { Problems } from './report.ts';
import { StateRows } from './state-rows.ts';

const PAUSED_BY_ADA = 'The setting paused is "person:ada", but the log says not set.';

describe('rows of a store that is written to while it is verified', () => {
  let store: TestStore;
  let problems: Problems;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    problems = new Problems();
  });
  afterEach(() => store.close());

  const at = new Date(Date.UTC(2026, 0, 1)).toISOString();
  const append = (...extras: JsonObject[]) => {
    const entries = extras.map((extra) =>
      prepareEntry({ kind: 'config', at, principal: 'person:ada', extra }),
    );
    return store.database.write((trx) => appendEntries(trx, 'sqlite', entries));
  };
  const pause = () =>
    store.database.db.insertInto('settings').values({ key: 'paused', value: 'person:ada' }).execute();
  const resume = () => store.database.db.deleteFrom('settings').where('key', '=', 'paused').execute();
  const messages = () => problems.list.map(({ message }) => message);

  /** The store, with something that happens before each time that the settings are read. */
  function whileRead(...happens: (() => Promise<unknown>)[]): { database: Database; reads: () => number } {
    let reads = 0;
    const { db } = store.database;
    const watched = new Proxy(db, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const query: unknown = Reflect.apply(value, target, args);
          if (args[0] !== 'settings' || typeof query !== 'object' || query === null) return query;
          const turn = reads;
          reads += 1;
          return { selectAll: () => ({ execute: () => readAfter(happens[turn]) }) };
        };
      },
    });
    const readAfter = async (first: (() => Promise<unknown>) | undefined) => {
      await first?.();
      return db.selectFrom('settings').selectAll().execute();
    };
    return { database: { ...store.database, engine: 'sqlite', db: watched }, reads: () => reads };
  }

  it('are compared with entries that came since the log was read', async () => {
    const rows = new StateRows(store.database, problems);
    await append({ paused: true });
    await pause();
    await rows.finish();
    expect(messages()).toEqual([]);
  });

  it('are compared with more such entries than are read in one step', async () => {
    const watched = whileRead();
    await append(...Array.from({ length: 498 }, () => ({ paused: false })));
    // A call that would count twice if it were read twice.
    const call = (kind: 'intent' | 'outcome') =>
      prepareEntry({ kind, at, call: 'a', extra: { limits: { hourly: 3_600 } } });
    await store.database.write((trx) => appendEntries(trx, 'sqlite', [call('intent'), call('outcome')]));
    const window_start = Date.parse(at) / 1000;
    await store.database.db.insertInto('counters').values({ key: 'hourly', window_start, used: 1 }).execute();
    await append({ paused: true });
    await pause();
    await new StateRows(watched.database, problems).finish();
    expect(messages()).toEqual([]);
    expect(watched.reads()).toBe(1);
  });

  it('are wrong when they differ and no process writes', async () => {
    const watched = whileRead();
    const rows = new StateRows(watched.database, problems);
    await pause();
    await rows.finish();
    expect(problems.list).toEqual([{ code: 'row', seq: undefined, message: PAUSED_BY_ADA }]);
    expect(watched.reads()).toBe(1);
  });

  it('may run ahead of the log that was read', async () => {
    const watched = whileRead(async () => {
      await pause();
      await append({ paused: true });
    });
    await new StateRows(watched.database, problems).finish();
    expect(messages()).toEqual([]);
    expect(watched.reads()).toBe(2);
  });

  it('are wrong when they differ each time, however much is written in between', async () => {
    await pause();
    const busy = () => append({ note: 'busy' });
    const watched = whileRead(busy, busy, busy, busy, busy, busy, busy);
    await new StateRows(watched.database, problems).finish();
    expect(messages()).toEqual([PAUSED_BY_ADA]);
    expect(watched.reads()).toBe(5);
  });

  it('are not wrong when something else differs each time', async () => {
    const watched = whileRead(
      async () => {
        await pause();
        await append({ note: 'busy' });
      },
      async () => {
        await resume();
        await store.database.db
          .insertInto('settings')
          .values({ key: 'paused:agent:a', value: 'x' })
          .execute();
      },
    );
    await new StateRows(watched.database, problems).finish();
    expect(messages()).toEqual([]);
  });

  it('are compared with what was taken or skipped, which is not read again', async () => {
    await append({ paused: true }, { paused: false });
    await pause();
    const rows = new StateRows(store.database, problems);
    rows.take(0, { v: 1, kind: 'config', at, principal: 'person:ada', extra: { paused: true } });
    rows.skipTo(2);
    await rows.finish();
    expect(messages()).toEqual([]);
  });

  it('are compared with every entry after the last that was taken', async () => {
    await append({ paused: true }, { paused: false });
    await pause();
    const rows = new StateRows(store.database, problems);
    rows.take(0, { v: 1, kind: 'config', at, principal: 'person:ada', extra: { paused: true } });
    await rows.finish();
    expect(problems.list).toEqual([{ code: 'row', seq: 1, message: PAUSED_BY_ADA }]);
  });

  it('are not read again by the entry that was taken last', async () => {
    await append({ paused: false });
    await pause();
    const rows = new StateRows(store.database, problems);
    rows.take(0, { v: 1, kind: 'config', at, principal: 'person:ada', extra: { paused: true } });
    await rows.finish();
    expect(messages()).toEqual([]);
  });

  it('pass over an entry that cannot be read', async () => {
    await append({ paused: true }, { paused: true });
    await store.database.db.updateTable('audit_log').set({ body: '{' }).where('seq', '=', 1).execute();
    await pause();
    await new StateRows(store.database, problems).finish();
    expect(messages()).toEqual([]);
  });
});
