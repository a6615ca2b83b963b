import type { Migration } from '../../contract/migration.ts';

/** Approved calls that wait a few seconds, for the servers that did not begin the hold. */
export const migration: Migration = {
  name: '095-holds',
  async up(db) {
    await db.schema
      .createTable('holds')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('person', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('view', 'text', (column) => column.notNull())
      .addColumn('until', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'text', (column) => column.notNull())
      .execute();
  },
};
