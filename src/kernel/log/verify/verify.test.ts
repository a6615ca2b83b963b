import { generateKeyPairSync, sign } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe, writeSampleLog } from '../../../../test/support/sample-log.ts';
import { appendLeaf, type Frontier } from '../../../lib/merkle.ts';
import { prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { latestCheckpoint } from '../signing/checkpoint.ts';
import { noteKey, signNote } from '../signing/note.ts';
import { verifyLog } from './verify.ts';

describe.each(ENGINES)('verify on %s', (engine) => {
  let store: TestStore;
  let scribe: LogScribe;
  beforeEach(async () => {
    store = await openTestStore(engine);
    scribe = await LogScribe.open(store.database, store.dataDir);
  });
  afterEach(() => store.close());

  const verify = (more = {}) => verifyLog(store.database, { artifacts: scribe.artifacts, ...more });
  const checkpoint = async () => (await latestCheckpoint(store.database))?.note ?? '';

  /** What an intruder with the database does who knows how the log works: cut it and leave it consistent. */
  async function cutTo(size: number): Promise<void> {
    const { db } = store.database;
    const rows = await db
      .selectFrom('audit_log')
      .select('hash')
      .where('seq', '<', size)
      .orderBy('seq')
      .execute();
    const frontier: Frontier = [];
    const nodes = rows.flatMap(({ hash }, seq) => appendLeaf(frontier, seq, hash));
    await db.deleteFrom('audit_log').where('seq', '>=', size).execute();
    await db.deleteFrom('audit_nodes').execute();
    if (nodes.length > 0) await db.insertInto('audit_nodes').values(nodes).execute();
    await db
      .updateTable('audit_head')
      .set({ size, frontier: JSON.stringify(frontier) })
      .execute();
    const kept = db.selectFrom('audit_log').select('call_id').where('call_id', 'is not', null);
    await db.deleteFrom('audit_payloads').where('call_id', 'not in', kept).execute();
  }

  it('finds nothing wrong with a log that has something of everything in it', async () => {
    await writeSampleLog(scribe);
    const report = await verify();
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({
      ok: true,
      size: 17,
      unsigned: 1,
      checkpoints: { verified: 4, lastSize: 16 },
      payloads: { verified: 12, unkept: 3, erased: 0 },
      artifacts: { verified: 2, erased: 0 },
      openIntents: 0,
    });
    expect(report.keys.map(({ trust, retired }) => ({ trust, retired }))).toEqual([
      { trust: 'recorded', retired: true },
      { trust: 'recorded', retired: false },
    ]);
  });

  it('finds nothing wrong with an empty log', async () => {
    expect(await verify()).toMatchObject({ ok: true, size: 0 });
  });

  it('finds nothing wrong while others append', async () => {
    await writeSampleLog(scribe);
    const other = await LogScribe.open(await store.again(), store.dataDir);
    const growing = (async () => {
      for (let n = 0; n < 20; n += 1) {
        await other.change(`busy-${n}`);
        await other.checkpoint();
      }
    })();
    for (let n = 0; n < 10; n += 1) expect((await verify()).problems).toEqual([]);
    await growing;
    expect(await verify()).toMatchObject({ ok: true, size: 57 });
  });

  it('names the missing entry when one was removed', async () => {
    await writeSampleLog(scribe);
    await store.database.db.deleteFrom('audit_log').where('seq', '=', 6).execute();
    expect((await verify()).first).toMatchObject({
      code: 'missing',
      seq: 6,
      message: 'Entry 6 is missing from the log.',
    });
  });

  it('names the range when two entries were swapped', async () => {
    await writeSampleLog(scribe);
    const { db } = store.database;
    for (const [from, to] of [
      [7, 100],
      [13, 7],
      [100, 13],
    ] as const) {
      await db.updateTable('audit_log').set({ seq: to }).where('seq', '=', from).execute();
    }
    const { first } = await verify();
    expect(first).toMatchObject({ code: 'checkpoint', seq: 5 });
    expect(first?.message).toContain('entries 5 to 10 are not what was signed');
  });

  it('sees by a stored checkpoint that the tail was cut and the head adjusted', async () => {
    await writeSampleLog(scribe);
    await cutTo(14);
    const { first } = await verify();
    expect(first).toMatchObject({ code: 'truncated', seq: 14 });
    expect(first?.message).toContain('the last 2 were removed');
  });

  it('sees by a checkpoint kept elsewhere that the tail was cut together with its checkpoints', async () => {
    await writeSampleLog(scribe);
    const kept = await checkpoint();
    await cutTo(14);
    await store.database.db.deleteFrom('audit_checkpoints').where('size', '>', 14).execute();
    expect(await verify()).toMatchObject({ ok: true });
    expect((await verify({ expectCheckpoints: [kept] })).first).toMatchObject({ code: 'truncated', seq: 14 });
  });

  it('sees by a checkpoint kept elsewhere that the log was cut and written on differently', async () => {
    await writeSampleLog(scribe);
    const kept = await checkpoint();
    await cutTo(14);
    await store.database.db.deleteFrom('audit_checkpoints').where('size', '>', 14).execute();
    for (const call of ['other-1', 'other-2', 'other-3']) await scribe.read(call);
    expect(await verify()).toMatchObject({ ok: true, size: 17 });
    const { first } = await verify({ expectCheckpoints: [kept] });
    expect(first).toMatchObject({ code: 'checkpoint', seq: 12 });
    expect(first?.message).toContain('entries 12 to 15 are not what was signed');
  });

  it('refuses a checkpoint kept elsewhere that belongs to another log', async () => {
    await writeSampleLog(scribe);
    const other = await openTestStore('sqlite');
    const foreign = await LogScribe.open(other.database, other.dataDir);
    await writeSampleLog(foreign);
    const note = (await latestCheckpoint(other.database))?.note ?? '';
    await other.close();
    const report = await verify({ expectCheckpoints: [note] });
    expect(report.first).toMatchObject({ code: 'checkpoint' });
    expect(report.first?.message).toContain('not signed by a known key');
  });

  it('names a checkpoint that was replaced by one of another size', async () => {
    await writeSampleLog(scribe);
    const { db } = store.database;
    const early = await db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('size', '=', 5)
      .executeTakeFirstOrThrow();
    await db.updateTable('audit_checkpoints').set({ note: early.note }).where('size', '=', 16).execute();
    const { problems } = await verify();
    expect(problems[0]).toMatchObject({ code: 'checkpoint', seq: 15 });
    expect(problems[0]?.message).toContain('The checkpoint at size 16');
  });

  it('names a checkpoint that a stranger signed with a key of the same name', async () => {
    await writeSampleLog(scribe);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key = noteKey(scribe.signer.key.name, publicKey);
    const { db } = store.database;
    const row = await db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('size', '=', 16)
      .executeTakeFirstOrThrow();
    const text = row.note.slice(0, row.note.lastIndexOf('\n\n') + 1);
    const note = signNote(text, { key, sign: (message) => sign(null, message, privateKey) });
    await db.updateTable('audit_checkpoints').set({ note }).where('size', '=', 16).execute();
    const { first } = await verify();
    expect(first).toMatchObject({ code: 'checkpoint', seq: 15 });
    expect(first?.message).toContain('not signed by a known key');
  });

  it('notices a new key that took over without the old one vouching for it, when the old key is given', async () => {
    await writeSampleLog(scribe);
    const trusted = scribe.signer.key.text;
    expect(await verify({ publicKeys: [trusted] })).toMatchObject({ ok: true });
    rmSync(join(store.dataDir, 'audit-key.pem'));
    const swapped = await LogScribe.open(store.database, store.dataDir);
    await swapped.read('after the swap');
    await swapped.checkpoint();
    expect(await verify()).toMatchObject({ ok: true });
    const { first } = await verify({ publicKeys: [trusted] });
    expect(first).toMatchObject({ code: 'key', seq: 17 });
    expect(first?.message).toContain('not one of the given keys');
  });

  it('believes a successor that the given key vouched for, and everything a later given key covers', async () => {
    const first = scribe.signer.key.text;
    await writeSampleLog(scribe);
    const second = scribe.signer.key.text;
    expect(first).not.toBe(second);
    expect((await verify({ publicKeys: [first] })).problems).toEqual([]);
    expect((await verify({ publicKeys: [second] })).problems).toEqual([]);
  });

  it('refuses a signature of a retired key', async () => {
    const old = await LogScribe.open(store.database, store.dataDir);
    const oldKey = old.signer.key;
    const oldSign = old.signer.sign.bind(old.signer);
    await writeSampleLog(scribe);
    const { db } = store.database;
    const row = await db
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('size', '=', 16)
      .executeTakeFirstOrThrow();
    const text = row.note.slice(0, row.note.lastIndexOf('\n\n') + 1);
    const note = signNote(text, { key: oldKey, sign: oldSign });
    await db.updateTable('audit_checkpoints').set({ note }).where('size', '=', 16).execute();
    expect((await verify()).first?.message).toContain(
      'The checkpoint at size 16 is not signed by a known key',
    );
  });

  it('misses the checkpoint that belongs to a key the log announces', async () => {
    await writeSampleLog(scribe);
    await store.database.db.deleteFrom('audit_checkpoints').execute();
    expect((await verify()).first).toMatchObject({ code: 'checkpoint', seq: 4 });
  });

  it('names the artifact whose file was changed or removed', async () => {
    await writeSampleLog(scribe);
    const { id } = await scribe.artifacts.write('x', 'text/plain', 'all tests passed\n');
    await scribe.artifacts.remove(id);
    const { first } = await verify();
    expect(first).toMatchObject({ code: 'artifact', seq: 10 });
    expect(first?.message).toContain(`${id} has lost its file`);
  });

  it('names a payload whose body was removed, and one that no entry refers to', async () => {
    await writeSampleLog(scribe);
    const { db } = store.database;
    await db
      .insertInto('audit_payloads')
      .values({
        call_id: 'ghost',
        kind: 'args',
        hash: 'sha256:0',
        salt: '',
        body: '{}',
        at: 'now',
        erased_at: null,
      })
      .execute();
    expect((await verify()).first?.message).toContain('the args of call ghost');
    await db
      .updateTable('audit_payloads')
      .set({ body: null })
      .where('call_id', '=', 'call-b')
      .where('kind', '=', 'args')
      .execute();
    const { first } = await verify();
    expect(first).toMatchObject({ code: 'payload', seq: 1 });
    expect(first?.message).toContain('missing without an erasure');
  });

  it('names a checkpoint that the key of this log signed in the name of another', async () => {
    await writeSampleLog(scribe);
    const [text = ''] = (await checkpoint()).split('\n\n');
    const note = signNote(`${text.replace(/^[^\n]+/, 'another/log')}\n`, scribe.signer);
    expect((await verify({ expectCheckpoints: [note] })).first?.message).toMatch(/is for another\/log, but/);
  });

  it('stops on request', async () => {
    await writeSampleLog(scribe);
    await expect(verify({ signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });

  it('names a gap once, with its first and last entry, however many pages it spans', async () => {
    for (let n = 0; n < 12; n += 1) {
      const entries = Array.from({ length: 100 }, (_, index) =>
        prepareEntry({
          kind: 'config',
          at: new Date(n * 100_000 + index).toISOString(),
          principal: 'person:ada',
        }),
      );
      await store.database.write((trx) => appendEntries(trx, engine, entries));
    }
    const { db } = store.database;
    await db.deleteFrom('audit_log').where('seq', '>=', 200).where('seq', '<', 1100).execute();
    const report = await verify();
    expect(report.problems.filter(({ code }) => code === 'missing')).toEqual([
      { code: 'missing', seq: 200, to: 1099, message: 'Entries 200 to 1099 are missing from the log.' },
    ]);
  });

  it('limits a wrong head to the entries under the peak that differs', async () => {
    for (const call of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await scribe.read(call);
    const { db } = store.database;
    const { frontier } = await db.selectFrom('audit_head').select('frontier').executeTakeFirstOrThrow();
    const peaks = JSON.parse(frontier) as string[];
    peaks[1] = `${peaks[1]?.slice(0, -1)}x`;
    await db
      .updateTable('audit_head')
      .set({ frontier: JSON.stringify(peaks) })
      .execute();
    expect((await verify()).first).toMatchObject({ code: 'head', seq: 4, to: 5 });
  });

  it('mentions entries that are dated before earlier ones, and calls the log intact', async () => {
    await scribe.read('a');
    await scribe.read('b');
    const entry = prepareEntry({
      kind: 'config',
      at: '2025-12-31T00:00:00.000Z',
      principal: 'person:ada',
    });
    await store.database.write((trx) => appendEntries(trx, engine, [entry]));
    expect(await verify()).toMatchObject({
      ok: true,
      backwards: { count: 1, first: { seq: 2, at: '2025-12-31T00:00:00.000Z' } },
    });
  });
});
