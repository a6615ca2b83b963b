import {
  DummyDriver,
  Kysely,
  type KyselyPlugin,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authenticator } from '../../../../test/support/authenticator.ts';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Tables } from '../../store/tables.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { AT, enrolment, order, signature } from './passkeys.fixture.ts';
import { findSignature, lockKeys, readHeads, readKeysInForce } from './read.ts';

const key = new Authenticator();

// How rows are compared with what was read before does not depend on the engine.
describe('the keys in force', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const append = async (...entries: EntryInput[]) => {
    const prepared = entries.map(prepareEntry);
    await store.database.write((trx) => appendEntries(trx, 'sqlite', prepared));
    return prepared.map(({ hash }) => hash);
  };
  const about = (extra: JsonObject, principal = 'person:ada'): EntryInput => ({
    kind: 'passkey',
    at: AT,
    principal,
    extra,
  });
  /** A log with a first entry, a key, and the duty to sign everything: entries 0, 1 and 2. */
  const writeLog = async (): Promise<string> => {
    const [log = ''] = await append({ kind: 'config', at: AT });
    await append(
      about(enrolment(key, undefined, { log })),
      about(order({ action: 'mode', mode: 'always' }, key, { log })),
    );
    return log;
  };
  const read = () => readKeysInForce(store.database);
  const table = () => store.database.db;
  const refused = (message: string) =>
    expect(read()).rejects.toMatchObject({
      code: 'approval_invalid',
      message: expect.stringContaining(message),
      hint: expect.stringContaining('Restore a backup'),
    });

  it('are none while the log is empty', async () => {
    expect(await read()).toMatchObject({ log: undefined, keys: { list: [], mode: 'off' } });
  });

  it('are those of the log, each time it is read', async () => {
    const log = await writeLog();
    for (let time = 0; time < 2; time += 1)
      expect(await read()).toMatchObject({
        log,
        keys: { mode: 'always', list: [{ fingerprint: key.fingerprint }] },
      });
    await append(about({ action: 'reset' }));
    expect((await read()).keys.resets).toEqual([{ at: AT, by: 'person:ada', removed: 1 }]);
  });

  it('are not changed by an entry that only mentions passkeys', async () => {
    await append({ kind: 'config', at: AT, extra: { kind: 'passkey', action: 'reset' } });
    expect((await read()).keys.resets).toEqual([]);
  });

  it('are not read from an entry whose text was changed', async () => {
    await writeLog();
    const { body } = await table()
      .selectFrom('audit_log')
      .select('body')
      .where('seq', '=', 2)
      .executeTakeFirstOrThrow();
    await table()
      .updateTable('audit_log')
      .set({ body: `${body} ` })
      .where('seq', '=', 2)
      .execute();
    await refused('Entry 2 of the audit log, which is about passkeys, was changed.');
  });

  it('are not read from a log with an invalid entry', async () => {
    await append({ kind: 'config', at: AT }, about(enrolment(key)));
    await refused('Entry 1 of the audit log, which is about passkeys, was signed for another log.');
  });

  it('are not read from an entry without a first one that names the log', async () => {
    await writeLog();
    await table().deleteFrom('audit_log').where('seq', '=', 0).execute();
    await refused('was signed for another log');
  });

  describe('once they were read', () => {
    let log: string;
    beforeEach(async () => {
      log = await writeLog();
      await read();
    });

    it('are refused when the last entry about them is gone', async () => {
      await table().deleteFrom('audit_log').where('seq', '=', 2).execute();
      await refused('Entry 2 of the audit log, which is about passkeys, is missing or was changed.');
    });

    it('are refused when another entry was written in the place of one, hash included', async () => {
      const { body, hash } = prepareEntry(about(order({ action: 'mode', mode: 'off' }, key, { log })));
      await table().updateTable('audit_log').set({ body, hash }).where('seq', '=', 2).execute();
      await refused('Entry 2 of the audit log, which is about passkeys, is missing or was changed.');
    });

    it('are refused when an entry was moved', async () => {
      await table().updateTable('audit_log').set({ seq: 7 }).where('seq', '=', 2).execute();
      await refused('Entry 2 of the audit log, which is about passkeys, is missing or was changed.');
    });

    it('are refused when an entry is gone that another query saw while this one was slow', async () => {
      let release = () => {};
      const released = new Promise<void>((done) => {
        release = done;
      });
      // A snapshot from before the newest entry, which arrives after it was read elsewhere.
      const older: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          await released;
          return { ...result, rows: result.rows.filter(({ seq }) => seq !== 3) };
        },
      };
      // On a connection of its own: a plugin holds its connection until it answers.
      const { db } = await store.again();
      const slow = readKeysInForce(store.database, db.withPlugin(older));
      await append(about(order({ action: 'mode', mode: 'off' }, key, { log })));
      expect((await read()).keys.mode).toBe('off');
      release();
      expect((await slow).keys.mode).toBe('always');
      await table().deleteFrom('audit_log').where('seq', '=', 3).execute();
      await refused('Entry 3 of the audit log, which is about passkeys, is missing or was changed.');
    });
  });

  describe('and the entry of a signature', () => {
    const entry = (extra: JsonObject = signature(['c'.repeat(64)], key)): EntryInput => ({
      kind: 'signature',
      at: AT,
      extra,
    });
    const find = (hash: string) => findSignature(store.database.db, 'sqlite', hash);

    it('is found by its hash', async () => {
      const [first = '', second = ''] = await append(entry(), entry());
      expect(await find(second)).toMatchObject({ kind: 'signature', at: AT });
      expect(await find(second)).not.toEqual(await find(first));
      expect(await find('0'.repeat(64))).toBeUndefined();
    });

    it('is not found when it was changed or only mentions signatures', async () => {
      const [changed = '', other = ''] = await append(entry(), {
        kind: 'config',
        at: AT,
        extra: { kind: 'signature' },
      });
      const { body } = prepareEntry(entry());
      await table().updateTable('audit_log').set({ body }).where('hash', '=', changed).execute();
      expect(await find(changed)).toBeUndefined();
      expect(await find(other)).toBeUndefined();
    });

    it('says which size of the log it witnesses, as do orders and enrolments', async () => {
      const head = (size: number) => ({ head: { size, root: 'b'.repeat(64) } });
      await append(
        { kind: 'config', at: AT },
        about(enrolment(key, undefined, head(1))),
        about({ action: 'reset' }),
        about({ statement: { head: { size: '3' } } }),
        entry(signature(['c'.repeat(64)], key, head(4))),
        entry({ statement: null }),
      );
      await table()
        .updateTable('audit_log')
        .set({ body: 'not JSON, but "kind":"passkey"' })
        .where('seq', '=', 2)
        .execute();
      expect(await readHeads(store.database.db, 'sqlite')).toEqual([1, 4]);
    });
  });
});

describe('the lock on keys', () => {
  const queries: string[] = [];
  const database = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => {
      queries.push(query.sql);
    },
  });
  beforeEach(() => {
    queries.length = 0;
  });

  it('is shared by readers and exclusive for a change', async () => {
    await lockKeys(database, 'postgres', 'read');
    await lockKeys(database, 'postgres', 'change');
    expect(queries).toEqual(['select pg_advisory_xact_lock_shared($1)', 'select pg_advisory_xact_lock($1)']);
  });

  it('is the transaction itself on SQLite', async () => {
    await lockKeys(database, 'sqlite', 'read');
    await lockKeys(database, 'sqlite', 'change');
    expect(queries).toEqual([]);
  });
});
