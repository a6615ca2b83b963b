import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/engines.ts';
import type { EvidenceWrite } from '../log/write.ts';
import type { Database } from '../store/database.ts';
import { readEvidence } from './recorder.fixture.ts';
import type { CallEvidence } from './recorder.ts';
import { writeGroup } from './write-group.ts';

const coded = (code: string): Error => Object.assign(new Error('refused'), { code });

let store: TestStore;
let database: Database;
/** The database refuses these, each with its error. */
let refusals: Map<CallEvidence, unknown>;
let attempts: number;
beforeEach(async () => {
  store = await openTestStore('sqlite');
  database = store.database;
  refusals = new Map();
  attempts = 0;
});
afterEach(() => store.close());

const insert = async (write: EvidenceWrite, group: readonly CallEvidence[]): Promise<void> => {
  attempts += 1;
  for (const one of group) if (refusals.has(one)) throw refusals.get(one);
  write.append(...group.map(({ entry }) => entry));
};
const write = (...group: readonly CallEvidence[]) => writeGroup(database, group, insert);
const logged = async () => {
  const rows = await store.database.db
    .selectFrom('audit_log')
    .select(['hash', 'body'])
    .orderBy('seq')
    .execute();
  return rows;
};
const hashes = async () => (await logged()).map(({ hash }) => hash);
/** What the log says in place of evidence that is missing. */
const notes = async (): Promise<unknown[]> =>
  (await logged()).map(({ body }) => JSON.parse(body).extra).filter((extra) => extra !== undefined);
const evidence = (count: number) => Array.from({ length: count }, () => readEvidence());
/** A database that answers every look into the log with nothing. */
const deafTo = (asked: unknown[]): Database => {
  const query = {
    select: () => query,
    where(_column: string, _operator: string, ids: unknown) {
      asked.push(ids);
      return query;
    },
    execute: async () => [],
  };
  return { ...store.database, db: { selectFrom: () => query } as never };
};

describe('a group of evidence', () => {
  it('is written in one transaction, and none is opened for nothing', async () => {
    const some = evidence(3);
    expect(await write(...some)).toEqual({ left: [], refused: [], error: undefined });
    expect(attempts).toBe(1);
    expect(await hashes()).toEqual(some.map(({ entry }) => entry.hash));
    expect(await write()).toEqual({ left: [], refused: [], error: undefined });
    expect(attempts).toBe(1);
  });

  const ABOUT_ROWS = [
    coded('22P05'),
    coded('23505'),
    coded('54000'),
    coded('SQLITE_CONSTRAINT_PRIMARYKEY'),
    coded('SQLITE_TOOBIG'),
    coded('SQLITE_MISMATCH'),
    coded('SQLITE_RANGE'),
    new TypeError('not a value of SQLite'),
    new RangeError('too long'),
  ];
  it('is written without the one whose rows the database refuses', async () => {
    for (const cause of ABOUT_ROWS) {
      const [first, bad, last] = [readEvidence(), readEvidence(), readEvidence()];
      refusals.set(bad, cause);
      expect(await write(first, bad, last)).toEqual({
        left: [],
        refused: [{ evidence: bad, cause }],
        error: undefined,
      });
      expect(await hashes()).toEqual(expect.arrayContaining([first.entry.hash, last.entry.hash]));
      expect(await hashes()).not.toContain(bad.entry.hash);
    }
  });

  const ABOUT_DATABASE = [
    coded('57P01'),
    coded('x22P05'),
    coded('22P055'),
    coded('22p05'),
    coded('SQLITE_FULL'),
    coded('AN_SQLITE_RANGE'),
    new Error('the connection is gone'),
    { code: '22P05' },
  ];
  it('is left to be tried again after an error that says nothing about rows', async () => {
    for (const error of ABOUT_DATABASE) {
      const [first, second] = [readEvidence(), readEvidence()];
      refusals.set(first, error);
      expect(await write(first, second)).toEqual({ left: [first, second], refused: [], error });
    }
    expect(attempts).toBe(ABOUT_DATABASE.length);
    expect(await hashes()).toEqual([]);
  });

  it('leaves a note in the log for the one that is missing, with names that can be stored', async () => {
    const bad = readEvidence({ tool: 'a\u0007b', principal: 'agent:c\u0007', transport: 'd\u0007' });
    refusals.set(bad, coded('22P05'));
    await write(bad);
    const [note] = await logged();
    expect(JSON.parse(note?.body ?? '')).toMatchObject({
      kind: 'read',
      at: bad.entry.at,
      principal: 'agent:c\u{fffd}',
      transport: 'd\u{fffd}',
      extra: {
        unwritten_call: bad.row.call_id,
        tool: 'a\u{fffd}b',
        evidence_hash: bad.entry.hash,
        reason: '22P05',
      },
    });
    const other = readEvidence();
    refusals.set(other, new TypeError('no code'));
    await write(other);
    expect((await notes())[1]).toMatchObject({ reason: 'unknown' });
  });

  it('is not written twice where a part of it is in the log already', async () => {
    const [written, bad, fresh] = [readEvidence(), readEvidence(), readEvidence()];
    await write(written);
    refusals.set(written, coded('23505'));
    refusals.set(bad, coded('22P05'));
    expect(await write(written, bad, fresh)).toMatchObject({ left: [], refused: [{ evidence: bad }] });
    expect((await hashes()).filter((hash) => hash === written.entry.hash)).toHaveLength(1);
    expect(await hashes()).toContain(fresh.entry.hash);
    expect(await notes()).toHaveLength(1);
  });

  it('counts as written when all of it is in the log', async () => {
    const some = evidence(2);
    await write(...some);
    for (const one of some) refusals.set(one, coded('23505'));
    expect(await write(...some)).toEqual({ left: [], refused: [], error: undefined });
    expect(await hashes()).toHaveLength(2);
  });

  it('keeps apart what each half of it gave', async () => {
    const [a, b, c, d] = [readEvidence(), readEvidence(), readEvidence(), readEvidence()];
    const lost = coded('ECONNRESET');
    refusals.set(a, coded('22P05')).set(c, lost);
    expect(await write(a, b, c, d)).toEqual({
      left: [c, d],
      refused: [{ evidence: a, cause: refusals.get(a) }],
      error: lost,
    });
    expect(await hashes()).toContain(b.entry.hash);
    const [e, f, g, h] = [readEvidence(), readEvidence(), readEvidence(), readEvidence()];
    refusals.set(f, lost).set(h, refusals.get(a));
    // The refusal of a row comes first, so that the group is divided.
    const orderly = await writeGroup(database, [e, f, g, h], async (write, group) => {
      if (group.length === 4) throw refusals.get(a);
      await insert(write, group);
    });
    expect(orderly).toMatchObject({ left: [e, f], refused: [{ evidence: h }], error: lost });
    expect(await hashes()).toContain(g.entry.hash);
  });

  it('is left with the first reason where neither half can be written', async () => {
    const [a, b, c, d, e] = [readEvidence(), readEvidence(), readEvidence(), readEvidence(), readEvidence()];
    const [first, second] = [coded('ECONNRESET'), coded('57P01')];
    let isFirst = true;
    const result = await writeGroup(database, [a, b, c, d, e], async (_write, group) => {
      if (group.length === 5) throw coded('22P05');
      const error = isFirst ? first : second;
      isFirst = false;
      throw error;
    });
    expect(result).toEqual({ left: [a, b, c, d, e], refused: [], error: first });
  });

  it('is left as it is when the log cannot be read', async () => {
    const [bad] = [readEvidence()];
    refusals.set(bad, coded('22P05'));
    const error = new Error('gone');
    const db = {
      selectFrom() {
        throw error;
      },
    };
    const broken: Database = { ...store.database, db: db as never };
    expect(await writeGroup(broken, [bad], insert)).toEqual({ left: [bad], refused: [], error });
  });

  it('is looked up 500 calls at a time, without IDs that no column can hold', async () => {
    const asked: unknown[] = [];
    database = deafTo(asked);
    const odd = readEvidence();
    const group = [
      { ...odd, row: { ...odd.row, call_id: 'a\u0000' } },
      ...Array.from({ length: 999 }, () => odd),
    ];
    refusals.set(odd, coded('ECONNRESET'));
    await writeGroup(database, group, async (_write, { length }) => {
      throw coded(length === 1_000 ? '22P05' : 'ECONNRESET');
    });
    expect(asked.map((ids) => Array.isArray(ids) && ids.length)).toEqual([499, 500]);
  });
});
