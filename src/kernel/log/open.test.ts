import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, freshPostgres, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { LogScribe, writeSampleLog } from '../../../test/support/sample-log.ts';
import { openStorageReadOnly } from '../../storage/open.ts';
import { openLog } from './open.ts';
import { createAuditPort } from './port.ts';
import { CheckpointWriter } from './signing/checkpoint-writer.ts';
import { KeyFile } from './signing/key-file.ts';
import { verifyLog } from './verify/verify.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('a reader of the log', () => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    scribe = await LogScribe.open(store.database, store.dataDir);
    await writeSampleLog(scribe);
    await scribe.checkpoint();
  });
  afterEach(() => store.close());

  const open = () => openLog(store.database, store.dataDir);

  it('verifies the rows of calls as well as the entries', async () => {
    expect((await verifyLog(store.database)).ok).toBe(true);
    const report = await (await open()).verify({});
    expect(report.ok).toBe(false);
    expect(JSON.stringify(report.problems)).toContain('its row is missing');
  });

  it('verifies the files of artifacts', async () => {
    const log = await open();
    const { id } = await scribe.artifacts.write('fix.patch', 'text/x-diff', 'diff --git a/a b/a\n');
    writeFileSync(join(store.dataDir, 'artifacts', id.slice(7, 9), id.slice(9)), 'something else');
    expect(JSON.stringify((await log.verify({})).problems)).toContain(id);
  });

  it('passes on what the caller wants to have verified', async () => {
    await expect((await open()).verify({ publicKeys: ['nonsense'] })).rejects.toThrow('not a public key');
  });

  it('proves calls, exports runs and lists entries, from the position asked for', async () => {
    const log = await open();
    expect(await log.prove('call-b')).toMatchObject({ call: 'call-b', entries: [{ seq: 1 }, { seq: 2 }] });
    expect(await log.prove('unknown')).toBeUndefined();
    const bundle = await log.exportRun('run-1');
    expect(bundle).toMatchObject({ run: 'run-1', statements: [] });
    expect(Object.keys(bundle?.artifacts ?? {})).toHaveLength(2);
    expect(await log.exportRun('unknown')).toBeUndefined();
    await expect(log.receipt('unknown')).resolves.toBeUndefined();
    const last = (await verifyLog(store.database)).size - 1;
    const seen: number[] = [];
    for await (const { seq } of log.entries({ after: last - 2 })) seen.push(seq);
    expect(seen).toEqual([last - 1, last]);
  });

  it('counts the entries, and notices a key that never signed them', async () => {
    const log = await open();
    expect(await log.size()).toBe((await verifyLog(store.database)).size);
    expect(await log.keyMismatch()).toBeUndefined();
    rmSync(join(store.dataDir, 'audit-key.pem'));
    new KeyFile(store.dataDir).readOrCreate();
    expect(await log.keyMismatch()).toBe('other');
    const empty = await openTestStore('sqlite');
    expect(await (await openLog(empty.database, empty.dataDir)).size()).toBe(0);
    await empty.close();
  });

  it('gives agents the newest checkpoint, and a proof of what was flushed', async () => {
    let flushes = 0;
    const { database, dataDir } = store;
    const writer = new CheckpointWriter({ database, dataDir, log: quiet, intervalMs: 60_000 });
    const port = createAuditPort(database, writer, async () => {
      flushes += 1;
      if (flushes === 1) await scribe.read('call-late');
    });
    expect(await port.proof('call-late')).toMatchObject({ call: 'call-late' });
    expect(await port.proof('unknown')).toBeUndefined();
    expect(await port.differences('call-late')).toEqual(['has entries, but its row is missing']);
    expect(await port.differences('unknown')).toEqual([]);
    expect(flushes).toBe(4);
    const { note } = await database.db
      .selectFrom('audit_checkpoints')
      .select('note')
      .orderBy('size', 'desc')
      .executeTakeFirstOrThrow();
    expect(await port.checkpoint()).toBe(note);
  });

  it('has no checkpoint to give before the first was signed', async () => {
    const { database, dataDir } = store;
    await database.db.deleteFrom('audit_checkpoints').execute();
    const writer = new CheckpointWriter({ database, dataDir, log: quiet, intervalMs: 60_000 });
    expect(await createAuditPort(database, writer, async () => {}).checkpoint()).toBeUndefined();
  });
});

describe.each(ENGINES)('a database without a log on %s', (engine) => {
  it('is not taken for an intact log without entries', async () => {
    const store = await openTestStore('sqlite');
    const file = join(store.dataDir, 'empty.db');
    writeFileSync(file, '');
    const url = engine === 'postgres' ? await freshPostgres({ empty: true }) : file;
    const database = await openStorageReadOnly({ url });
    await expect(openLog(database, store.dataDir)).rejects.toThrow('has no audit log');
    await database.close();
    await store.close();
  });
});
