import type { Kysely } from 'kysely';
import type { XClientTables } from '../client/tables.ts';
import type { GrowthTables } from './tables.ts';

const FOLLOWING_X = [
  'x_posts',
  'x_threads',
  'x_discovered',
  'x_followers',
  'x_cursors',
  'x_media',
  'x_rate_limits',
] as const;

/**
 * Forgets what is known of a world that begins anew: posts that are gone would still count against limits, and files
 * uploaded there or places read up to would be taken for good. What people wrote and what the log says stays.
 */
export async function forgetWorld(db: Kysely<GrowthTables & XClientTables>, realm: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('x_thread_parts')
      .where('thread_id', 'in', (eb) => eb.selectFrom('x_threads').select('id').where('realm', '=', realm))
      .execute();
    for (const table of FOLLOWING_X) await trx.deleteFrom(table).where('realm', '=', realm).execute();
  });
}
