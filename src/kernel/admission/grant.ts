import type { Transaction } from 'kysely';
import { ToolFault } from '../../contract/faults.ts';
import type { CallState } from '../call.ts';
import type { Tables } from '../tables.ts';

/** An approval works once: whoever moves it from approved to executing may go on, everybody else is told. */
export async function consumeGrant(trx: Transaction<Tables>, call: CallState, now: Date): Promise<void> {
  const { grant } = call;
  // A parent's grant was consumed by the parent.
  if (!grant || grant === call.request.parent?.grant) return;
  const { numUpdatedRows } = await trx
    .updateTable('approvals')
    .set((eb) => ({ state: 'executing', call_id: call.id, version: eb('version', '+', 1) }))
    .where('id', '=', grant.id)
    .where('state', '=', 'approved')
    .where('digest', '=', grant.digest)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) {
    throw new ToolFault(
      'approval_invalid',
      `Approval ${grant.id} was already used, has expired or no longer fits this call.`,
      {
        detail: { approval_id: grant.id },
      },
    );
  }
}
