import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../../test/support/engines.ts';
import { type Frontier, leafHash, rootOf } from '../../lib/merkle.ts';
import type { Database } from '../store/database.ts';
import { artifactId, prepareEntry } from './entry.ts';
import { appendEntries, lockHead } from './log.ts';
import { verifyLog } from './verify/verify.ts';

const entry = (call: string) =>
  prepareEntry({ kind: 'read', at: '2026-01-01T00:00:00.000Z', call, status: 'ok' });

describe('an entry', () => {
  it('is canonical, leaves out what has no value, and its hash is the leaf hash of its body', () => {
    const { body, hash } = prepareEntry({ kind: 'read', at: 'now', status: 'ok', call: 'c', run: undefined });
    expect(body).toBe('{"at":"now","call":"c","kind":"read","status":"ok","v":1}');
    expect(hash).toBe(leafHash(body));
  });

  it('names artifacts by id alone or with what they are, and nothing else about them', () => {
    const whole = { id: 'sha256:b', name: 'b.txt', mediaType: 'text/plain', size: 1 };
    const artifacts = ['sha256:a', { ...whole, path: '/home/ada/b.txt' }];
    const { body } = prepareEntry({ kind: 'outcome', at: 'now', artifacts });
    expect(JSON.parse(body)).toEqual({
      kind: 'outcome',
      at: 'now',
      v: 1,
      artifacts: ['sha256:a', whole],
    });
    expect(artifacts.map(artifactId)).toEqual(['sha256:a', 'sha256:b']);
  });
});

describe.each(ENGINES)('appending on %s', (engine) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore(engine);
  });
  afterEach(() => store.close());

  const append = (database: Database, calls: readonly string[]) =>
    database.write((trx) => appendEntries(trx, database.engine, calls.map(entry)));

  it('makes the same log whether entries come one by one or in groups', async () => {
    const calls = Array.from({ length: 333 }, (_, index) => `call-${index}`);
    const other = await openTestStore('sqlite');
    for (const call of calls) await append(other.database, [call]);
    await append(store.database, calls.slice(0, 150));
    await append(store.database, []);
    await append(store.database, calls.slice(150));
    const heads = await Promise.all(
      [store, other].map(({ database }) => database.db.selectFrom('audit_head').selectAll().execute()),
    );
    await other.close();
    expect(heads[0]).toEqual(heads[1]);
    expect(heads[0]?.[0]?.size).toBe(333);
    const root = rootOf(JSON.parse(heads[0]?.[0]?.frontier ?? '[]') as Frontier);
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, size: 333, root });
  });

  it('stores the complete subtrees of 256 entries and more, and no smaller ones', async () => {
    await append(
      store.database,
      Array.from({ length: 600 }, (_, index) => `call-${index}`),
    );
    const nodes = await store.database.db
      .selectFrom('audit_nodes')
      .select(['level', 'idx'])
      .orderBy('level')
      .orderBy('idx')
      .execute();
    expect(nodes).toEqual([
      { level: 8, idx: 0 },
      { level: 8, idx: 1 },
      { level: 9, idx: 0 },
    ]);
  });

  it('reads the head for a writer that locks it, and refuses a log without one', async () => {
    await append(store.database, ['a', 'b', 'c']);
    const head = await store.database.write((trx) => lockHead(trx, engine));
    expect(head.size).toBe(3);
    expect(rootOf(head.frontier)).toBe((await verifyLog(store.database)).root);
    await store.database.db.deleteFrom('audit_head').execute();
    await append(store.database, []);
    await expect(append(store.database, ['d'])).rejects.toThrow('no head row');
    expect(await store.database.db.selectFrom('audit_log').select('seq').execute()).toHaveLength(3);
  });

  it('stores the call, run, kind and time of an entry next to its body', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const made = prepareEntry({ kind: 'read', at, call: 'c', run: 'r' });
    await store.database.write((trx) => appendEntries(trx, engine, [made]));
    const [row] = await store.database.db.selectFrom('audit_log').selectAll().execute();
    const { hash, body } = made;
    expect(row).toEqual({ seq: 0, hash, body, call_id: 'c', run_id: 'r', kind: 'read', at });
  });

  it('leaves nothing behind when the transaction fails', async () => {
    await append(store.database, ['kept']);
    const failing = store.database.write(async (trx) => {
      await appendEntries(trx, engine, [entry('lost')]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await append(store.database, ['next']);
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, size: 2 });
  });

  it('loses nothing and stays one log when several append simultaneously', async () => {
    // SQLite blocks its whole process while it waits for a lock, so there the writers share a connection.
    const writers = Array.from({ length: 4 }, () => (engine === 'postgres' ? store.again() : store.database));
    await Promise.all(
      writers.map(async (opening, writer) => {
        const database = await opening;
        for (let n = 0; n < 25; n += 1) await append(database, [`${writer}-${n}-a`, `${writer}-${n}-b`]);
      }),
    );
    expect(await verifyLog(store.database)).toMatchObject({ ok: true, problems: [], size: 200 });
  });
});
