import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import type { Migration } from '../../../contract/migration.ts';

export const migration: Migration = {
  name: '040-assistant',
  async up(db) {
    await createSessions(db);
    await createRuns(db);
    await createEntries(db);
  },
};

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const zero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('assistant_sessions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('scope', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('updated_at', 'text', required)
    .addColumn('model', 'text')
    .addColumn('input_tokens', 'integer', zero)
    .addColumn('output_tokens', 'integer', zero)
    .addColumn('context_tokens', 'integer', zero)
    .addColumn('window_tokens', 'integer', zero)
    .addColumn('cost_usd', 'double precision', zero)
    .addColumn('turns', 'integer', zero)
    .addColumn('compactions', 'integer', zero)
    .addColumn('aborted_last_run', 'integer', zero)
    .addUniqueConstraint('assistant_sessions_key', ['scope', 'key'])
    .execute();
  await db.schema
    .createIndex('assistant_sessions_by_time')
    .on('assistant_sessions')
    .columns(['updated_at'])
    .execute();
}

/** One row per order. The open rows of a session, by `seq`, are its queue. */
async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('assistant_runs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('session_id', 'text', (c) => c.notNull().references('assistant_sessions.id'))
    .addColumn('seq', 'integer', required)
    .addColumn('call_id', 'text', required)
    .addColumn('message', 'text', required)
    .addColumn('message_hash', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('started', 'integer', zero)
    .addColumn('detached', 'integer', zero)
    .addColumn('delivered', 'integer', zero)
    .addColumn('told', 'integer', zero)
    .addColumn('owner', 'text')
    .addColumn('lease_until', 'text', required)
    .addColumn('doing', 'text')
    .addColumn('answer', 'text')
    .addColumn('fault', 'text')
    .addColumn('created_at', 'text', required)
    .addColumn('finished_at', 'text')
    .addUniqueConstraint('assistant_runs_order', ['session_id', 'seq'])
    .execute();
  await db.schema
    .createIndex('assistant_runs_by_message')
    .on('assistant_runs')
    .columns(['session_id', 'message_hash'])
    .execute();
  await db.schema
    .createIndex('assistant_runs_by_state')
    .on('assistant_runs')
    .columns(['state', 'lease_until'])
    .execute();
  await db.schema.createIndex('assistant_runs_by_call').on('assistant_runs').columns(['call_id']).execute();
}

async function createEntries(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('assistant_entries')
    .addColumn('session_id', 'text', (c) => c.notNull().references('assistant_sessions.id'))
    .addColumn('seq', 'integer', required)
    .addColumn('run_id', 'text', required)
    .addColumn('type', 'text', required)
    .addColumn('in_context', 'integer', required)
    .addColumn('tokens', 'integer', required)
    .addColumn('model', 'text')
    .addColumn('body', 'text', required)
    .addColumn('created_at', 'text', required)
    .addPrimaryKeyConstraint('assistant_entries_pk', ['session_id', 'seq'])
    .execute();
}
