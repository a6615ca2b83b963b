import type { Migration } from '../../../contract/migration.ts';

/** Further forms of a name (a JSON list), and whether only the name as written is replaced. */
export const migration: Migration = {
  name: '031-research-name-forms',
  async up(db) {
    await db.schema
      .alterTable('research_pseudonyms')
      .addColumn('variants', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
    await db.schema
      .alterTable('research_pseudonyms')
      .addColumn('exact', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
