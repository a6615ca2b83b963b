import type { Migration } from '../../../contract/migration.ts';

/** How much output of each QA command was stored, for the daily quota. */
export const migration: Migration = {
  name: '095-dev-output',
  async up(db) {
    await db.schema
      .alterTable('dev_checks')
      .addColumn('output_bytes', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
