import type { Kysely } from 'kysely';
import type { XClientTables } from '../client/store.ts';
import { withDbErrors } from '../errors.ts';
import { ActivityStore } from './activity-store.ts';
import { ContentQueue } from './content-queue.ts';
import { DiscoveredPosts } from './discovered.ts';
import { PostLog } from './posts.ts';
import type { GrowthTables } from './tables.ts';
import { ThreadLog } from './threads.ts';

export interface GrowthStore {
  readonly posts: PostLog;
  readonly threads: ThreadLog;
  readonly contentQueue: ContentQueue;
  readonly discovered: DiscoveredPosts;
  readonly journal: ActivityStore;
}

/** `realm` says whose data it is, the sandbox's or the account's; every query is bound to it. */
export const createGrowthStore = (db: Kysely<GrowthTables>, realm: () => Promise<string>): GrowthStore => ({
  posts: withDbErrors(new PostLog(db, realm)),
  threads: withDbErrors(new ThreadLog(db, realm)),
  contentQueue: withDbErrors(new ContentQueue(db, realm)),
  discovered: withDbErrors(new DiscoveredPosts(db, realm)),
  journal: withDbErrors(new ActivityStore(db, realm)),
});

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
 * Forgets what is known of a world that was reset: posts that are gone would still count against limits, and files
 * uploaded there or places read up to would be taken for good. What people wrote and what the log says stays.
 */
export async function clearRealm(db: Kysely<GrowthTables & XClientTables>, realm: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('x_thread_parts')
      .where('thread_id', 'in', (eb) => eb.selectFrom('x_threads').select('id').where('realm', '=', realm))
      .execute();
    for (const table of FOLLOWING_X) await trx.deleteFrom(table).where('realm', '=', realm).execute();
  });
}
