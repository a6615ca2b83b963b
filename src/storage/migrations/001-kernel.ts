import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import type { Migration } from '../../contract/migration.ts';
import type { Engine } from '../../kernel/store/database.ts';

export const migration: Migration = {
  name: '001-kernel',
  async up(db, engine) {
    await createCalls(db, engine);
    await createApprovals(db, engine);
    await createAudit(db, engine);
    await createSmallTables(db, engine);
  },
};

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/**
 * SQLite keeps a table and its primary key apart by default; one tree in place of two is one page less to
 * write for every row.
 */
const oneTree = (engine: Engine) => (engine === 'sqlite' ? sql`without rowid` : sql``);

async function createCalls(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('calls')
    .addColumn('call_id', 'text', (c) => c.primaryKey())
    .addColumn('parent_id', 'text')
    .addColumn('started_at', 'text', required)
    .addColumn('finished_at', 'text')
    .addColumn('tool', 'text', required)
    .addColumn('toolkit', 'text', required)
    .addColumn('category', 'text', required)
    .addColumn('effect', 'text', required)
    .addColumn('principal', 'text', required)
    .addColumn('client', 'text')
    .addColumn('transport', 'text', required)
    .addColumn('run_id', 'text')
    .addColumn('digest', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('code', 'text')
    .addColumn('decision', 'text', required)
    .addColumn('rule', 'text')
    .addColumn('latency_ms', 'double precision', required)
    .addColumn('evidence_hash', 'text')
    .addColumn('approval_id', 'integer')
    .addColumn('approver', 'text')
    .addColumn('replay_of', 'text')
    .addColumn('holder_host', 'text')
    .addColumn('holder_pid', 'integer')
    .addColumn('lease_until', 'text')
    .modifyEnd(oneTree(engine))
    .execute();
  await db.schema.createIndex('calls_by_time').on('calls').columns(['started_at']).execute();
  await db.schema
    .createIndex('calls_by_run')
    .on('calls')
    .columns(['run_id'])
    .where(sql.ref('run_id'), 'is not', null)
    .execute();
  // Only unfinished and unsettled calls are ever looked up by status, and they are few.
  await db.schema
    .createIndex('calls_unsettled')
    .on('calls')
    .columns(['status'])
    .where(sql.ref('status'), 'in', sql`('running', 'indeterminate')`)
    .execute();

  await db.schema
    .createTable('idempotency')
    .addColumn('scope_key', 'text', (c) => c.primaryKey())
    .addColumn('digest', 'text', required)
    .addColumn('call_id', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('outcome', 'text')
    .addColumn('created_at', 'text', required)
    .addColumn('expires_at', 'text')
    .modifyEnd(oneTree(engine))
    .execute();
  await db.schema
    .createTable('counters')
    .addColumn('key', 'text', required)
    .addColumn('window_start', 'integer', required)
    .addColumn('used', 'integer', required)
    .addPrimaryKeyConstraint('counters_pk', ['key', 'window_start'])
    .modifyEnd(oneTree(engine))
    .execute();
}

async function createApprovals(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('approvals')
    .addColumn('id', engine === 'sqlite' ? 'integer' : 'serial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('uuid', 'text', (c) => c.notNull().unique())
    .addColumn('kind', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('tool', 'text', required)
    .addColumn('toolkit', 'text', required)
    .addColumn('effect', 'text', required)
    .addColumn('args', 'text', required)
    .addColumn('digest', 'text', required)
    .addColumn('binding', 'text')
    .addColumn('requester', 'text', required)
    .addColumn('requester_label', 'text')
    .addColumn('reason', 'text', required)
    .addColumn('rule', 'text', required)
    .addColumn('summary', 'text', required)
    .addColumn('risks', 'text', required)
    .addColumn('context', 'text', required)
    .addColumn('run_id', 'text')
    .addColumn('group_id', 'text')
    .addColumn('created_at', 'text', required)
    .addColumn('expires_at', 'text')
    .addColumn('decided_at', 'text')
    .addColumn('decided_by', 'text')
    .addColumn('decision_reason', 'text')
    .addColumn('feedback', 'text')
    .addColumn('call_id', 'text')
    .addColumn('outcome', 'text')
    .addColumn('version', 'integer', required)
    .execute();
  await db.schema.createIndex('approvals_by_state').on('approvals').columns(['state', 'id']).execute();
  await db.schema.createIndex('approvals_by_digest').on('approvals').columns(['digest']).execute();
  await db.schema
    .createIndex('approvals_by_group')
    .on('approvals')
    .columns(['group_id'])
    .where(sql.ref('group_id'), 'is not', null)
    .execute();
  await db.schema
    .createTable('approval_edits')
    .addColumn('approval_id', 'integer', required)
    .addColumn('edited_at', 'text', required)
    .addColumn('editor', 'text', required)
    .addColumn('old_args', 'text', required)
    .addColumn('new_args', 'text', required)
    .addColumn('old_digest', 'text', required)
    .addColumn('new_digest', 'text', required)
    .execute();
  await db.schema
    .createIndex('approval_edits_by_approval')
    .on('approval_edits')
    .columns(['approval_id'])
    .execute();
}

async function createAudit(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('audit_log')
    .addColumn('seq', 'integer', (c) => c.primaryKey())
    .addColumn('hash', 'text', required)
    .addColumn('call_id', 'text')
    .addColumn('run_id', 'text')
    .addColumn('kind', 'text', required)
    .addColumn('at', 'text', required)
    .addColumn('body', 'text', required)
    .execute();
  await db.schema
    .createIndex('audit_log_by_call')
    .on('audit_log')
    .columns(['call_id'])
    .where(sql.ref('call_id'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('audit_log_by_run')
    .on('audit_log')
    .columns(['run_id'])
    .where(sql.ref('run_id'), 'is not', null)
    .execute();
  await db.schema
    .createTable('audit_nodes')
    .addColumn('level', 'integer', required)
    .addColumn('idx', 'integer', required)
    .addColumn('hash', 'text', required)
    .addPrimaryKeyConstraint('audit_nodes_pk', ['level', 'idx'])
    .modifyEnd(oneTree(engine))
    .execute();
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('size', 'integer', required)
    .addColumn('frontier', 'text', required)
    .execute();
  await sql`insert into audit_head (id, size, frontier) values (1, 0, '[]')`.execute(db);
  await db.schema
    .createTable('audit_checkpoints')
    .addColumn('size', 'integer', (c) => c.primaryKey())
    .addColumn('root', 'text', required)
    .addColumn('note', 'text', required)
    .addColumn('at', 'text', required)
    .execute();
  await db.schema
    .createTable('audit_payloads')
    .addColumn('call_id', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('hash', 'text', required)
    .addColumn('salt', 'text', required)
    .addColumn('body', 'text')
    .addColumn('at', 'text', required)
    .addColumn('erased_at', 'text')
    .addPrimaryKeyConstraint('audit_payloads_pk', ['call_id', 'kind'])
    .modifyEnd(oneTree(engine))
    .execute();
  await db.schema
    .createTable('artifacts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('media_type', 'text', required)
    .addColumn('size', 'integer', required)
    .addColumn('created_at', 'text', required)
    .execute();
  await db.schema
    .createTable('call_artifacts')
    .addColumn('call_id', 'text', required)
    .addColumn('artifact_id', 'text', required)
    .addColumn('name', 'text', required)
    .execute();
  await db.schema.createIndex('call_artifacts_by_call').on('call_artifacts').columns(['call_id']).execute();
}

async function createSmallTables(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text', required)
    .addColumn('expires_at', 'text', required)
    .execute();
  await db.schema
    .createTable('settings')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', required)
    .execute();
  await db.schema
    .createTable('agents')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'text', required)
    .addColumn('revoked_at', 'text')
    .execute();
  await db.schema
    .createTable('events')
    .addColumn('id', engine === 'sqlite' ? 'integer' : 'serial', (c) =>
      engine === 'sqlite' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('topic', 'text', required)
    .addColumn('data', 'text', required)
    .addColumn('at', 'text', required)
    .execute();
  await db.schema
    .createTable('listeners')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('expires_at', 'text', required)
    .execute();
  await db.schema
    .createTable('web_sessions')
    .addColumn('id_hash', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', required)
    .addColumn('person', 'text', required)
    .addColumn('created_at', 'text', required)
    .addColumn('expires_at', 'text', required)
    .execute();
}
