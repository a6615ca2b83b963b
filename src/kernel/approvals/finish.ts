import type { Transaction } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalKind, ApprovalState } from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import { type PreparedEntry, prepareEntry } from '../audit/entry.ts';
import type { CallState } from '../call.ts';
import { publishEvent } from '../events.ts';
import type { Tables } from '../tables.ts';

/**
 * Writes on the approval what its execution gave, in the same transaction as the outcome's evidence. Gives the entries
 * that belong after that evidence: one that can be used again must not look used twice.
 */
export async function finishApproval(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
  at: string,
): Promise<PreparedEntry[]> {
  const { grant } = call;
  if (!grant || grant === call.request.parent?.grant) return [];
  const state = stateAfter(outcome, grant.kind, call.partDone);
  const { numUpdatedRows } = await trx
    .updateTable('approvals')
    .set((eb) => ({
      state,
      outcome: JSON.stringify(data),
      version: eb('version', '+', 1),
      ...(state === 'pending' ? { decided_at: null, decided_by: null, call_id: null } : {}),
      ...(state === 'approved' ? { call_id: null } : {}),
    }))
    .where('id', '=', grant.id)
    .where('state', '=', 'executing')
    .where('call_id', '=', call.id)
    .executeTakeFirst();
  // Refused before it used the approval, or taken for dead meanwhile.
  if (numUpdatedRows === 0n) return [];
  await publishEvent(trx, 'approvals', { id: grant.id, state }, call.startedAt);
  return state === 'pending' || state === 'approved' ? [returnedEntry(grant, call.id, at)] : [];
}

/** The approval is to be had again, because the call that used it did nothing. */
export const returnedEntry = (
  { uuid, kind, tool, toolkit, effect, digest, runId, requester }: Approval,
  call: string,
  at: string,
): PreparedEntry =>
  prepareEntry({
    kind: 'approval',
    at,
    run: runId,
    tool,
    toolkit,
    effect,
    principal: 'system:kernel',
    digest,
    status: 'returned',
    approval: {
      uuid,
      digest,
      requester: principalName(requester),
      permit: kind === 'permit' || undefined,
    },
    extra: { call },
  });

/**
 * The same for a call that others took for dead and that came back: whatever they made of its approval, it is used up
 * by what really happened, unless another call used it meanwhile.
 */
export async function finishLate(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
): Promise<void> {
  const { grant } = call;
  if (!grant || grant === call.request.parent?.grant || outcome.status === 'failed') return;
  const state: ApprovalState = outcome.status === 'ok' ? 'done' : 'indeterminate';
  await trx
    .updateTable('approvals')
    .set((eb) => ({
      state,
      call_id: call.id,
      outcome: JSON.stringify(data),
      version: eb('version', '+', 1),
    }))
    .where('id', '=', grant.id)
    .where('state', 'in', ['approved', 'failed', 'indeterminate'])
    .where((eb) => eb.or([eb('call_id', 'is', null), eb('call_id', '=', call.id)]))
    .execute();
  await publishEvent(trx, 'approvals', { id: grant.id, state }, call.startedAt);
}

/**
 * What certainly did not happen and may be tried again must not use up a person's decision: a call waits again, and a
 * permit stays given, because whoever holds it comes back by themselves.
 */
function stateAfter(outcome: Outcome, kind: ApprovalKind, partDone: boolean): ApprovalState {
  if (outcome.status === 'ok') return 'done';
  if (outcome.status === 'indeterminate') return 'indeterminate';
  if (outcome.status === 'failed' && outcome.fault.retryable && outcome.fault.effect === 'none' && !partDone)
    return kind === 'permit' ? 'approved' : 'pending';
  return 'failed';
}
