import type { Expression, ExpressionBuilder, Insertable, Selectable, SqlBool, Updateable } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { ApprovalKind, ApprovalState } from '../../contract/ports.ts';
import { type PreparedEntry, prepareEntry } from '../log/entry.ts';
import { contextDigest, isSalted, resultDigest, saidDigest } from '../log/rows/approval-terms.ts';
import type { EvidenceWrite } from '../log/write.ts';
import { publishEvent } from '../store/events.ts';
import type { ApprovalsTable, Tables } from '../store/tables.ts';
import { sourcesOf, type TransitionName, targetsOf } from './transitions.ts';

export type ApprovalRow = Selectable<ApprovalsTable>;

export type WhereBuilder = ExpressionBuilder<Tables, 'approvals'>;

/** Which rows a move is about, beyond the states it starts from. */
export interface Where {
  readonly id?: number;
  /** The version the mover has seen; a row that was changed since is not moved. */
  readonly version?: number;
  /** The call that uses the approval. */
  readonly callId?: string;
  and?(eb: WhereBuilder): Expression<SqlBool>;
}

export interface Change extends Omit<Updateable<ApprovalsTable>, 'state' | 'version'> {
  readonly state: ApprovalState;
}

/** Who moves it and when, and what the entry says beyond that. */
export interface Evidence {
  readonly at: Date;
  /** As `principalName` writes it. */
  readonly by: string;
  readonly code?: string;
  readonly extra?: JsonObject;
}

/**
 * Moves approvals on. A compare-and-set that raises the version, with its audit entry and its event in the same
 * transaction. Returns the rows as they are now; none when another move came first.
 */
export async function move(
  write: EvidenceWrite,
  name: TransitionName,
  where: Where,
  change: Change,
  evidence: Evidence,
): Promise<readonly ApprovalRow[]> {
  const rows = await updateState(write, name, where, change).returningAll().execute();
  for (const { id } of rows)
    await publishEvent(write.trx, 'approvals', { id, state: change.state }, evidence.at);
  appendMoves(write, rows, name, change.state, evidence);
  return rows;
}

/**
 * The same for as many as match: an audit entry for each, and one event for all, because thousands would keep every open
 * page reading its list again. Returns how many were moved.
 */
export async function moveMany(
  write: EvidenceWrite,
  name: TransitionName,
  where: Where,
  change: Change,
  evidence: Evidence,
): Promise<number> {
  const rows = await updateState(write, name, where, change).returning(ENTRY_COLUMNS).execute();
  const count = rows.length;
  if (count > 0) await publishEvent(write.trx, 'approvals', { count, state: change.state }, evidence.at);
  appendMoves(write, rows, name, change.state, evidence);
  return count;
}

/** The only UPDATE of the state of approvals. */
const updateState = (
  { trx }: EvidenceWrite,
  name: TransitionName,
  where: Where,
  { state: to, ...set }: Change,
) =>
  trx
    .updateTable('approvals')
    .set((eb) => ({ ...set, state: to, version: eb('version', '+', 1) }))
    .where((eb) =>
      eb.and([
        eb.or(KINDS.flatMap((kind) => startsFrom(eb, name, kind, to))),
        ...(where.id === undefined ? [] : [eb('id', '=', where.id)]),
        ...(where.version === undefined ? [] : [eb('version', '=', where.version)]),
        ...(where.callId === undefined ? [] : [eb('call_id', '=', where.callId)]),
        ...(where.and ? [where.and(eb)] : []),
      ]),
    );

/** What an entry says of its approval. */
const ENTRY_COLUMNS = [
  'uuid',
  'digest',
  'requester',
  'kind',
  'run_id',
  'tool',
  'toolkit',
  'effect',
  'rule',
  'context',
  'expires_at',
  'decision_reason',
  'feedback',
  'outcome',
] as const satisfies readonly (keyof ApprovalRow)[];
type EntryRow = Pick<ApprovalRow, (typeof ENTRY_COLUMNS)[number]>;

function appendMoves(
  { append }: EvidenceWrite,
  rows: readonly EntryRow[],
  name: TransitionName,
  to: ApprovalState,
  evidence: Evidence,
): void {
  if (hasOwnEntry(name, to)) for (const row of rows) append(entryOf(row, name, to, evidence));
}

/** The first move: a new row, with its entry and its event. */
export async function ask(
  { trx, append }: EvidenceWrite,
  row: Omit<Insertable<ApprovalsTable>, 'state' | 'version'>,
  extra?: JsonObject,
): Promise<ApprovalRow> {
  const asked = { ...row, state: 'pending', version: 1 };
  const inserted = await trx.insertInto('approvals').values(asked).returningAll().executeTakeFirstOrThrow();
  const at = new Date(inserted.created_at);
  append(entryOf(inserted, 'ask', 'pending', { at, by: inserted.requester, extra }));
  await publishEvent(trx, 'approvals', { id: inserted.id, state: 'pending' }, at);
  return inserted;
}

const KINDS: readonly ApprovalKind[] = ['call', 'permit'];

function startsFrom(
  eb: WhereBuilder,
  name: TransitionName,
  kind: ApprovalKind,
  to: ApprovalState,
): Expression<SqlBool>[] {
  const sources = sourcesOf(name, kind);
  if (sources.length === 0 || !targetsOf(name, kind).includes(to)) return [];
  return [eb.and([eb('kind', '=', kind), eb('state', 'in', sources)])];
}

/** What the entries of the call itself prove (intent, outcome, settled) is not written a second time. */
const PROVEN_BY_CALL: ReadonlySet<TransitionName> = new Set(['begin', 'finish', 'settle', 'late']);

const hasOwnEntry = (name: TransitionName, to: ApprovalState): boolean =>
  // A change that was lost has its outcome entry; a read has no entry before it ends.
  name === 'lose' ? to === 'failed' : !PROVEN_BY_CALL.has(name);

function entryOf(
  row: EntryRow,
  name: TransitionName,
  to: ApprovalState,
  { at, by, code, extra }: Evidence,
): PreparedEntry {
  const { uuid, digest, requester } = row;
  const permit = row.kind === 'permit' || undefined;
  const approver = name === 'approve' ? by : undefined;
  return prepareEntry({
    kind: name === 'edit' ? 'edit' : 'approval',
    at: at.toISOString(),
    run: row.run_id ?? undefined,
    tool: row.tool,
    toolkit: row.toolkit,
    effect: name === 'giveBack' ? row.effect : undefined,
    principal: by,
    digest,
    status: name === 'giveBack' ? 'returned' : to,
    code,
    rule: name === 'ask' ? row.rule : undefined,
    approval: name === 'expire' ? { uuid, digest } : { uuid, digest, requester, approver, permit },
    extra: withTerms(extra, name, row),
  });
}

/** Moves that store a result with the approval and say so in an entry of their own. */
const STORES_RESULT: ReadonlySet<TransitionName> = new Set([
  'reopen',
  'answer',
  'giveBack',
  'lose',
  'invalidate',
]);

/** What the entry says of the cells that only it binds to the log. */
function withTerms(
  extra: JsonObject | undefined,
  name: TransitionName,
  row: EntryRow,
): JsonObject | undefined {
  const { context, expires_at } = row;
  if (!isSalted(context)) return extra;
  if (name === 'ask') return { ...extra, context_sha256: contextDigest(context), expires: expires_at };
  if (name === 'approve' || name === 'reject') return { ...extra, said_sha256: saidDigest(row) };
  return STORES_RESULT.has(name) ? { ...extra, outcome_sha256: resultDigest(row) } : extra;
}
