import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * The time of the database when it was opened, carried forward by a clock that no one can set. Nodes whose own clocks
 * differ agree on it, and a clock that is set while a process runs does not move it.
 */
export async function databaseClock({ db, engine }: Pick<Database, 'db' | 'engine'>): Promise<() => Date> {
  const opened = engine === 'postgres' ? await readClock(db) : Date.now();
  const since = performance.now();
  return () => new Date(opened + performance.now() - since);
}

async function readClock(db: Database['db']): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  return rows[0]?.ms ?? Date.now();
}

/** Two clocks of one process, of which the computer's own may be set while it runs. */
export interface Clocks {
  now(): Date;
  databaseNow(): Date;
}

/** What ends a time from now counts from the later of the two clocks, so that it never ends too early. */
export const laterOf = ({ now, databaseNow }: Clocks): Date =>
  new Date(Math.max(now().getTime(), databaseNow().getTime()));

/** What has ended has ended by both clocks. */
export const earlierOf = ({ now, databaseNow }: Clocks): Date =>
  new Date(Math.min(now().getTime(), databaseNow().getTime()));
