import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../../test/support/engines.ts';
import { leafHash } from '../../../lib/merkle.ts';
import type { AuditLogTable } from '../../store/tables.ts';
import { type EntryInput, prepareEntry } from '../entry.ts';
import { appendEntries } from '../log.ts';
import { findRepeatedCalls, readIntact, readPage } from './pages.ts';
import { Problems } from './report.ts';

const AT = '2026-01-01T00:00:00.000Z';

describe('pages of entries', () => {
  let store: TestStore;
  let problems: Problems;
  beforeAll(async () => {
    store = await openTestStore('sqlite');
  });
  afterAll(() => store.close());
  beforeEach(() => {
    problems = new Problems();
  });
  afterEach(async () => {
    await store.database.db.deleteFrom('audit_log').execute();
    await store.database.db.updateTable('audit_head').set({ size: 0, frontier: '[]' }).execute();
  });

  const append = (...inputs: Partial<EntryInput>[]) =>
    store.database.write((trx) =>
      appendEntries(
        trx,
        'sqlite',
        inputs.map((input) => prepareEntry({ kind: 'read', at: AT, ...input })),
      ),
    );
  const change = (seq: number, columns: Partial<AuditLogTable>) =>
    store.database.db.updateTable('audit_log').set(columns).where('seq', '=', seq).execute();
  const intact = (start: number, end: number) => readIntact(store.database, start, end);
  const read = (start: number, end: number) => readPage(store.database, start, end, problems);
  const messages = () => problems.list.map(({ message }) => message);

  it('are handed over with their hashes when nothing is wrong', async () => {
    await append({ call: 'a', run: 'r' }, { call: 'b' }, { kind: 'config', extra: { text: 'a | b\n' } });
    const found = await intact(0, 3);
    expect(found?.map(({ seq, entry }) => [seq, entry.kind, entry.call, entry.run])).toEqual([
      [0, 'read', 'a', 'r'],
      [1, 'read', 'b', undefined],
      [2, 'config', undefined, undefined],
    ]);
    const rows = await store.database.db.selectFrom('audit_log').select('hash').orderBy('seq').execute();
    expect(found?.map(({ leaf }) => leaf)).toEqual(rows.map(({ hash }) => hash));
    expect((await intact(1, 3))?.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await read(0, 3)).toEqual(found);
    expect(messages()).toEqual([]);
  });

  it('are not intact when an entry is missing, at the end too', async () => {
    await append({ call: 'a' }, { call: 'b' });
    expect(await intact(0, 3)).toBeUndefined();
    expect(await intact(5, 9)).toBeUndefined();
    expect((await read(0, 3)).map(({ seq }) => seq)).toEqual([0, 1]);
    expect(messages()).toEqual(['Entry 2 is missing from the log.']);
  });

  it('name the entries that are missing before and between others', async () => {
    await append({}, {}, {}, {}, {});
    await store.database.db.deleteFrom('audit_log').where('seq', 'in', [0, 2, 3]).execute();
    expect((await read(0, 5)).map(({ seq }) => seq)).toEqual([1, 4]);
    expect(messages()).toEqual([
      'Entry 0 is missing from the log.',
      'Entries 2 to 3 are missing from the log.',
    ]);
  });

  it.each<[keyof AuditLogTable, string, string]>([
    ['kind', 'call', 'Entry 0 says kind is read, but its row says call.'],
    ['at', 'now', `Entry 0 says at is ${AT}, but its row says now.`],
    ['call_id', 'b', 'Entry 0 says call_id is a, but its row says b.'],
    ['run_id', 'r', 'Entry 0 says run_id is null, but its row says r.'],
  ])('name a column %s that is not what the entry says', async (column, value, message) => {
    await append({ call: 'a' });
    await change(0, { [column]: value });
    expect(await intact(0, 1)).toBeUndefined();
    expect(await read(0, 1)).toHaveLength(1);
    expect(problems.list).toEqual([{ code: 'columns', seq: 0, message }]);
  });

  it('name an entry whose body was changed, and build on its stored hash', async () => {
    await append({ call: 'a' });
    const { hash } = await store.database.db.selectFrom('audit_log').select('hash').executeTakeFirstOrThrow();
    await change(0, { body: prepareEntry({ kind: 'read', at: AT, call: 'a', tool: 'x' }).body });
    expect(await intact(0, 1)).toBeUndefined();
    expect(await read(0, 1)).toMatchObject([{ seq: 0, leaf: hash, entry: { tool: 'x' } }]);
    const message = `Entry 0 does not match its hash ${hash}: its body or its hash was changed.`;
    expect(problems.list).toEqual([{ code: 'leaf', seq: 0, message }]);
  });

  it.each(['', 'x', `${'0'.repeat(64)}x`, `x${'0'.repeat(64)}`, 'F'.repeat(64)])(
    'build on the body when the stored hash "%s" is none',
    async (hash) => {
      await append({ call: 'a' });
      await change(0, { hash });
      const [found] = await read(0, 1);
      expect(found?.leaf).toBe(prepareEntry({ kind: 'read', at: AT, call: 'a' }).hash);
      expect(problems.list).toEqual([expect.objectContaining({ code: 'leaf', seq: 0 })]);
    },
  );

  it.each([
    'nonsense',
    'null',
    '7',
    '{}',
    `{"v":2,"kind":"read","at":"${AT}"}`,
    `{"kind":"read","at":"${AT}"}`,
    `{"v":1,"at":"${AT}"}`,
    `{"v":1,"kind":7,"at":"${AT}"}`,
    '{"v":1,"kind":"read"}',
    '{"v":1,"kind":"read","at":7}',
  ])('name a body that is no entry: %s', async (body) => {
    await append({});
    await change(0, { body, hash: leafHash(body) });
    expect(await intact(0, 1)).toBeUndefined();
    expect(await read(0, 1)).toEqual([{ seq: 0, leaf: leafHash(body), entry: undefined }]);
    const message = 'Entry 0 is not an entry of this log format.';
    expect(problems.list).toEqual([{ code: 'leaf', seq: 0, message }]);
  });

  it('name an entry of an unknown kind', async () => {
    await append({});
    const body = `{"at":"${AT}","kind":"other","v":1}`;
    await change(0, { body, hash: leafHash(body), kind: 'other' });
    expect(await intact(0, 1)).toBeUndefined();
    await read(0, 1);
    const message = 'Entry 0 has the unknown kind "other".';
    expect(problems.list).toEqual([{ code: 'story', seq: 0, message }]);
  });

  it.each(['x|=y', 'x\\u007c=y'])(
    'are not taken for intact because a separator in the call %s makes the columns look alike',
    async (call) => {
      await append({});
      const body = `{"at":"${AT}","call":"${call}","kind":"read","v":1}`;
      await change(0, { body, hash: leafHash(body), call_id: 'x', run_id: 'y|-' });
      expect(await intact(0, 1)).toBeUndefined();
      await read(0, 1);
      expect(messages()).toEqual([
        'Entry 0 says call_id is x|=y, but its row says x.',
        'Entry 0 says run_id is null, but its row says y|-.',
      ]);
    },
  );

  describe('of calls that are repeated', () => {
    const find = (size: number, calls: number) => findRepeatedCalls(store.database, size, calls, problems);

    it('name what begins or ends more than once', async () => {
      await append({ kind: 'intent', call: 'a' }, { kind: 'outcome', call: 'a' }, { kind: 'config' });
      await append(
        { kind: 'intent', call: 'b' },
        { kind: 'intent', call: 'b' },
        { kind: 'outcome', call: 'b' },
      );
      await append(
        { kind: 'intent', call: 'c' },
        { kind: 'refusal', call: 'c' },
        { kind: 'outcome', call: 'c' },
      );
      await append({ kind: 'intent', call: 'd' }, { kind: 'intent', call: 'd' });
      await append({ kind: 'read', call: 'd' }, { kind: 'call', call: 'd' }, { kind: 'settled', call: 'd' });
      await find(14, 5);
      expect([...problems.list].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))).toEqual([
        { code: 'story', seq: 5, message: 'Call b begins 2 times in the log.' },
        { code: 'story', seq: 8, message: 'Call c ends 2 times in the log.' },
        { code: 'story', seq: 13, message: 'Call d begins 2 times and ends 2 times in the log.' },
      ]);
    });

    it('look only at the entries that were read', async () => {
      await append({ kind: 'read', call: 'a' }, { kind: 'read', call: 'a' });
      await find(1, 2);
      expect(messages()).toEqual([]);
      await find(2, 2);
      expect(messages()).toEqual(['Call a ends 2 times in the log.']);
    });
  });
});
