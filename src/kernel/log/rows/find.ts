import { sql } from 'kysely';
import { leafHash } from '../../../lib/merkle.ts';
import type { Database } from '../../store/database.ts';
import type { CallsTable } from '../../store/tables.ts';
import type { Entry } from '../entry.ts';
import type { PayloadKind } from '../log.ts';
import { compareWords } from './approval-words.ts';
import { type CallEntry, type FoundRow, rowDifferences } from './call-row.ts';
import { payloadDifferences, type StoredPayload } from './payload-row.ts';

interface Joined extends CallsTable {
  readonly wanted: string;
  readonly seq: number | null;
  readonly hash: string | null;
  readonly body: string | null;
  readonly approval_uuid: string | null;
  /** The stored payloads as JSON, next to the entry that may commit to them. */
  readonly stored_args: string | null;
  readonly stored_result: string | null;
}

/**
 * Each of these calls with where its row and its entries differ. One statement reads both, so that a call which ends
 * just now is seen before or after, never in between.
 */
export const findDifferences = (
  database: Database,
  calls: readonly string[],
): Promise<Map<string, string[]>> =>
  compare(database, calls, [], (group) => rowDifferences(rowOf(group), entriesOf(group)));

/**
 * The same for what people are shown of calls, without a proof next to it: their entries must match their own hashes, and
 * stored payloads of these kinds what the entries commit to.
 */
export async function findShownDifferences(
  database: Database,
  calls: readonly string[],
  payloads: readonly PayloadKind[],
): Promise<Map<string, string[]>> {
  const approvals = new Map<string, { readonly id: number; readonly asked: string | undefined }>();
  const found = await compare(database, calls, payloads, (group) => {
    const [row, entries] = [rowOf(group), entriesOf(group)];
    const isChanged = group.some(({ body, hash }) => body !== null && leafHash(body) !== hash);
    const id = row.row?.approval_id ?? null;
    const first = entries[0]?.entry;
    if (row.row && first && id !== null)
      approvals.set(row.row.call_id, { id, asked: first.kind === 'routed' ? first.digest : undefined });
    return [
      ...(isChanged ? ['has an entry that was changed'] : []),
      ...rowDifferences(row, entries),
      // Without entries there is nothing to compare more.
      ...(first ? payloadDifferences(entries, storedOf(group, payloads)) : []),
    ];
  });
  const compared = await compareWords(
    database,
    [...approvals.values()].map(({ id }) => id),
  );
  for (const [call, { id, asked }] of approvals) {
    const approval = compared.get(id);
    if (approval?.isForged)
      found.get(call)?.push('has a title or content that differs from the entries of its approval');
    // The entry of a routed call does not name its approval, but the approval is about the same call.
    else if (approval && asked !== undefined && !approval.digests.has(asked))
      found.get(call)?.push(`says approval_id is "${id}", which was requested for another call`);
  }
  return found;
}

async function compare(
  database: Database,
  calls: readonly string[],
  payloads: readonly PayloadKind[],
  differences: (group: readonly Joined[]) => string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (let start = 0; start < calls.length; start += BATCH) {
    const rows = await joined(database, calls.slice(start, start + BATCH), payloads);
    for (const [call, group] of grouped(rows)) found.set(call, differences(group));
  }
  return found;
}

const BATCH = 200;

/** Read once per call: arguments are committed to by its first entry, a result by the one that ends it. */
const OTHER_ENTRIES: Readonly<Record<PayloadKind, readonly string[]>> = {
  args: ['outcome', 'settled'],
  result: ['intent', 'settled'],
};

async function joined(
  { db, engine }: Database,
  calls: readonly string[],
  payloads: readonly PayloadKind[],
): Promise<Joined[]> {
  const object = sql.raw(engine === 'postgres' ? 'json_build_object' : 'json_object');
  const payload = (kind: PayloadKind) =>
    payloads.includes(kind)
      ? sql`(select cast(${object}('hash', p.hash, 'salt', p.salt, 'body', p.body, 'at', p.at, 'erased_at', p.erased_at) as text)
          from audit_payloads as p where p.call_id = w.value and p.kind = ${kind}
          and l.kind not in (${sql.join(OTHER_ENTRIES[kind])}))`
      : sql`null`;
  const list = JSON.stringify(calls);
  const wanted =
    engine === 'postgres'
      ? sql`(select value from jsonb_array_elements_text(${list}::jsonb) as list (value)) as w`
      : sql`(select value from json_each(${list})) as w`;
  const { rows } = await sql<Joined>`
    select w.value as wanted, l.seq, l.hash, l.body, a.uuid as approval_uuid, ${payload('args')} as stored_args,
      ${payload('result')} as stored_result, c.*
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

function storedOf(
  group: readonly Joined[],
  payloads: readonly PayloadKind[],
): ReadonlyMap<PayloadKind, StoredPayload | undefined> {
  return new Map(
    payloads.map((kind) => {
      const column = kind === 'args' ? 'stored_args' : 'stored_result';
      const text = group.find((row) => row[column] !== null)?.[column];
      return [kind, text ? (JSON.parse(text) as StoredPayload) : undefined];
    }),
  );
}

/** A body that cannot be read is named as such elsewhere. */
function read(body: string): Entry | undefined {
  try {
    return JSON.parse(body) as Entry;
  } catch {
    return undefined;
  }
}
