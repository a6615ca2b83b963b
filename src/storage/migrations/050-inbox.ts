import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** What the inbox asks of a long queue is answered from indexes, and a page says which place it shows. */
export const migration: Migration = {
  name: '050-inbox',
  async up(db) {
    // The same expression as in the query: otherwise all that waits is read and sorted for every look.
    await sql`create index approvals_by_danger on approvals
      (state, (case when effect = 'destroy' then 0 when risks <> '[]' then 1 else 2 end), id desc)`.execute(
      db,
    );
    await db.schema
      .createIndex('approvals_by_expiry')
      .on('approvals')
      .columns(['state', 'expires_at'])
      .execute();
    await db.schema.alterTable('listeners').addColumn('place', 'text').execute();
  },
};
