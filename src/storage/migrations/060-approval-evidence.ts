import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** The audit entries about one approval are found by its UUID, however long the log is. */
export const migration: Migration = {
  name: '060-approval-evidence',
  async up(db, engine) {
    // Canonical JSON has `approval` first, and its strings escape quotes, so the first `"uuid":"` is the approval's own.
    // The body itself is indexed, because a column of its own could be edited apart from what the hash covers.
    const position = engine === 'postgres' ? sql.raw('strpos') : sql.raw('instr');
    await sql`create index audit_log_by_approval on audit_log (substr(body, ${position}(body, '"uuid":"') + 8, 36))
      where substr(body, 1, 12) = '{"approval":'`.execute(db);
  },
};
