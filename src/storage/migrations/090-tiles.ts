import { sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/** Nodes below 256 entries are recomputed from the entries: stored, they cost every commit a page or two. */
export const migration: Migration = {
  name: '090-tiles',
  async up(db) {
    await sql`delete from audit_nodes where level < 8`.execute(db);
  },
};
