import type { Transaction } from 'kysely';
import type { CallState } from '../call.ts';
import type { Engine } from '../database.ts';
import { runStatement, statement } from '../statements.ts';
import { ClaimLost } from '../steps/replay.ts';
import type { Tables } from '../tables.ts';

/** Explicit keys are forgotten after a day; keys scoped to a run hold as long as the run's evidence. */
const EXPLICIT_KEY_MS = 24 * 60 * 60 * 1000;

const FORGET = statement('delete from idempotency where scope_key = ? and expires_at < ?');
const CLAIM = statement(
  `insert into idempotency (scope_key, digest, call_id, state, outcome, created_at, expires_at)
  values (?, ?, ?, 'running', null, ?, ?) on conflict (scope_key) do nothing`,
);

export const keyExpiry = ({ request }: CallState, now: Date): string | null =>
  request.idempotencyKey === undefined ? null : new Date(now.getTime() + EXPLICIT_KEY_MS).toISOString();

/** Takes the idempotency key before the effect; whoever comes second waits and gets the first answer. */
export async function claimKey(
  trx: Transaction<Tables>,
  engine: Engine,
  call: CallState,
  now: Date,
): Promise<void> {
  if (!call.replayKey) return;
  await runStatement(trx, engine, FORGET, [call.replayKey, now.toISOString()]);
  const { numAffectedRows } = await runStatement(trx, engine, CLAIM, [
    call.replayKey,
    call.digest,
    call.id,
    now.toISOString(),
    keyExpiry(call, now),
  ]);
  if (numAffectedRows === 0n) throw new ClaimLost();
}
