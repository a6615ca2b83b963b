import type { Migration } from '../../contract/migration.ts';

/** What lists of approvals show and filter by; the complete presentation is in `approval_previews`. */
export const migration: Migration = {
  name: '062-approval-presentations',
  async up(db) {
    await db.schema.alterTable('approvals').addColumn('gist', 'text').execute();
    await db.schema.alterTable('approvals').addColumn('environment', 'text').execute();
  },
};
