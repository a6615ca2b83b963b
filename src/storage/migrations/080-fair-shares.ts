import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** What one agent has pending is counted at every request, and expired keys are found at every sweep. */
export const migration: Migration = {
  name: '080-fair-shares',
  async up(db) {
    await db.schema
      .createIndex('approvals_pending_by_requester')
      .on('approvals')
      .columns(['requester'])
      .where(sql.ref('state'), '=', sql.lit('pending'))
      .execute();
    await db.schema
      .createIndex('idempotency_by_expiry')
      .on('idempotency')
      .columns(['expires_at'])
      .where(sql.ref('expires_at'), 'is not', null)
      .execute();
  },
};
