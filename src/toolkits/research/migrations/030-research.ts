import type { ColumnDefinitionBuilder } from 'kysely';
import type { Migration } from '../../../contract/migration.ts';

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** What the research toolkit stores next to a researcher's project; full-text index and vectors are files of their own. */
export const migration: Migration = {
  name: '030-research',
  async up(db, engine) {
    const id = engine === 'sqlite' ? ('integer' as const) : ('serial' as const);
    const numbered = (column: ColumnDefinitionBuilder) =>
      engine === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey();

    await db.schema
      .createTable('research_projects')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('path', 'text', required)
      .addColumn('made_at', 'text', required)
      .addColumn('first_seen', 'text', required)
      .execute();
    await db.schema
      .createIndex('research_projects_by_place')
      .on('research_projects')
      .columns(['path', 'made_at'])
      .unique()
      .execute();

    // Which project was open when: the last row is the one that is open; a null project means closed.
    await db.schema
      .createTable('research_openings')
      .addColumn('id', id, numbered)
      .addColumn('project_id', 'text')
      .addColumn('at', 'text', required)
      .addColumn('by', 'text', required)
      .execute();

    await db.schema
      .createTable('research_changes')
      .addColumn('id', id, numbered)
      .addColumn('project_id', 'text', required)
      .addColumn('call_id', 'text', required)
      .addColumn('tool', 'text', required)
      .addColumn('owner', 'text', required)
      .addColumn('principal', 'text', required)
      .addColumn('approved_by', 'text')
      .addColumn('method', 'text')
      .addColumn('confidence', 'integer')
      .addColumn('rationale', 'text')
      .addColumn('at', 'text', required)
      .addColumn('stamp', 'text', required)
      .addColumn('state', 'text', required)
      .addColumn('undoes', 'integer')
      .addColumn('rows', 'text', required)
      .execute();
    await db.schema
      .createIndex('research_changes_by_call')
      .on('research_changes')
      .columns(['call_id'])
      .execute();
    await db.schema
      .createIndex('research_changes_by_project')
      .on('research_changes')
      .columns(['project_id', 'id'])
      .execute();

    // Rows a change added, as runs of ids, to find who made a coding.
    await db.schema
      .createTable('research_added')
      .addColumn('change_id', 'integer', required)
      .addColumn('project_id', 'text', required)
      .addColumn('kind', 'text', required)
      .addColumn('first_id', 'integer', required)
      .addColumn('last_id', 'integer', required)
      .execute();
    await db.schema
      .createIndex('research_added_by_id')
      .on('research_added')
      .columns(['project_id', 'kind', 'first_id'])
      .execute();

    await db.schema
      .createTable('research_batches')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('project_id', 'text', required)
      .addColumn('tool', 'text', required)
      .addColumn('at', 'text', required)
      .execute();

    await db.schema
      .createTable('research_off_limits')
      .addColumn('project_id', 'text', required)
      .addColumn('source_id', 'integer', required)
      .addColumn('at', 'text', required)
      .addColumn('by', 'text', required)
      .addPrimaryKeyConstraint('research_off_limits_pk', ['project_id', 'source_id'])
      .execute();

    await db.schema
      .createTable('research_pseudonyms')
      .addColumn('project_id', 'text', required)
      .addColumn('original', 'text', required)
      .addColumn('pseudonym', 'text', required)
      .addColumn('at', 'text', required)
      .addColumn('by', 'text', required)
      .addPrimaryKeyConstraint('research_pseudonyms_pk', ['project_id', 'original'])
      .execute();
  },
};
