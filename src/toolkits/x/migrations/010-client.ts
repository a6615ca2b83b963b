import type { ColumnDefinitionBuilder } from 'kysely';
import type { Migration } from '../../../contract/migration.ts';

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const counter = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

/** What the X client counts, and the state of the X sandbox. */
export const migration: Migration = {
  name: '010-x-client',
  async up(db) {
    await db.schema
      .createTable('x_rate_limits')
      .addColumn('realm', 'text', required)
      .addColumn('endpoint', 'text', required)
      .addColumn('auth', 'text', required)
      .addColumn('limit_max', 'integer', required)
      .addColumn('remaining', 'integer', required)
      .addColumn('reset_at', 'text', required)
      .addColumn('seen_at', 'text', required)
      .addPrimaryKeyConstraint('x_rate_limits_pk', ['realm', 'endpoint', 'auth'])
      .execute();
    await db.schema
      .createTable('x_usage')
      .addColumn('day', 'text', required)
      .addColumn('realm', 'text', required)
      .addColumn('endpoint', 'text', required)
      .addColumn('method', 'text', required)
      .addColumn('calls', 'integer', counter)
      .addColumn('failures', 'integer', counter)
      .addColumn('items', 'integer', counter)
      .addColumn('cost_micros', 'bigint', counter)
      .addPrimaryKeyConstraint('x_usage_pk', ['day', 'realm', 'endpoint', 'method'])
      .execute();

    // One row per item: a page of the state is read by version, so that a process only fetches what changed.
    await db.schema
      .createTable('x_sandbox_items')
      .addColumn('collection', 'text', required)
      .addColumn('id', 'text', required)
      .addColumn('version', 'integer', required)
      .addColumn('body', 'text')
      .addPrimaryKeyConstraint('x_sandbox_items_pk', ['collection', 'id'])
      .execute();
    await db.schema
      .createIndex('x_sandbox_items_by_version')
      .on('x_sandbox_items')
      .columns(['version'])
      .execute();
    await db.schema
      .createTable('x_sandbox_head')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('version', 'integer', required)
      .addColumn('epoch', 'integer', required)
      .execute();
    await db.schema
      .createTable('x_sandbox_windows')
      .addColumn('key', 'text', required)
      .addColumn('window_start', 'bigint', required)
      .addColumn('used', 'integer', required)
      .addPrimaryKeyConstraint('x_sandbox_windows_pk', ['key', 'window_start'])
      .execute();
  },
};
