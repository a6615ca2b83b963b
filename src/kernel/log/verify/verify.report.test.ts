import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { LogScribe } from '../../../../test/support/sample-log.ts';
import type { Database } from '../../store/database.ts';
import { ArtifactStore } from '../artifacts.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { erasePayloads } from '../erase.ts';
import { appendEntries } from '../log.ts';
import { CHUNK } from './chunks.ts';
import { verifyLog } from './verify.ts';

const AT = '2026-01-01T00:00:00.000Z';

describe('the report of verify', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
  });
  afterEach(() => store.close());

  const append = (count: number, input: Partial<EntryInput> = {}) => {
    const entry = prepareEntry({ kind: 'config', at: AT, principal: 'person:ada', ...input });
    return store.database.write((trx) => appendEntries(trx, 'sqlite', Array(count).fill(entry)));
  };
  const db = () => store.database.db;
  const remove = (from: number, to: number) =>
    db().deleteFrom('audit_log').where('seq', '>=', from).where('seq', '<=', to).execute();
  const messages = async (options = {}, database = store.database) =>
    (await verifyLog(database, options)).problems.map(({ message }) => message);

  /** The store, with statements that fail: by their number among those that are written as text, or by table. */
  function failing(
    code: string,
    which: { readonly statements?: number[]; readonly first?: string; readonly table?: string },
  ): Database {
    const { statements = [], table } = which;
    let count = 0;
    let waits = which.first;
    const broken = (): never => {
      throw Object.assign(new Error('broken'), { code });
    };
    const target = db();
    const watched = new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'getExecutor') {
            count += 1;
            if (statements.includes(count)) broken();
          }
          if (name === 'selectFrom' && args[0] === waits) {
            waits = undefined;
            broken();
          }
          if (name === 'selectFrom' && args[0] === table) broken();
          return Reflect.apply(value, target, args);
        };
      },
    });
    return { ...store.database, engine: 'sqlite', db: watched };
  }

  it('says what there is of everything, and that it is in order', async () => {
    await append(3);
    expect(await verifyLog(store.database)).toEqual({
      ok: true,
      origin: undefined,
      size: 3,
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
      checkpoints: { verified: 0, lastSize: 0, lastAt: undefined },
      unsigned: 3,
      keys: [],
      passkeys: { signers: [], signatures: 0, resets: 0, mode: expect.any(String) },
      payloads: { verified: 0, unkept: 0, erased: 0 },
      artifacts: { verified: 0, erased: 0 },
      openIntents: 0,
      backwards: { count: 0, first: undefined },
      first: undefined,
      problems: [],
      more: 0,
    });
  });

  describe('on the head of the log', () => {
    beforeEach(() => append(3));
    const setHead = (size: number) => db().updateTable('audit_head').set({ size }).execute();

    it('says that it is missing', async () => {
      await db().deleteFrom('audit_head').execute();
      expect(await verifyLog(store.database)).toMatchObject({
        ok: false,
        problems: [{ code: 'head', seq: undefined, message: 'The head of the log is missing.' }],
      });
    });

    it('says that it counts more entries than there are', async () => {
      await setHead(5);
      const { problems } = await verifyLog(store.database);
      expect(problems).toEqual([
        {
          code: 'truncated',
          seq: 3,
          message:
            'The head counts 5 entries, but the log has 3: the end is missing or the head was changed.',
        },
      ]);
    });

    it('says that it counts fewer', async () => {
      await setHead(2);
      const { problems } = await verifyLog(store.database);
      expect(problems).toEqual([
        { code: 'head', seq: 2, message: 'The head counts 2 entries, but the log has 3.' },
      ]);
    });

    it('says that an entry comes before the first', async () => {
      await db().updateTable('audit_log').set({ seq: -1 }).where('seq', '=', 0).execute();
      const { problems } = await verifyLog(store.database);
      expect(problems).toContainEqual({
        code: 'columns',
        seq: -1,
        message: 'Entry -1 comes before the beginning of the log.',
      });
    });
  });

  describe('on a gap', () => {
    const missing = async () =>
      (await verifyLog(store.database)).problems
        .filter(({ code }) => code === 'missing')
        .map(({ seq, to }) => [seq, to]);

    it('names the entries of whole pages, and continues with the first that follows', async () => {
      await append(1_400);
      await remove(256, 800);
      await remove(1_000, 1_000);
      expect(await missing()).toEqual([
        [256, 800],
        [1_000, 1_000],
      ]);
    });

    it('names those of one page', async () => {
      await append(600);
      await remove(256, 511);
      expect(await missing()).toEqual([[256, 511]]);
    });
  });

  describe('on a damaged database', () => {
    const HEAD = 'The head of the log cannot be read: the database is damaged (broken).';

    it('continues when the head cannot be read', async () => {
      await append(3);
      const database = failing('SQLITE_CORRUPT', { statements: [1] });
      const report = await verifyLog(database);
      expect(report.size).toBe(3);
      expect(report.problems.map(({ message }) => message)).toEqual([HEAD]);
      expect((await verifyLog(failing('SQLITE_BUSY', {}))).ok).toBe(true);
      await expect(verifyLog(failing('SQLITE_BUSY', { statements: [1] }))).rejects.toThrow('broken');
    });

    it('continues when the head of an empty log cannot be read', async () => {
      const report = await verifyLog(failing('SQLITE_CORRUPT', { statements: [1] }));
      expect(report).toMatchObject({ ok: false, size: 0 });
    });

    it('ends when neither head nor end can be read', async () => {
      await append(3);
      const database = failing('SQLITE_CORRUPT', { statements: [1], first: 'audit_log' });
      const report = await verifyLog(database);
      expect(report.size).toBe(0);
      expect(report.problems.map(({ message }) => message)).toEqual([
        HEAD,
        'The end of the log cannot be read: the database is damaged (broken).',
      ]);
    });

    it('continues when the checkpoints cannot be read', async () => {
      await append(3);
      const report = await verifyLog(failing('SQLITE_CORRUPT', { table: 'audit_checkpoints' }));
      expect(report.size).toBe(3);
      expect(new Set(report.problems.map(({ message }) => message))).toEqual(
        new Set(['The checkpoints cannot be read: the database is damaged (broken).']),
      );
    });

    it('continues when the body of an entry cannot be read', async () => {
      await append(3);
      await db().updateTable('audit_log').set({ body: 'x' }).where('seq', '=', 1).execute();
      expect(await messages()).toEqual([expect.stringContaining('Entry 1 does not match its hash')]);
    });

    it('names the entries that cannot be read, and none of them as missing', async () => {
      await append(300);
      const report = await verifyLog(failing('SQLITE_CORRUPT', { statements: [2] }));
      expect(report.problems).toEqual([
        {
          code: 'store',
          seq: 0,
          to: 255,
          message: 'Entries 0 to 255 cannot be read: the database is damaged (broken).',
        },
      ]);
    });

    it('steps over a gap that follows entries that cannot be read', async () => {
      await append(1024);
      await remove(256, 767);
      const seen: number[] = [];
      const report = await verifyLog(failing('SQLITE_CORRUPT', { statements: [2] }), {
        onProgress: (done) => seen.push(done),
      });
      expect(seen).toEqual([768, 1024]);
      expect(report.problems.map(({ code, seq, to }) => [code, seq, to])).toEqual([
        ['store', 0, 255],
        ['missing', 256, 767],
      ]);
    });
  });

  describe('on a log of more than one chunk', () => {
    beforeEach(() => append(CHUNK + 256));
    const progress = async (database: Database) => {
      const seen: number[] = [];
      const report = await verifyLog(database, { onProgress: (done) => seen.push(done) });
      expect(report.problems).toEqual([]);
      return seen;
    };

    it('reads chunks in one piece, and page by page where one cannot be read', async () => {
      expect(await progress(store.database)).toEqual([CHUNK, CHUNK + 256]);
      const pages = Array.from({ length: 17 }, (_, page) => (page + 1) * 256);
      expect(await progress(failing('SQLITE_CORRUPT', { statements: [2] }))).toEqual(pages);
      await expect(verifyLog(failing('SQLITE_BUSY', { statements: [2] }))).rejects.toThrow('broken');
    });

    it('names a wrong node that the last page completes', async () => {
      await db()
        .updateTable('audit_nodes')
        .set({ hash: '0'.repeat(64) })
        .where('level', '=', 8)
        .where('idx', '=', 16)
        .execute();
      const { problems } = await verifyLog(store.database);
      expect(problems).toEqual([expect.objectContaining({ code: 'tree', seq: CHUNK, to: CHUNK + 255 })]);
    });
  });

  describe('on calls', () => {
    let scribe: LogScribe;
    beforeEach(async () => {
      scribe = await LogScribe.open(store.database, store.dataDir);
    });

    it('names one that ends twice', async () => {
      await scribe.read('a');
      await append(1, { kind: 'refusal', call: 'a', status: 'refused' });
      expect(await messages()).toEqual(['Call a ends 2 times in the log.']);
    });

    it('names a damaged payload without taking it for one too many', async () => {
      await scribe.read('a');
      await db().updateTable('audit_payloads').set({ salt: 'x' }).where('kind', '=', 'args').execute();
      expect(await messages()).toEqual([expect.stringContaining('Entry 0: the args payload of call a')]);
    });

    it('names a payload that no entry refers to, also of a call that has entries', async () => {
      await append(1, { kind: 'read', call: 'a', status: 'ok' });
      const row = { hash: 'sha256:0', salt: '', body: '{}', at: AT, erased_at: null };
      await db()
        .insertInto('audit_payloads')
        .values({ ...row, call_id: 'a', kind: 'args' })
        .execute();
      expect(await messages()).toEqual(['No entry refers to these payloads: at least one payload.']);
      await db()
        .insertInto('audit_payloads')
        .values({ ...row, call_id: 'ghost', kind: 'result' })
        .execute();
      expect(await messages()).toEqual(['No entry refers to these payloads: the result of call ghost.']);
    });

    it('compares rows only when asked to', async () => {
      await scribe.read('a');
      await db().insertInto('settings').values({ key: 'paused', value: 'person:eve' }).execute();
      expect(await messages()).toEqual([]);
      const found = (await messages({ rows: true })).join('\n');
      expect(found).toContain('The setting paused is "person:eve"');
      expect(found).toContain('Call a has entries, but its row is missing.');
    });

    it('names a row of a call that has no entries', async () => {
      await db()
        .insertInto('calls')
        .values({
          call_id: 'ghost',
          started_at: AT,
          finished_at: AT,
          tool: 'post',
          toolkit: 'x',
          category: 'posts',
          effect: 'change',
          principal: 'agent:local',
          transport: 'stdio',
          digest: '',
          status: 'ok',
          decision: 'allow',
          latency_ms: 0,
        })
        .execute();
      expect(await messages()).toEqual([]);
      expect(await messages({ rows: true })).toEqual([expect.stringContaining('ghost')]);
    });

    it('knows of payloads that were erased while it was made', async () => {
      const artifact = await scribe.artifacts.write('a.txt', 'text/plain', 'text\n');
      await scribe.change('a', { artifacts: [artifact] });
      await append(300);
      await scribe.read('b');
      class Erasing extends ArtifactStore {
        override async check(id: string) {
          const scope = { calls: ['b'] };
          const now = scribe.now();
          await erasePayloads(store.database, scope, {
            artifacts: scribe.artifacts,
            principal: 'person:ada',
            now,
          });
          return super.check(id);
        }
      }
      const report = await verifyLog(store.database, {
        artifacts: new Erasing(store.database, store.dataDir),
      });
      expect(report.problems).toEqual([]);
      expect(report.payloads.erased).toBe(2);
    });
  });
});
