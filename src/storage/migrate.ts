import { type Kysely, sql } from 'kysely';
import type { Migration } from '../contract/migration.ts';
import type { Engine } from '../kernel/store/database.ts';
import { migration as kernel } from './migrations/001-kernel.ts';
import { migration as inbox } from './migrations/050-inbox.ts';
import { migration as approvalEvidence } from './migrations/060-approval-evidence.ts';
import { migration as approvalPreviews } from './migrations/061-approval-previews.ts';
import { migration as approvalPresentations } from './migrations/062-approval-presentations.ts';
import { migration as standingApprovals } from './migrations/063-standing-approvals.ts';
import { migration as gateway } from './migrations/070-gateway.ts';
import { migration as fairShares } from './migrations/080-fair-shares.ts';
import { migration as passkeys } from './migrations/080-passkeys.ts';
import { migration as tiles } from './migrations/090-tiles.ts';
import { migration as callStats } from './migrations/091-call-stats.ts';
import { migration as callWords } from './migrations/092-call-words.ts';
import { migration as approvalSigners } from './migrations/093-approval-signers.ts';
import { migration as configEntries } from './migrations/094-config-entries.ts';
import { migration as holds } from './migrations/095-holds.ts';
import { StoreError } from './store-error.ts';

/** Brings the schema forward; several processes may start simultaneously, one does the work. */
export async function migrate(
  db: Kysely<unknown>,
  engine: Engine,
  { names, load }: { readonly names: readonly string[]; load(): Promise<readonly Migration[]> },
): Promise<void> {
  const applied = await appliedNames(db);
  const known = new Set(names);
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new StoreError(
      `The database was written by a newer Countersign (it has ${unknown.join(', ')}). Update Countersign, or use another data directory.`,
    );
  }
  if (applied.length === names.length) return;

  const migrations = await load();
  // A server that answers this is not stalled, however long a single step takes or another process holds the lock.
  const ask = () => void sql`select 1`.execute(db).catch(() => {});
  const heartbeat = engine === 'postgres' ? setInterval(ask, 2_000) : undefined;
  try {
    await bringForward(db, engine, migrations);
  } finally {
    clearInterval(heartbeat);
  }
}

const bringForward = (db: Kysely<unknown>, engine: Engine, migrations: readonly Migration[]): Promise<void> =>
  db.transaction().execute(async (trx) => {
    if (engine === 'postgres') {
      await sql`set local lock_timeout = 0`.execute(trx);
      await sql`select pg_advisory_xact_lock(724031)`.execute(trx);
    }
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

/** The core's own migrations; toolkits add theirs. */
export const coreMigrations: readonly Migration[] = [
  kernel,
  inbox,
  approvalEvidence,
  approvalPreviews,
  approvalPresentations,
  standingApprovals,
  gateway,
  fairShares,
  passkeys,
  tiles,
  callStats,
  callWords,
  approvalSigners,
  configEntries,
  holds,
];
