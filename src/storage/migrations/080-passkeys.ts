import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** Entries about passkeys are found however long the log is, by their bodies: a column of its own could be edited apart. */
export const migration: Migration = {
  name: '080-passkeys',
  async up(db, engine) {
    const position = engine === 'postgres' ? sql.raw('strpos') : sql.raw('instr');
    await sql`create index audit_log_passkeys on audit_log (seq)
      where ${position}(body, '"kind":"passkey"') > 0`.execute(db);
    await sql`create index audit_log_signatures on audit_log (hash)
      where ${position}(body, '"kind":"signature"') > 0`.execute(db);
    await db.schema
      .createTable('passkey_requests')
      .addColumn('nonce', 'text', (c) => c.primaryKey())
      .addColumn('session', 'text', (c) => c.notNull())
      .addColumn('statement', 'text', (c) => c.notNull())
      .addColumn('more', 'text', (c) => c.notNull())
      .addColumn('until', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('approval_signatures')
      .addColumn('approval_id', 'integer', (c) => c.notNull())
      .addColumn('version', 'integer', (c) => c.notNull())
      .addColumn('person', 'text', (c) => c.notNull())
      .addColumn('entry', 'text', (c) => c.notNull())
      .addColumn('salt', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('approval_signatures_pk', ['approval_id', 'version', 'person'])
      .execute();
  },
};
