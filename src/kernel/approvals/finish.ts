import type { Transaction } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { ApprovalKind, ApprovalState } from '../../contract/ports.ts';
import type { CallState } from '../call.ts';
import { publishEvent } from '../events.ts';
import type { Tables } from '../tables.ts';

/** Writes on the approval what its execution gave, in the same transaction as the outcome's evidence. */
export async function finishApproval(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
): Promise<void> {
  const { grant } = call;
  if (!grant || grant === call.request.parent?.grant) return;
  const state = stateAfter(outcome, grant.kind);
  await trx
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
    .execute();
  await publishEvent(trx, 'approvals', { id: grant.id, state }, call.startedAt);
}

/**
 * What certainly did not happen and may be tried again must not use up a person's decision: a call waits again, and a
 * permit stays given, because whoever holds it comes back by themselves.
 */
function stateAfter(outcome: Outcome, kind: ApprovalKind): ApprovalState {
  if (outcome.status === 'ok') return 'done';
  if (outcome.status === 'indeterminate') return 'indeterminate';
  if (outcome.status === 'failed' && outcome.fault.retryable && outcome.fault.effect === 'none')
    return kind === 'permit' ? 'approved' : 'pending';
  return 'failed';
}
