import { sql } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import { lookup, put } from '../../lib/lookup.ts';
import { uuidFloor } from '../../lib/random.ts';
import { parseObject } from '../store/cells.ts';
import type { Database } from '../store/database.ts';

/** The stored arguments of these calls; calls whose arguments were not kept, or cannot be read, are left out. */
export async function storedArguments(
  { db }: Database,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  if (callIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('audit_payloads')
    .select(['call_id', 'body'])
    .where('kind', '=', 'args')
    .where('call_id', 'in', callIds)
    .execute();
  return new Map(
    rows.flatMap(({ call_id, body }) => {
      const args = body ? parseObject(body) : undefined;
      return call_id && args ? [[call_id, args] as const] : [];
    }),
  );
}

/** The digests of a tool's successful calls since then, no matter who made them. */
export async function successfulDigests(
  { db }: Database,
  tool: string,
  since: Date,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('calls')
    .select('digest')
    .where('call_id', '>=', uuidFloor(since.getTime()))
    .where('tool', '=', tool)
    .where('status', '=', 'ok')
    .execute();
  return new Set(rows.map((row) => row.digest));
}

/** True while nothing was ever asked of a person and no agent ever called. */
export async function isUnused({ db }: Database): Promise<boolean> {
  const asked = await db.selectFrom('approvals').select('id').limit(1).executeTakeFirst();
  if (asked) return false;
  const called = await db
    .selectFrom('calls')
    .select('call_id')
    .where('principal', 'like', 'agent:%')
    .limit(1)
    .executeTakeFirst();
  return called === undefined;
}

const MOST_HITS = 20_000;

/** How often each rule asked, refused or made a call dry since then. Calls that were let through are not in the index. */
export async function countRuleHits({ db }: Database, since: Date): Promise<Record<string, number>> {
  const hits: Record<string, number> = {};
  for (const status of ['routed', 'refused', 'dry_run']) {
    const rows = await db
      .selectFrom(
        db
          .selectFrom('calls')
          .select('rule')
          .where(sql<boolean>`status in ('failed', 'refused', 'routed', 'dry_run')`)
          .where('status', '=', status)
          .where('call_id', '>=', uuidFloor(since.getTime()))
          .limit(MOST_HITS)
          .as('some'),
      )
      .select((eb) => ['rule', eb.fn.countAll<number>().as('count')])
      .groupBy('rule')
      .execute();
    for (const { rule, count } of rows)
      if (rule !== null) put(hits, rule, (lookup(hits, rule) ?? 0) + Number(count));
  }
  return hits;
}
