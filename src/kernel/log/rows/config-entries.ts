import { sql } from 'kysely';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database, Engine } from '../../store/database.ts';
import type { Entry } from '../entry.ts';

/** The same expressions as in the index (094-config-entries). */
export const ABOUT_CONFIG = {
  sqlite: sql<boolean>`instr(body, '"kind":"config"') > 0`,
  postgres: sql<boolean>`strpos(body, '"kind":"config"') > 0`,
} as const;

const SAYS_PAUSED = {
  sqlite: sql<boolean>`instr(body, '"paused":') > 0`,
  postgres: sql<boolean>`strpos(body, '"paused":') > 0`,
} as const;

/** The entry, or undefined when it is not what was logged: a changed entry proves nothing. */
export function readConfigEntry(body: string, hash: string | null): Entry | undefined {
  if (leafHash(body) !== hash) return undefined;
  const entry = JSON.parse(body) as Entry;
  return entry.kind === 'config' ? entry : undefined;
}

/** Whether people paused changes last, or resumed them. The row that says so can be deleted by hand, its entry only with traces. */
export async function isPausedInLog(db: Database['db'], engine: Engine): Promise<boolean> {
  const row = await db
    .selectFrom('audit_log')
    .select(['hash', 'body'])
    .where(ABOUT_CONFIG[engine])
    .where(SAYS_PAUSED[engine])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return false;
  return readConfigEntry(row.body, row.hash)?.extra?.paused !== false;
}

const known = new WeakMap<Database, { readonly newest: number; readonly paused: boolean }>();

/** The same for every change: the log is read again only when it has a newer entry about the configuration. */
export async function isPausedSince(
  database: Database,
  trx: Database['db'],
  newest: number,
): Promise<boolean> {
  const before = known.get(database);
  if (before?.newest === newest) return before.paused;
  const paused = await isPausedInLog(trx, database.engine);
  known.set(database, { newest, paused });
  return paused;
}
