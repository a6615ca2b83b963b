import { type Kysely, sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';

/**
 * Figures about calls are kept by hour and by day, so that a page reads as much of a long log as of a short one. An id
 * begins with the time of its call, so the index by time is the table itself.
 */
export const migration: Migration = {
  name: '091-call-stats',
  async up(db) {
    await createStats(db);
    await db.schema.dropIndex('calls_by_time').execute();
    await db.schema.createIndex('calls_by_tool').on('calls').columns(['tool', 'call_id']).execute();
    await db.schema.createIndex('calls_by_principal').on('calls').columns(['principal', 'call_id']).execute();
    // Most calls succeed, and those are not in it.
    await db.schema
      .createIndex('calls_unsuccessful')
      .on('calls')
      .columns(['status', 'call_id'])
      .where(sql.ref('status'), 'in', sql`('failed', 'refused', 'routed', 'dry_run')`)
      .execute();
  },
};

async function createStats(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('call_stats')
    .addColumn('unit', 'text', (c) => c.notNull())
    .addColumn('span', 'text', (c) => c.notNull())
    .addColumn('tool', 'text', (c) => c.notNull())
    .addColumn('toolkit', 'text', (c) => c.notNull())
    .addColumn('category', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('step', 'integer', (c) => c.notNull())
    .addColumn('calls', 'integer', (c) => c.notNull())
    .addColumn('total_ms', 'double precision', (c) => c.notNull())
    .addColumn('min_ms', 'double precision', (c) => c.notNull())
    .addColumn('max_ms', 'double precision', (c) => c.notNull())
    .addColumn('last_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('call_stats_pk', [
      'unit',
      'span',
      'tool',
      'toolkit',
      'category',
      'status',
      'code',
      'step',
    ])
    .execute();
  await db.schema
    .createTable('call_stats_head')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .execute();
  await sql`insert into call_stats_head (id, seq) values (1, 0)`.execute(db);
}
