import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/**
 * The words of finished calls, by the place of the entry that finished each. A table without the text itself could not
 * overwrite the words of what is erased, and they would stay in the file.
 */
export const migration: Migration = {
  name: '092-call-words',
  async up(db, engine) {
    if (engine === 'postgres') {
      await sql`create table call_words (seq integer primary key, words tsvector not null)`.execute(db);
      await sql`create index call_words_by_word on call_words using gin (words)`.execute(db);
    } else {
      await sql`create virtual table call_words using fts5
        (words, tokenize = 'unicode61 remove_diacritics 2')`.execute(db);
      await sql`insert into call_words (call_words, rank) values ('secure-delete', 1)`.execute(db);
    }
    await db.schema
      .createTable('call_words_head')
      .addColumn('id', 'integer', (c) => c.primaryKey())
      .addColumn('seq', 'integer', (c) => c.notNull())
      .execute();
    await sql`insert into call_words_head (id, seq) values (1, 0)`.execute(db);
  },
};
