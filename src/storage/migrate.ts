import { type Kysely, sql } from 'kysely';
import type { Engine } from '../kernel/database.ts';
import type { Migration } from './migrations/migration.ts';
import { StoreError } from './store-error.ts';

/** Brings the schema forward; several processes may start at once, one does the work. */
export async function migrate(
  db: Kysely<unknown>,
  engine: Engine,
  migrations: readonly Migration[],
): Promise<void> {
  const applied = await appliedNames(db);
  const known = new Set(migrations.map((m) => m.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new StoreError(
      `The store was written by a newer Countersign (it has ${unknown.join(', ')}). Update Countersign, or use another data directory.`,
    );
  }
  if (applied.length === migrations.length) return;

  await db.transaction().execute(async (trx) => {
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(724031)`.execute(trx);
    await sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`.execute(
      trx,
    );
    const done = new Set(await appliedNames(trx));
    for (const migration of migrations) {
      if (done.has(migration.name)) continue;
      await migration.up(trx, engine);
      await sql`insert into schema_migrations (name, applied_at) values (${migration.name}, ${new Date().toISOString()})`.execute(
        trx,
      );
    }
  });
}

async function appliedNames(db: Kysely<unknown>): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db);
    return rows.map((row) => row.name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

function isMissingTable(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return text.includes('no such table') || text.includes('does not exist');
}
