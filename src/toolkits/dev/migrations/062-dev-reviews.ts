import type { Migration } from '../../../contract/migration.ts';

/** Reviews of local pull requests, results of QA commands, and what was sent to a forge under which key. */
export const migration: Migration = {
  name: '062-dev-reviews',
  async up(db) {
    await db.schema.alterTable('dev_comments').addColumn('review', 'text').execute();
    await db.schema.alterTable('dev_pulls').addColumn('update_call_id', 'text').execute();
    await db.schema.alterTable('dev_pulls').addColumn('update_commit', 'text').execute();
    await db.schema
      .createTable('dev_checks')
      .addColumn('call_id', 'text', (column) => column.primaryKey())
      .addColumn('repo', 'text', (column) => column.notNull())
      .addColumn('commit_id', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('summary', 'text', (column) => column.notNull())
      .addColumn('log_tail', 'text', (column) => column.notNull())
      .addColumn('finished_at', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('dev_checks_by_commit')
      .on('dev_checks')
      .columns(['commit_id', 'finished_at'])
      .execute();
    await db.schema
      .createTable('dev_attempts')
      .addColumn('call_id', 'text', (column) => column.primaryKey())
      .addColumn('run_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('attempt_key', 'text', (column) => column.notNull())
      .addColumn('sent_at', 'text', (column) => column.notNull())
      .addColumn('done', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('dev_attempts_by_key')
      .on('dev_attempts')
      .columns(['run_id', 'kind', 'attempt_key'])
      .execute();
  },
};
