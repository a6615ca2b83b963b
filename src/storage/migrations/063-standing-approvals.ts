import type { Migration } from '../../contract/migration.ts';

/** What people approved in advance: for one agent, tool and definition, within argument predicates, uses and a time. */
export const migration: Migration = {
  name: '063-standing-approvals',
  async up(db, engine) {
    await db.schema
      .createTable('standing_approvals')
      .addColumn('id', engine === 'postgres' ? 'serial' : 'integer', (column) =>
        engine === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
      )
      .addColumn('uuid', 'text', (column) => column.notNull().unique())
      .addColumn('agent', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('toolkit', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('predicates', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .addColumn('max_uses', 'integer', (column) => column.notNull())
      .addColumn('used', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('revoked_at', 'text')
      .addColumn('revoked_by', 'text')
      .execute();
    await db.schema
      .createIndex('standing_approvals_by_agent')
      .on('standing_approvals')
      .columns(['agent', 'tool'])
      .execute();
  },
};
