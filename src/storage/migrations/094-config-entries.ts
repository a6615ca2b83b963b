import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** Entries about pause, rules and agents are found however long the log is, by their bodies, like those about passkeys. */
export const migration: Migration = {
  name: '094-config-entries',
  async up(db, engine) {
    const position = engine === 'postgres' ? sql.raw('strpos') : sql.raw('instr');
    await sql`create index audit_log_config on audit_log (seq)
      where ${position}(body, '"kind":"config"') > 0`.execute(db);
  },
};
