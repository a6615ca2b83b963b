import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import type { Problems } from './report.ts';

/**
 * Calls that begin or end more than once. `calls` is how many there are if none does; only when the store counts fewer
 * is the slow question asked. The columns were compared with the entries before.
 */
export async function findRepeatedCalls(
  database: Database,
  size: number,
  calls: number,
  problems: Problems,
): Promise<void> {
  const { distinct } = await database.db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.count<number>('call_id').distinct().as('distinct'))
    .where('call_id', 'is not', null)
    .where('seq', '<', size)
    .executeTakeFirstOrThrow();
  if (distinct === calls) return;
  const { rows } = await sql<{ call: string; begun: number; ended: number; seq: number }>`
    select call_id as "call", max(seq) as "seq",
      sum(case when kind = 'intent' then 1 else 0 end) as "begun",
      sum(case when kind in ('outcome', 'read', 'call', 'refusal', 'routed', 'dry_run') then 1 else 0 end) as "ended"
    from audit_log where call_id is not null and seq < ${size} group by call_id
    having sum(case when kind = 'intent' then 1 else 0 end) > 1
      or sum(case when kind in ('outcome', 'read', 'call', 'refusal', 'routed', 'dry_run') then 1 else 0 end) > 1
    limit 100
  `.execute(database.db);
  for (const { call, begun, ended, seq } of rows) {
    const what = [begun > 1 ? `begins ${begun} times` : '', ended > 1 ? `ends ${ended} times` : ''];
    problems.add('story', seq, `Call ${call} ${what.filter(Boolean).join(' and ')} in the log.`);
  }
}
