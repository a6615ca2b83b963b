import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { CallsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import { type CallEntry, type FoundRow, rowDifferences } from './call-row.ts';

interface Joined extends CallsTable {
  readonly wanted: string;
  readonly seq: number | null;
  readonly hash: string | null;
  readonly body: string | null;
  readonly approval_uuid: string | null;
}

/**
 * Each of these calls with where its row and its entries differ. One statement reads both, so that a call which ends
 * just now is seen before or after, never in between.
 */
export async function findDifferences(
  database: Database,
  calls: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (let start = 0; start < calls.length; start += BATCH) {
    const rows = await joined(database, calls.slice(start, start + BATCH));
    for (const [call, group] of grouped(rows)) {
      found.set(call, rowDifferences(rowOf(group), entriesOf(group)));
    }
  }
  return found;
}

const BATCH = 200;

async function joined({ db, engine }: Database, calls: readonly string[]): Promise<Joined[]> {
  const list = JSON.stringify(calls);
  const wanted =
    engine === 'postgres'
      ? sql`(select value from jsonb_array_elements_text(${list}::jsonb) as list (value)) as w`
      : sql`(select value from json_each(${list})) as w`;
  const { rows } = await sql<Joined>`
    select w.value as wanted, l.seq, l.hash, l.body, a.uuid as approval_uuid, c.*
    from ${wanted} left join audit_log as l on l.call_id = w.value left join calls as c on c.call_id = w.value
    left join approvals as a on a.id = c.approval_id order by l.seq
  `.execute(db);
  return rows;
}

function grouped(rows: readonly Joined[]): Map<string, Joined[]> {
  const groups = new Map<string, Joined[]>();
  for (const row of rows) {
    const group = groups.get(row.wanted);
    if (group) group.push(row);
    else groups.set(row.wanted, [row]);
  }
  return groups;
}

function rowOf([first]: readonly Joined[]): FoundRow {
  const has = first !== undefined && first.call_id !== null;
  return { row: has ? first : undefined, approvalUuid: first?.approval_uuid ?? null };
}

function entriesOf(group: readonly Joined[]): CallEntry[] {
  return group.flatMap(({ seq, hash, body }) => {
    const entry = body === null ? undefined : read(body);
    return seq === null || hash === null || !entry ? [] : [{ seq, hash, entry }];
  });
}

/** A body that cannot be read is named as such elsewhere. */
function read(body: string): Entry | undefined {
  try {
    return JSON.parse(body) as Entry;
  } catch {
    return undefined;
  }
}
