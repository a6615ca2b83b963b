import { leafHash } from '../../lib/merkle.ts';
import { type Entry, readBody } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import { ApprovalRowCheck } from '../log/verify/approval-rows.ts';
import type { Database } from '../store/database.ts';

/** Where the row of an approval differs from its audit entries, one sentence part each; empty when they agree. */
export async function approvalDifferences(
  database: Database,
  { id, uuid, version }: { readonly id: number; readonly uuid: string; readonly version: number },
): Promise<readonly string[]> {
  const { db } = database;
  const entries = await entriesOf(database, uuid);
  if (entries.some(({ hash, body }) => leafHash(body) !== hash)) return ['has an entry that was changed'];
  const check = new ApprovalRowCheck();
  for (const { seq, body } of entries) check.take(seq, JSON.parse(body) as Entry);
  const row = await db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirst();
  // Read after its entries: a row that has moved on since the caller read it is ahead of them.
  return row?.version === version ? check.compareOne(database, row) : [];
}

/** Those about the approval and those of the calls that used it: what recovery says of a call names only the call. */
async function entriesOf({ db, engine }: Database, uuid: string) {
  const about = await entriesAbout(db, engine, uuid);
  const calls = about.flatMap(({ body }) => readBody(body)?.call ?? []);
  if (calls.length === 0) return about;
  const ofCalls = await db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body'])
    .where('call_id', 'in', [...new Set(calls)])
    .execute();
  const all = new Map([...about, ...ofCalls].map((one) => [one.seq, one]));
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}
