import { setImmediate } from 'node:timers/promises';
import { type Approval, type DamagedApproval, isReadable } from '../../contract/ports.ts';
import { leafHash } from '../../lib/merkle.ts';
import { findForged } from '../approvals/genuine.ts';
import { type Entry, readBody } from '../log/entry.ts';
import { entriesAbout } from '../log/rows/approval-entries.ts';
import { ApprovalRowCheck } from '../log/verify/approval-rows.ts';
import type { Database } from '../store/database.ts';

interface Compared {
  readonly id: number;
  readonly uuid: string;
  readonly version: number;
}

/** Where the row of an approval differs from its audit entries, one sentence part each; empty when they agree. */
export const approvalDifferences = async (
  database: Database,
  approval: Compared,
): Promise<readonly string[]> => (await differencesOf(database, [approval])).get(approval.id) ?? [];

const BATCH = 100;

/** Those of these approvals whose rows differ from their audit entries. */
export async function findDiffering(
  database: Database,
  approvals: readonly Compared[],
): Promise<ReadonlySet<number>> {
  const differing = new Set<number>();
  for (let start = 0; start < approvals.length; start += BATCH) {
    const found = await differencesOf(database, approvals.slice(start, start + BATCH));
    for (const [id, differences] of found) if (differences.length > 0) differing.add(id);
    // SQLite answers in this thread; a server must still reply to others.
    await setImmediate();
  }
  return differing;
}

/** Those that a list marks: pending ones that a person who opens them is refused, and others whose rows differ. */
export async function findMarked(
  database: Database,
  approvals: readonly (Approval | DamagedApproval)[],
): Promise<ReadonlySet<number>> {
  const readable = approvals.filter(isReadable);
  const decided = readable.filter(({ state }) => state !== 'pending');
  return new Set([...(await findForged(database, readable)), ...(await findDiffering(database, decided))]);
}

async function differencesOf(
  database: Database,
  approvals: readonly Compared[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const { db } = database;
  const entries = await entriesOf(
    database,
    approvals.map(({ uuid }) => uuid),
  );
  const check = new ApprovalRowCheck();
  const changed = new Set<string | undefined>();
  for (const { seq, hash, body, uuid } of entries) {
    if (leafHash(body) === hash) check.take(seq, JSON.parse(body) as Entry);
    else changed.add(uuid);
  }
  const ids = approvals.map(({ id }) => id);
  const rows = await db.selectFrom('approvals').selectAll().where('id', 'in', ids).execute();
  const versions = new Map(approvals.map(({ id, version }) => [id, version]));
  // Read after its entries: a row that has moved on since the caller read it is ahead of them.
  const same = rows.filter(({ id, version }) => versions.get(id) === version);
  const found = new Map(await check.compareSome(database, same));
  for (const { id, uuid } of approvals)
    if (changed.has(uuid)) found.set(id, ['has an entry that was changed']);
  return found;
}

/** Those about the approvals and those of the calls that used them: what recovery says of a call names only the call. */
async function entriesOf({ db, engine }: Database, uuids: readonly string[]) {
  const about = await entriesAbout(db, engine, uuids);
  const users = new Map(
    about.flatMap(({ uuid, body }) => {
      const call = readBody(body)?.call;
      return call === undefined ? [] : [[call, uuid] as const];
    }),
  );
  if (users.size === 0) return about;
  const ofCalls = await db
    .selectFrom('audit_log')
    .select(['seq', 'hash', 'body', 'call_id'])
    .where('call_id', 'in', [...users.keys()])
    .execute();
  const more = ofCalls.map(({ call_id, ...entry }) => ({ ...entry, uuid: users.get(call_id ?? '') ?? '' }));
  const all = new Map([...more, ...about].map((one) => [one.seq, one]));
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}
