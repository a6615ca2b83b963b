import type { Migration } from '../../contract/migration.ts';

/** What a person is shown of a change before they decide, by the approval it belongs to. */
export const migration: Migration = {
  name: '061-approval-previews',
  async up(db) {
    await db.schema
      .createTable('approval_previews')
      .addColumn('approval_id', 'integer', (column) => column.primaryKey())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute();
  },
};
