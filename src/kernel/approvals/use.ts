import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Approval, ApprovalKind, ApprovalState } from '../../contract/ports.ts';
import type { EvidenceWrite } from '../log/write.ts';
import { requireSigned, type SignatureNeed } from '../passkeys/signed.ts';
import { requireGenuine } from './genuine.ts';
import { type ApprovalRow, move } from './move.ts';
import { toApproval } from './row.ts';

const KERNEL = 'system:kernel';

/** A call that runs under an approval of its own. */
export interface ApprovalUse {
  readonly approval: Approval;
  readonly callId: string;
}

export interface BegunUse extends ApprovalUse {
  readonly need: SignatureNeed;
}

/**
 * An approval works once: the call that moves it from approved to executing may go on, every other is refused. The row
 * alone proves nothing: the decision must be in the log. Returns how many people had to sign it, and did.
 */
export async function beginUse(
  write: EvidenceWrite,
  { approval, callId, need }: BegunUse,
  at: Date,
): Promise<number> {
  const { id, digest, version } = approval;
  const [row] = await move(
    write,
    'begin',
    {
      id,
      version,
      and: (eb) =>
        eb.and([
          eb('digest', '=', digest),
          eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at.toISOString())]),
        ]),
    },
    { state: 'executing', call_id: callId },
    { at, by: KERNEL },
  );
  if (!row) {
    throw new ToolError(
      'approval_invalid',
      `Approval ${id} was already used, has expired, or no longer matches this call.`,
      {
        detail: { approval_id: id },
      },
    );
  }
  const stored = { ...toApproval(row), state: approval.state, version };
  const decision = await requireGenuine(write.trx, write.engine, stored, 'approved', row.context);
  return requireSigned(write, stored, decision, need);
}

/**
 * Writes on the approval what its execution gave, in the same transaction as the outcome's evidence. Call it after that
 * evidence was appended: an approval that can be used again must not look used twice.
 */
export async function finishUse(
  write: EvidenceWrite,
  { approval, callId, partDone }: ApprovalUse & { readonly partDone: boolean },
  outcome: Outcome,
  data: JsonObject,
  at: Date,
): Promise<void> {
  const state = stateAfter(outcome, approval.kind, partDone);
  const where = { id: approval.id, callId };
  const set = { outcome: JSON.stringify(data) };
  // No row is moved when the call was refused before it used the approval, or was taken for dead.
  if (state === 'pending' || state === 'approved') {
    await giveBack(write, where, state, set, callId, at);
    return;
  }
  const evidence = { at, by: KERNEL };
  const moved = await move(write, 'finish', where, { ...set, state }, evidence);
  // A slow read that was closed as lost and has answered after all: its entry says that it used the approval.
  if (moved.length === 0 && state === 'done') await move(write, 'late', where, { ...set, state }, evidence);
}

/**
 * The same for a call that others took for dead and that came back: the approval is used up by what really happened,
 * unless another call has used it since then.
 */
export async function finishLate(
  write: EvidenceWrite,
  { approval, callId }: ApprovalUse,
  outcome: Outcome,
  data: JsonObject,
  at: Date,
): Promise<void> {
  if (outcome.status === 'failed') return;
  await move(
    write,
    'late',
    {
      id: approval.id,
      and: (eb) => eb.or([eb('call_id', 'is', null), eb('call_id', '=', callId)]),
    },
    {
      state: outcome.status === 'ok' ? 'done' : 'indeterminate',
      call_id: callId,
      outcome: JSON.stringify(data),
    },
    { at, by: KERNEL },
  );
}

/** The process of the call died on the way; whether the change happened is not known yet. */
export const loseUse = (write: EvidenceWrite, callId: string, at: Date): Promise<readonly ApprovalRow[]> =>
  move(write, 'lose', { callId }, { state: 'indeterminate' }, { at, by: KERNEL });

/** Approved reads that began before this call ID and never ended: they changed nothing and can be asked for again. */
export async function closeLostReads(write: EvidenceWrite, before: string, at: Date): Promise<number> {
  const outcome = {
    status: 'failed',
    code: 'internal',
    message: 'The process stopped before the read finished. Nothing was changed; retry.',
  };
  const lost = await write.trx
    .selectFrom('approvals')
    .select(['id', 'version', 'call_id'])
    .where('state', '=', 'executing')
    .where('effect', '=', 'read')
    .where('call_id', '<', before)
    .execute();
  let closed = 0;
  for (const { id, version, call_id } of lost) {
    const set = { state: 'failed' as const, outcome: JSON.stringify(outcome) };
    const evidence = { at, by: KERNEL, extra: { call: call_id } };
    closed += (await move(write, 'lose', { id, version }, set, evidence)).length;
  }
  return closed;
}

/**
 * An indeterminate call was settled. A permit is for one exact call; when that call proved not to have happened, the
 * permit is valid again.
 */
export async function settleUse(
  write: EvidenceWrite,
  callId: string,
  { happened, usedUp, outcome }: { happened: boolean; usedUp: boolean; outcome: JsonObject },
  at: Date,
): Promise<void> {
  const set = { outcome: JSON.stringify(outcome) };
  if (!usedUp && (await giveBack(write, { callId }, 'approved', set, callId, at)) > 0) return;
  const state = happened ? 'done' : 'failed';
  await move(write, 'settle', { callId }, { ...set, state }, { at, by: KERNEL });
}

async function giveBack(
  write: EvidenceWrite,
  where: { readonly id?: number; readonly callId: string },
  state: 'pending' | 'approved',
  set: { readonly outcome: string },
  callId: string,
  at: Date,
): Promise<number> {
  const undecided = state === 'pending' ? { decided_at: null, decided_by: null } : {};
  const evidence = { at, by: KERNEL, extra: { call: callId } };
  const change = { ...set, ...undecided, state, call_id: null };
  return (await move(write, 'giveBack', where, change, evidence)).length;
}

/**
 * What certainly did not happen and may be retried must not use up a person's decision: a call is pending again, and a
 * permit stays approved, because its holder comes back for it.
 */
function stateAfter(outcome: Outcome, kind: ApprovalKind, partDone: boolean): ApprovalState {
  if (outcome.status === 'ok') return 'done';
  if (outcome.status === 'indeterminate') return 'indeterminate';
  if (mayRunLater(outcome) && !partDone) return kind === 'permit' ? 'approved' : 'pending';
  return 'failed';
}

/** The call certainly did nothing, and the same call may succeed later: when retried, or when a limit resets. */
export const mayRunLater = (outcome: Outcome): boolean =>
  outcome.status === 'failed' &&
  outcome.fault.effect === 'none' &&
  (outcome.fault.retryable || outcome.fault.code.startsWith('policy_denied_'));
