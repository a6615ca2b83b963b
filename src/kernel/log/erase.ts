import { sql, type Transaction } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import { eraseWords } from '../store/call-words.ts';
import type { Database } from '../store/database.ts';
import type { Tables } from '../store/tables.ts';
import type { ArtifactStore } from './artifacts.ts';
import { prepareEntry } from './entry.ts';
import { appendEntries } from './log.ts';
import { ERASED } from './rows/approval-words.ts';
import { ERASED_ANSWER } from './rows/key-row.ts';

/** Both together mean: these calls, as far as they are older. At least one must be given. */
export interface ErasureScope {
  readonly before?: Date;
  readonly calls?: readonly string[];
}

export interface ErasureContext {
  readonly artifacts: ArtifactStore;
  /** Who asked for it, as `principalName` writes it; retention is `system:retention`. */
  readonly principal: string;
  readonly now: Date;
}

export interface Erasure {
  readonly payloads: number;
  readonly artifacts: readonly string[];
  readonly approvals: number;
}

/** So many artifact ids fit one entry. */
const PER_ENTRY = 1000;

/**
 * Erases what was said and keeps that it was said: payloads lose body and salt, artifacts their bytes, finished
 * approvals their arguments. Entries keep the hashes, so every proof still holds; the erasure is an entry itself.
 */
export async function erasePayloads(
  database: Database,
  scope: ErasureScope,
  context: ErasureContext,
): Promise<Erasure> {
  if (!scope.before && !scope.calls)
    throw new Error('Specify what to erase: calls, a cut-off time, or both.');
  // Otherwise SQLite only unlinks the old pages and the text stays readable in the file.
  if (database.engine === 'sqlite') await sql`pragma secure_delete = on`.execute(database.db);
  const erasure = await database.write((trx) => erase(trx, database, scope, context));
  if (database.engine === 'sqlite' && erasure.payloads + erasure.approvals > 0) {
    await sql`pragma wal_checkpoint(truncate)`.execute(database.db);
  }
  return erasure;
}

async function erase(
  trx: Transaction<Tables>,
  database: Database,
  scope: ErasureScope,
  { artifacts, principal, now }: ErasureContext,
): Promise<Erasure> {
  const at = now.toISOString();
  const payloads = await wipePayloads(trx, scope, at);
  const gone = await unlinkArtifacts(trx);
  const wiped = await wipeApprovals(trx, at, scope.before);
  const approvals = wiped.length;
  await wipeReplays(trx, at);
  if (payloads + gone.length + approvals === 0) return { payloads, artifacts: gone, approvals };
  await eraseWords(trx, database.engine, { erasedAt: at, approvals: wiped });
  const chunks = gone.length === 0 ? [[]] : chunk(gone, PER_ENTRY);
  const entries = chunks.map((ids, index) => {
    const extra: JsonObject = { payloads: 0, approvals: 0, artifacts: ids };
    if (index === 0) Object.assign(extra, { payloads, approvals });
    if (scope.before) extra.before = scope.before.toISOString();
    if (scope.calls) extra.calls = scope.calls.length;
    return prepareEntry({ kind: 'erasure', at, principal, extra });
  });
  await appendEntries(trx, database.engine, entries);
  // Last, so that a failure before it changes nothing, and before the commit, so that a crash leaves rows that name
  // what still has to be erased rather than files that nothing names.
  for (const id of gone) await artifacts.remove(id);
  return { payloads, artifacts: gone, approvals };
}

async function wipePayloads(
  trx: Transaction<Tables>,
  { before, calls }: ErasureScope,
  at: string,
): Promise<number> {
  let total = 0;
  // A list of calls may be longer than a statement takes parameters.
  for (const some of calls ? chunk(calls, 500) : [undefined]) {
    let update = trx
      .updateTable('audit_payloads')
      .set({ body: null, salt: '', erased_at: at })
      .where('erased_at', 'is', null);
    if (before) update = update.where('at', '<', before.toISOString());
    if (some) update = update.where('call_id', 'in', some);
    total += Number((await update.executeTakeFirst()).numUpdatedRows);
  }
  return total;
}

/** Artifacts go when no call that still has a payload refers to them. */
async function unlinkArtifacts(trx: Transaction<Tables>): Promise<string[]> {
  const kept = trx
    .selectFrom('call_artifacts as c')
    .innerJoin('audit_payloads as p', 'p.call_id', 'c.call_id')
    .where('p.erased_at', 'is', null)
    .select('c.artifact_id');
  const erasedCalls = trx.selectFrom('audit_payloads').select('call_id').where('erased_at', 'is not', null);
  const rows = await trx
    .selectFrom('call_artifacts')
    .select('artifact_id')
    .distinct()
    .where('call_id', 'in', erasedCalls)
    .where('artifact_id', 'not in', kept)
    .orderBy('artifact_id')
    .execute();
  const ids = rows.map(({ artifact_id }) => artifact_id);
  for (const some of chunk(ids, 500)) {
    await trx.deleteFrom('call_artifacts').where('artifact_id', 'in', some).execute();
    await trx.deleteFrom('artifacts').where('id', 'in', some).execute();
  }
  return ids;
}

const OVER = ['done', 'failed', 'rejected', 'expired', 'withdrawn'];

/** The queue keeps the whole call; once it is over, its arguments go with the payloads they are a copy of. */
async function wipeApprovals(
  trx: Transaction<Tables>,
  at: string,
  before: Date | undefined,
): Promise<readonly number[]> {
  const erasedCalls = trx.selectFrom('audit_payloads').select('call_id').where('erased_at', '=', at);
  const routed = trx
    .selectFrom('calls')
    .select('approval_id')
    .where('approval_id', 'is not', null)
    .where('call_id', 'in', erasedCalls);
  const over = await trx
    .selectFrom('approvals')
    .select('id')
    .where('state', 'in', OVER)
    .where('summary', '!=', ERASED)
    .where((eb) =>
      eb.or([
        eb('call_id', 'in', erasedCalls),
        eb('id', 'in', routed),
        ...(before ? [eb('decided_at', '<', before.toISOString())] : []),
      ]),
    )
    .execute();
  const wiped = over.map(({ id }) => id);
  for (const ids of chunk(wiped, 500)) {
    await trx
      .updateTable('approval_edits')
      .set({ old_args: '{}', new_args: '{}' })
      .where('approval_id', 'in', ids)
      .execute();
    await trx.deleteFrom('approval_previews').where('approval_id', 'in', ids).execute();
    await trx
      .updateTable('approvals')
      .set({ args: '{}', context: '{}', summary: ERASED, gist: null, risks: '[]', outcome: null })
      .where('id', 'in', ids)
      .execute();
  }
  return wiped;
}

/** A repeated call must still not run twice, so the key stays and only its answer goes. */
async function wipeReplays(trx: Transaction<Tables>, at: string): Promise<void> {
  const erasedCalls = trx.selectFrom('audit_payloads').select('call_id').where('erased_at', '=', at);
  await trx
    .updateTable('idempotency')
    .set({ outcome: ERASED_ANSWER })
    .where('state', '=', 'ok')
    .where('call_id', 'in', erasedCalls)
    .execute();
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
