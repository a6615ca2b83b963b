import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import type { Migration } from '../../../contract/migration.ts';

export const migration: Migration = {
  name: '020-dev',
  async up(db) {
    await createRuns(db);
    await createLocalForge(db);
  },
};

const required = (column: ColumnDefinitionBuilder) => column.notNull();

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('dev_runs')
    .addColumn('run_id', 'text', (c) => c.primaryKey())
    .addColumn('repo', 'text', required)
    .addColumn('forge', 'text', required)
    .addColumn('clone', 'text')
    .addColumn('purpose', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('created_by', 'text', required)
    .addColumn('call_id', 'text', (c) => c.notNull().unique())
    .addColumn('base_branch', 'text')
    .addColumn('base_commit', 'text')
    .addColumn('head_branch', 'text')
    .addColumn('head_commit', 'text')
    .execute();
  await db.schema.createIndex('dev_runs_by_time').on('dev_runs').columns(['created_at']).execute();
}

/** Issues, pull requests and comments of clones that have no GitHub behind them. */
async function createLocalForge(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('dev_repos')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.unique())
    .addColumn('path', 'text', required)
    .addColumn('last_number', 'integer', required)
    .addColumn('last_comment', 'integer', required)
    .addColumn('created_at', 'text', required)
    .execute();
  await db.schema.createIndex('dev_repos_by_path').on('dev_repos').columns(['path']).execute();
  await db.schema
    .createTable('dev_issues')
    .addColumn('repo_id', 'text', required)
    .addColumn('number', 'integer', required)
    .addColumn('title', 'text', required)
    .addColumn('body', 'text', required)
    .addColumn('labels', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('author', 'text', required)
    .addColumn('run_id', 'text')
    .addColumn('call_id', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'text', required)
    .addColumn('closed_at', 'text')
    .addColumn('closed_by', 'text')
    .addPrimaryKeyConstraint('dev_issues_pk', ['repo_id', 'number'])
    .execute();
  await db.schema
    .createTable('dev_pulls')
    .addColumn('repo_id', 'text', required)
    .addColumn('number', 'integer', required)
    .addColumn('title', 'text', required)
    .addColumn('body', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('draft', 'integer', required)
    .addColumn('base_ref', 'text', required)
    .addColumn('base_commit', 'text', required)
    .addColumn('head_ref', 'text', required)
    .addColumn('head_commit', 'text', required)
    .addColumn('author', 'text', required)
    .addColumn('run_id', 'text')
    .addColumn('call_id', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('closed_at', 'text')
    .addColumn('closed_by', 'text')
    .addColumn('merge_commit', 'text')
    .addColumn('merge_call_id', 'text')
    .addPrimaryKeyConstraint('dev_pulls_pk', ['repo_id', 'number'])
    .execute();
  await db.schema.createIndex('dev_pulls_by_call').on('dev_pulls').columns(['call_id']).execute();
  await db.schema.createIndex('dev_pulls_by_head').on('dev_pulls').columns(['repo_id', 'head_ref']).execute();
  await db.schema
    .createIndex('dev_pulls_by_merge')
    .on('dev_pulls')
    .columns(['merge_call_id'])
    .where(sql.ref('merge_call_id'), 'is not', null)
    .execute();
  await db.schema
    .createTable('dev_comments')
    .addColumn('repo_id', 'text', required)
    .addColumn('id', 'integer', required)
    .addColumn('pr_number', 'integer', required)
    .addColumn('body', 'text', required)
    .addColumn('author', 'text', required)
    .addColumn('run_id', 'text')
    .addColumn('call_id', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'text', required)
    .addPrimaryKeyConstraint('dev_comments_pk', ['repo_id', 'id'])
    .execute();
  await db.schema
    .createIndex('dev_comments_by_pull')
    .on('dev_comments')
    .columns(['repo_id', 'pr_number'])
    .execute();
}
