import type { Transaction } from 'kysely';
import type { CallState } from '../call.ts';
import { ClaimLost } from '../steps/replay.ts';
import type { Tables } from '../tables.ts';

/** Explicit keys are forgotten after a day; keys scoped to a run hold as long as the run's evidence. */
const EXPLICIT_KEY_MS = 24 * 60 * 60 * 1000;

/** Takes the idempotency key before the effect; whoever comes second waits and gets the first answer. */
export async function claimKey(trx: Transaction<Tables>, call: CallState, now: Date): Promise<void> {
  if (!call.replayKey) return;
  await trx
    .deleteFrom('idempotency')
    .where('scope_key', '=', call.replayKey)
    .where('expires_at', '<', now.toISOString())
    .execute();
  const explicit = call.request.idempotencyKey !== undefined;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('idempotency')
    .values({
      scope_key: call.replayKey,
      digest: call.digest,
      call_id: call.id,
      state: 'running',
      outcome: null,
      created_at: now.toISOString(),
      expires_at: explicit ? new Date(now.getTime() + EXPLICIT_KEY_MS).toISOString() : null,
    })
    .onConflict((conflict) => conflict.column('scope_key').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) throw new ClaimLost();
}
