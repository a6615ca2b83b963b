import type { Database } from '../store/database.ts';

/** When the latest audit entry was written, as ISO text; undefined while the log is empty. */
export async function latestEntryTime({ db }: Database): Promise<string | undefined> {
  const last = await db
    .selectFrom('audit_log')
    .select('at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.at;
}

/** Whether the audit log has an entry of this call. */
export async function isCallInLog({ db }: Database, call: string): Promise<boolean> {
  const entry = await db.selectFrom('audit_log').select('seq').where('call_id', '=', call).executeTakeFirst();
  return entry !== undefined;
}
