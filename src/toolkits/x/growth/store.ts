import type { Kysely } from 'kysely';
import { withDbFaults } from '../lib/db-faults.ts';
import { Agenda } from './agenda.ts';
import { DiscoveredPosts } from './discovered.ts';
import { Journal } from './journal.ts';
import { PostLog } from './posts.ts';
import type { GrowthTables } from './tables.ts';
import { ThreadLog } from './threads.ts';

export interface GrowthStore {
  readonly posts: PostLog;
  readonly threads: ThreadLog;
  readonly agenda: Agenda;
  readonly discovered: DiscoveredPosts;
  readonly journal: Journal;
}

/** `realm` says whose data it is, the sandbox's or the account's; every query is bound to it. */
export const createGrowthStore = (db: Kysely<GrowthTables>, realm: () => Promise<string>): GrowthStore => ({
  posts: withDbFaults(new PostLog(db, realm)),
  threads: withDbFaults(new ThreadLog(db, realm)),
  agenda: withDbFaults(new Agenda(db, realm)),
  discovered: withDbFaults(new DiscoveredPosts(db, realm)),
  journal: withDbFaults(new Journal(db, realm)),
});
