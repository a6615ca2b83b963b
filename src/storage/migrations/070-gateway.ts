import type { Migration } from '../../contract/migration.ts';

/** Third-party servers: what each was found to offer, and which of it a person trusts. */
export const migration: Migration = {
  name: '070-gateway',
  async up(db) {
    await db.schema
      .createTable('gateway_servers')
      .addColumn('server', 'text', (column) => column.primaryKey())
      .addColumn('target', 'text', (column) => column.notNull())
      .addColumn('era', 'text', (column) => column.notNull())
      .addColumn('offers', 'text', (column) => column.notNull())
      .addColumn('listed_at', 'text', (column) => column.notNull())
      .addColumn('restart_at', 'text')
      .execute();
    await db.schema
      .createTable('gateway_definitions')
      .addColumn('server', 'text', (column) => column.notNull())
      .addColumn('target', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('effect', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'text', (column) => column.notNull())
      .addColumn('decided_at', 'text')
      .addColumn('decided_by', 'text')
      .addPrimaryKeyConstraint('gateway_definitions_key', ['server', 'target', 'tool', 'hash'])
      .execute();
  },
};
