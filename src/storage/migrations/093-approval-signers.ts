import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** How many people must sign an approval, so that lists can show, count and sort it without asking policy again. */
export const migration: Migration = {
  name: '093-approval-signers',
  async up(db) {
    await db.schema
      .alterTable('approvals')
      .addColumn('signers', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.dropIndex('approvals_by_danger').execute();
    // The same expression as in the query: otherwise all that waits is read and sorted for every look.
    await sql`create index approvals_by_danger on approvals
      (state, (case when signers > 0 then 0 when effect = 'destroy' or risks like '["Moves money"%' then 1
        when risks <> '[]' then 2 when environment = 'live' then 3 else 4 end), id desc)`.execute(db);
  },
};
