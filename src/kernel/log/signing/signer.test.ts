import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import { checkProof } from '../proof/check.ts';
import { proveCall } from '../proof/prove.ts';
import { verifyLog } from '../verify/verify.ts';
import { latestCheckpoint, parseCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { CheckpointWriter } from './checkpoint-writer.ts';
import { openNote } from './note.ts';
import { Signer, signingKeys } from './signer.ts';

describe.each(ENGINES)('signing on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const keyPath = () => join(store.dataDir, 'audit-key.pem');
  const nextPath = () => join(store.dataDir, 'audit-key.next.pem');
  const checkpoints = () =>
    store.database.db.selectFrom('audit_checkpoints').selectAll().orderBy('size').execute();

  it('makes one key for its owner only, and the same one for everybody who opens the store', async () => {
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
    const others = await Promise.all([1, 2, 3].map(() => Signer.open(store.database, store.dataDir)));
    for (const other of others) expect(other.key.text).toBe(scribe.signer.key.text);
  });

  it('writes a checkpoint in the form of a signed note: origin, size, root, time', async () => {
    await scribe.read('a');
    const written = await scribe.checkpoint();
    const opened = openNote(written?.note ?? '', [scribe.signer.key]);
    const told = opened.ok ? parseCheckpoint(opened.text) : undefined;
    const report = await verifyLog(store.database);
    expect(told).toMatchObject({ origin: scribe.signer.key.name, size: 2, root: report.root });
    expect(written?.note.split('\n')[1]).toBe('2');
  });

  it('remembers the first key too, so that its checkpoints can be proven from', async () => {
    await scribe.read('a');
    await scribe.checkpoint();
    expect((await signingKeys(store.database)).map(({ text }) => text)).toEqual([scribe.signer.key.text]);
    expect(checkProof(await proveCall(store.database, scribe.signer, 'a')).ok).toBe(true);
  });

  it('writes none for an empty log and no second one when nothing was added', async () => {
    expect(await scribe.checkpoint()).toBeUndefined();
    await scribe.read('a');
    const first = await scribe.checkpoint();
    expect(await scribe.checkpoint()).toEqual(first);
    expect(await checkpoints()).toHaveLength(1);
  });

  it('lets the old key vouch for the new one and retires it', async () => {
    await scribe.read('a');
    const { retired, key } = await scribe.signer.rotate(scribe.now());
    expect(key.text).not.toBe(retired.text);
    await scribe.read('b');
    await scribe.checkpoint();
    const report = await verifyLog(store.database, { publicKeys: [retired.text] });
    expect(report.problems).toEqual([]);
    expect(report.keys).toEqual([
      { key: retired.text, trust: 'given', retired: true },
      { key: key.text, trust: 'endorsed', retired: false },
    ]);
    expect((await signingKeys(store.database)).map(({ text }) => text).sort()).toEqual(
      [retired.text, key.text].sort(),
    );
  });

  it('follows a rotation that another process made', async () => {
    await scribe.read('a');
    const other = await Signer.open(store.database, store.dataDir);
    const { key } = await other.rotate(scribe.now());
    await scribe.read('b');
    await scribe.checkpoint();
    expect(scribe.signer.key.text).toBe(key.text);
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, problems: [] });
  });

  it('finishes a rotation that was cut short after its commit', async () => {
    await scribe.read('a');
    const before = readFileSync(keyPath());
    const { key } = await scribe.signer.rotate(scribe.now());
    renameSync(keyPath(), nextPath());
    writeFileSync(keyPath(), before, { mode: 0o600 });
    const reopened = await Signer.open(store.database, store.dataDir);
    expect(reopened.key.text).toBe(key.text);
    expect(existsSync(nextPath())).toBe(false);
  });

  it('forgets a rotation that was cut short before its commit', async () => {
    await scribe.read('a');
    await scribe.checkpoint();
    writeFileSync(nextPath(), readFileSync(keyPath()), { mode: 0o600 });
    rmSync(nextPath());
    const stray = await openTestStore('sqlite');
    await LogScribe.open(stray.database, stray.dataDir);
    writeFileSync(nextPath(), readFileSync(join(stray.dataDir, 'audit-key.pem')), { mode: 0o600 });
    await stray.close();
    const reopened = await Signer.open(store.database, store.dataDir);
    expect(reopened.key.text).toBe(scribe.signer.key.text);
    expect(existsSync(nextPath())).toBe(false);
  });

  it('refuses to sign with a retired key that was put back', async () => {
    await scribe.read('a');
    const before = readFileSync(keyPath());
    await scribe.signer.rotate(scribe.now());
    writeFileSync(keyPath(), before);
    await scribe.read('b');
    const reopened = await Signer.open(store.database, store.dataDir);
    await expect(writeCheckpoint(store.database, reopened)).rejects.toThrow(/was retired/);
  });

  it('says what to do when the key file is damaged', async () => {
    writeFileSync(keyPath(), 'not a key');
    await expect(Signer.open(store.database, store.dataDir)).rejects.toThrow(/is unreadable. Restore it/);
  });

  it('signs when the log grew, at the end, and not in between when nothing happened', async () => {
    const logged: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => logged.push(message) };
    const writer = new CheckpointWriter({
      database: store.database,
      dataDir: store.dataDir,
      log,
      intervalMs: 5,
    });
    writer.start();
    await scribe.read('a');
    await expect.poll(() => checkpoints(), { timeout: 20_000 }).not.toHaveLength(0);
    await writer.writeIfGrown();
    const settled = await checkpoints();
    await writer.writeIfGrown();
    expect(await checkpoints()).toEqual(settled);
    await writer.close();
    await scribe.read('b');
    await writer.close();
    const last = await latestCheckpoint(store.database);
    const head = await store.database.db.selectFrom('audit_head').select('size').executeTakeFirst();
    expect(last?.size).toBe(head?.size);
    expect(logged).toEqual([]);
  });

  it('keeps a failure to itself and to the log', async () => {
    const logged: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => logged.push(message) };
    await scribe.read('a');
    writeFileSync(keyPath(), 'not a key');
    const writer = new CheckpointWriter({
      database: store.database,
      dataDir: store.dataDir,
      log,
      intervalMs: 1000,
    });
    await writer.close();
    expect(logged).toEqual(['The audit checkpoint could not be written']);
  });
});
