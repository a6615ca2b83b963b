import { sql } from 'kysely';
import type { Database, Engine } from '../../store/database.ts';

/** The same expressions as in the index (060-approval-evidence), so that this reads only the approval's own entries. */
const ABOUT_APPROVAL = sql<boolean>`substr(body, 1, 12) = '{"approval":'`;
const UUID = {
  sqlite: sql<string>`substr(body, instr(body, '"uuid":"') + 8, 36)`,
  postgres: sql<string>`substr(body, strpos(body, '"uuid":"') + 8, 36)`,
} as const;

/** The entries about one approval, in their order. */
export const entriesAbout = (db: Database['db'], engine: Engine, uuid: string) =>
  db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body'])
    .where(ABOUT_APPROVAL)
    .where(UUID[engine], '=', uuid)
    .orderBy('seq')
    .execute();
