import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';

const ENTRIES_AT_ONCE = 500;

/** Where the audit log ends now. */
export async function logEnd({ db }: Database): Promise<number> {
  const last = await db
    .selectFrom('audit_log')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.seq ?? -1;
}

/** Entries that tell of something done; an intent or a refusal left everything as it was. */
const DONE = ['outcome', 'call', 'settled'];

/**
 * What new entries of the log mean for pages: that there are calls (`calls`), whose data they changed
 * (`changed.<toolkit>`), that someone changed the state of the server (`config`).
 */
export async function newsSince(
  database: Database,
  seen: number,
): Promise<{ readonly end: number; readonly topics: ReadonlySet<string> }> {
  const end = await logEnd(database);
  if (end <= seen) return { end: seen, topics: new Set() };
  // Decisions on thousands of approvals are thousands of entries that say nothing more to a page.
  const rows = await database.db
    .selectFrom('audit_log')
    .select(['seq', 'kind', 'body'])
    .where('seq', '>', seen)
    .where('seq', '<=', end)
    .where('kind', 'in', [...DONE, 'config'])
    .orderBy('seq')
    .limit(ENTRIES_AT_ONCE)
    .execute();
  const topics = new Set<string>(['calls']);
  for (const { kind, body } of rows) {
    if (kind === 'config') topics.add('config');
    if (!DONE.includes(kind)) continue;
    const toolkit = parseObject(body)?.toolkit;
    if (typeof toolkit === 'string') topics.add(`changed.${toolkit}`);
  }
  return { end: rows.length < ENTRIES_AT_ONCE ? end : (rows.at(-1)?.seq ?? end), topics };
}
