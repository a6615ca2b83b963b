import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from './sqlite.ts';

interface Notes {
  notes: { id: number; text: string; size: number | null };
}

describe('text of a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-text-'));
  let db: Kysely<Notes>;
  beforeAll(async () => {
    ({ db } = openSqlite<Notes>(join(folder, 'notes.db')));
    await sql`create table notes (id integer primary key, text text, size real)`.execute(db);
  });
  afterAll(async () => {
    await db.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    [''],
    ['plain'],
    ['grün'],
    ['\u{1f600}'],
    ['x'.repeat(500)],
    ['é'.repeat(500)],
    ["it's | a\nline"],
  ])('comes back as it was written: %s', async (text) => {
    const written = await db
      .insertInto('notes')
      .values({ id: 1, text, size: 1.5 })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ text }))
      .returningAll()
      .executeTakeFirst();
    expect(written).toMatchObject({ id: 1, text, size: 1.5 });
    expect(await db.selectFrom('notes').selectAll().execute()).toMatchObject([{ id: 1, text, size: 1.5 }]);
  });

  it('keeps the order and the limit of a query', async () => {
    for (let id = 2; id < 9; id += 1)
      await db
        .insertInto('notes')
        .values({ id, text: `${id}`, size: null })
        .execute();
    const rows = await db
      .selectFrom('notes')
      .select('text')
      .orderBy('id', 'desc')
      .limit(3)
      .offset(1)
      .execute();
    expect(rows.map(({ text }) => text)).toEqual(['7', '6', '5']);
    const all = await db
      .selectFrom('notes')
      .select('id')
      .orderBy('text', 'desc')
      .where('id', '>', 1)
      .execute();
    expect(all.map(({ id }) => id)).toEqual([8, 7, 6, 5, 4, 3, 2]);
  });

  it('that is not UTF-8 is read and returned with U+FFFD in place of the wrong bytes', async () => {
    for (const bytes of ['61ff62', 'c3', '80', 'eda080', `${'61'.repeat(100)}ff`]) {
      await sql.raw(`update notes set text = cast(x'${bytes}' as text) where id = 1`).execute(db);
      const row = await db.selectFrom('notes').selectAll().where('id', '=', 1).executeTakeFirstOrThrow();
      expect(row.text).toContain('\u{fffd}');
      const returned = await db
        .updateTable('notes')
        .set({ size: 2 })
        .where('id', '=', 1)
        .returning(['id', 'text'])
        .executeTakeFirstOrThrow();
      expect(returned).toEqual({ id: 1, text: row.text });
    }
  });
});
