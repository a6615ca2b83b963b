import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { verifyLog } from '../verify/verify.ts';
import { KeyFile } from './key-file.ts';
import { describeKeyMismatch, findKeyMismatch } from './key-mismatch.ts';
import { ORIGIN, Signer, signingKeys } from './signer.ts';

describe.each(ENGINES)('a signing key next to a log on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  const found = () => findKeyMismatch(store.database, store.dataDir);
  const keyPath = () => join(store.dataDir, 'audit-key.pem');
  const signedLog = async (): Promise<LogScribe> => {
    const scribe = await LogScribe.open(store.database, store.dataDir);
    await scribe.read('a');
    await scribe.checkpoint();
    return scribe;
  };
  /** A key that was made elsewhere. */
  const bringKey = (): void => {
    rmSync(keyPath(), { force: true });
    new KeyFile(store.dataDir).readOrCreate();
  };

  it('need not be there', async () => {
    expect(await found()).toBeUndefined();
    await signedLog();
    rmSync(keyPath());
    expect(await found()).toBeUndefined();
  });

  it('belongs to the log it was made for, before and after it signed and through rotations', async () => {
    const scribe = await LogScribe.open(store.database, store.dataDir);
    expect(await found()).toBeUndefined();
    await scribe.read('a');
    expect(await found()).toBeUndefined();
    await scribe.checkpoint();
    expect(await found()).toBeUndefined();
    const before = readFileSync(keyPath());
    await scribe.signer.rotate(scribe.now());
    expect(await found()).toBeUndefined();
    // Cut short after its commit.
    renameSync(keyPath(), join(store.dataDir, 'audit-key.next.pem'));
    writeFileSync(keyPath(), before);
    expect(await found()).toBeUndefined();
  });

  it('belongs to another log when only others signed this one', async () => {
    await signedLog();
    bringKey();
    expect(await found()).toBe('other');
  });

  it('belongs to another log when this one is empty, or has never had a key', async () => {
    bringKey();
    expect(await found()).toBe('empty');
    const elsewhere = await openTestStore('sqlite');
    const scribe = await LogScribe.open(store.database, elsewhere.dataDir);
    await scribe.read('a');
    await store.database.db.deleteFrom('settings').execute();
    await elsewhere.close();
    expect(await found()).toBe('other');
  });

  it('is not checked when it cannot be read', async () => {
    await signedLog();
    writeFileSync(keyPath(), 'not a key');
    expect(await found()).toBeUndefined();
  });

  it('is named in the log as soon as it is made next to others', async () => {
    await signedLog();
    rmSync(keyPath());
    const { key } = await Signer.open(store.database, store.dataDir);
    expect((await signingKeys(store.database)).map(({ text }) => text)).toContain(key.text);
    expect(await found()).toBeUndefined();
    expect((await verifyLog(store.database)).problems).toEqual([]);
  });

  it('belongs to another log when the database has no tables yet', async () => {
    bringKey();
    await sql`drop table settings`.execute(store.database.db);
    expect(await found()).toBe('empty');
  });

  it('belongs to its log in whatever order the settings are stored', async () => {
    await signedLog();
    const { db } = store.database;
    const origin = await db
      .selectFrom('settings')
      .selectAll()
      .where('key', '=', ORIGIN)
      .executeTakeFirstOrThrow();
    await db.deleteFrom('settings').where('key', '=', ORIGIN).execute();
    await db.insertInto('settings').values(origin).execute();
    expect(await found()).toBeUndefined();
  });
});

describe('what is said about a key of another log', () => {
  it('names the reason and how to correct it', () => {
    expect(describeKeyMismatch('empty')).toMatch(/^The audit log is empty, .* restore a backup; otherwise/);
    expect(describeKeyMismatch('other')).toMatch(
      /has never signed this audit log\. .* correct storage\.url\./,
    );
  });
});
