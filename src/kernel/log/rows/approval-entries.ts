import { sql } from 'kysely';
import type { Database, Engine } from '../../store/database.ts';
import type { EntryKind } from '../entry.ts';

/** The same expressions as in the index (060-approval-evidence), so that this reads only the approval's own entries. */
const ABOUT_APPROVAL = sql<boolean>`substr(body, 1, 12) = '{"approval":'`;
const UUID = {
  sqlite: sql<string>`substr(body, instr(body, '"uuid":"') + 8, 36)`,
  postgres: sql<string>`substr(body, strpos(body, '"uuid":"') + 8, 36)`,
} as const;

/** An entry about an approval, as it is stored. */
export interface ApprovalEntry {
  readonly seq: number;
  readonly hash: string;
  readonly body: string;
  readonly uuid: string;
}

/** The entries about these approvals, in their order; of all kinds unless some are named. */
export async function entriesAbout(
  db: Database['db'],
  engine: Engine,
  uuids: string | readonly string[],
  kinds?: readonly EntryKind[],
): Promise<ApprovalEntry[]> {
  const wanted = typeof uuids === 'string' ? [uuids] : uuids;
  if (wanted.length === 0) return [];
  let query = db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body', UUID[engine].as('uuid')])
    .where(ABOUT_APPROVAL)
    .where(UUID[engine], 'in', wanted);
  if (kinds) query = query.where('kind', 'in', kinds);
  return query.orderBy('seq').execute();
}
