import { hostname } from 'node:os';
import { sql, type Transaction } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { isChange } from '../../contract/tool.ts';
import { describeDatabaseError } from '../../lib/database-error.ts';
import { countUse } from '../approvals/standing.ts';
import { beginUse } from '../approvals/use.ts';
import { prepareEntry } from '../log/entry.ts';
import { payloadRow } from '../log/log.ts';
import { isPausedSince } from '../log/rows/config-entries.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import { countSigners, type SignatureNeed } from '../passkeys/signed.ts';
import type { Limit } from '../policy/index.ts';
import { windowStart } from '../policy/limits.ts';
import type { Ports } from '../ports.ts';
import { type Clocks, earlierOf, laterOf } from '../store/clock.ts';
import type { Engine } from '../store/database.ts';
import { changesPaused, pausedInLog, readAdmissionState } from '../store/pause.ts';
import { CALLS, PAYLOADS, runStatement, statement } from '../store/statements.ts';
import type { Tables } from '../store/tables.ts';
import { type CallState, type Next, ownApproval, type Step } from './call.ts';
import { agentPaused } from './caller.ts';
import { PolicyStale, policyError, signatureNeed } from './decide.ts';
import { callRow, entryOf, intentExtra, sealArgs } from './evidence.ts';
import { ClaimLost } from './replay.ts';

/** Explicit keys are forgotten after a day; keys scoped to a run hold as long as the run's evidence. */
const EXPLICIT_KEY_MS = 24 * 60 * 60 * 1000;

const FORGET = statement('delete from idempotency where scope_key = ? and expires_at < ?');
const CLAIM = statement(
  `insert into idempotency (scope_key, digest, call_id, state, outcome, created_at, expires_at)
  values (?, ?, ?, 'running', null, ?, ?) on conflict (scope_key) do nothing`,
);

export const keyExpiry = ({ request }: CallState, now: Date): string | null =>
  request.idempotencyKey === undefined ? null : new Date(now.getTime() + EXPLICIT_KEY_MS).toISOString();

/** Takes the idempotency key before the effect; the second caller waits and gets the first answer. */
async function claimKey(
  trx: Transaction<Tables>,
  engine: Engine,
  call: CallState,
  clocks: Clocks,
  now: Date,
): Promise<void> {
  if (!call.replayKey) return;
  await runStatement(trx, engine, FORGET, [call.replayKey, earlierOf(clocks).toISOString()]);
  const { numAffectedRows } = await runStatement(trx, engine, CLAIM, [
    call.replayKey,
    call.askedDigest,
    call.id,
    now.toISOString(),
    call.replayUntil ?? null,
  ]);
  if (numAffectedRows === 0n) throw new ClaimLost();
}

class LimitReached extends Error {
  readonly limit: Limit;
  readonly resetAt: Date;

  constructor(limit: Limit, resetAt: Date) {
    super(`The limit ${limit.key} is reached.`);
    this.limit = limit;
    this.resetAt = resetAt;
  }
}

const COUNT = statement(
  `insert into counters (key, window_start, used) values (?, ?, 1)
  on conflict (key, window_start) do update set used = counters.used + 1 where counters.used < ?`,
);

/** Counts the call in every limit together; one that is full throws and the transaction rolls all counts back. */
async function countLimits(
  trx: Transaction<Tables>,
  engine: Engine,
  limits: readonly Limit[],
  now: Date,
): Promise<void> {
  for (const limit of inOrder(limits)) {
    const start = windowStart(limit, now);
    const counted =
      limit.max > 0 &&
      (await runStatement(trx, engine, COUNT, [limit.key, start, limit.max])).numAffectedRows;
    if (!counted) throw new LimitReached(limit, new Date((start + limit.periodSeconds) * 1000));
  }
}

/** One order for all processes, so that two transactions never wait for each other's counter. */
const inOrder = (limits: readonly Limit[]): readonly Limit[] =>
  limits.length < 2 ? limits : [...limits].sort((a, b) => (a.key < b.key ? -1 : 1));

/** Gives the count back for a call that certainly changed nothing. */
export async function refundLimits(
  trx: Transaction<Tables>,
  limits: readonly Limit[],
  startedAt: Date,
): Promise<void> {
  for (const limit of inOrder(limits)) {
    await trx
      .updateTable('counters')
      .set({ used: sql`used - 1` })
      .where('key', '=', limit.key)
      .where('window_start', '=', windowStart(limit, startedAt))
      .where('used', '>', 0)
      .execute();
  }
}

/** A running call whose process stopped renewing this is taken for dead. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const HOLDER = { host: hostname(), pid: process.pid };

/**
 * Everything that must hold before a change may happen, in one durable transaction: not paused, the idempotency key
 * claimed, the approval consumed, the limits counted, the intent written. A change that cannot be written down first
 * does not happen.
 */
export const admitChange =
  (ports: Ports): Step =>
  (call, next) =>
    isChange(call.request.bound.tool.effect) ? admitThen(call, next, ports) : next(call);

async function admitThen(call: CallState, next: Next, ports: Ports): Promise<Outcome> {
  try {
    await admit(call, ports);
  } catch (error) {
    if (error instanceof LimitReached) {
      const { limit, resetAt } = error;
      return {
        status: 'refused',
        rule: `limit:${limit.key}`,
        fault: new ToolError('policy_denied_rate_limited', 'Policy denied: rate limited', {
          resetAt,
          detail: { limit: limit.key, max: limit.max, period_seconds: limit.periodSeconds },
        }),
      };
    }
    if (error instanceof ToolError && error.code === 'policy_error')
      return { status: 'refused', rule: 'hard:unreadable_policy', fault: error };
    if (error instanceof ToolError && error.code === 'paused')
      return { status: 'refused', rule: 'hard:paused', fault: error };
    if (error instanceof ToolError && error.code === 'agent_paused')
      return { status: 'refused', rule: 'hard:agent_paused', fault: error };
    if (
      error instanceof ToolError &&
      (error.code === 'approval_invalid' || error.code === 'signature_required')
    ) {
      await ports.queue.closeForged(error);
      return { status: 'refused', rule: 'hard:approval', fault: error };
    }
    const decided = [ToolError, PolicyStale, ClaimLost].some((kind) => error instanceof kind);
    call.intentInDoubt = !decided;
    throw error;
  }
  call.admitted = true;
  const renewal = setInterval(() => void renewLease(call, ports), RENEW_MS);
  renewal.unref();
  try {
    return await next(call);
  } finally {
    clearInterval(renewal);
  }
}

async function admit(call: CallState, ports: Ports): Promise<void> {
  const { database, now, limits } = ports;
  const args = sealArgs(call);
  call.replayUntil = keyExpiry(call, laterOf(ports));
  const extra = intentExtra(call, args.salt);
  const entry = prepareEntry(entryOf(call, 'intent', { args: args.hash, extra }));
  const approval = ownApproval(call);
  await writeWithEvidence(database, async (write) => {
    const { trx } = write;
    const at = now();
    const orders = await ofPolicy(readAdmissionState(trx, database.engine, call.request.principal));
    if (orders.policyStamp !== call.policyStamp) throw new PolicyStale();
    if (orders.paused) throw changesPaused();
    if (await isPausedSince(database, trx, orders.newestConfig)) throw pausedInLog();
    if (orders.agentPaused) throw agentPaused(call.request.principal);
    await claimKey(trx, database.engine, call, ports, at);
    const need = signatureNeed(call, limits);
    if (approval) call.signers = await beginUse(write, { approval, callId: call.id, need }, at);
    else if (isPart(call)) await requireSignedWhole(write, call, need);
    if (call.standing) await beginStanding(write, call, need, at);
    await ofPolicy(countLimits(trx, database.engine, call.limits, at));
    const held = {
      holder_host: HOLDER.host,
      holder_pid: HOLDER.pid,
      lease_until: new Date(at.getTime() + LEASE_MS).toISOString(),
    };
    write.insert(CALLS, { ...callRow(call), ...held });
    write.insert(PAYLOADS, payloadRow(entry, 'args', args));
    write.append(entry);
  });
}

/** Used up, revoked, expired or to be signed since the decision: the call is evaluated again, and asks. */
async function beginStanding(
  write: EvidenceWrite,
  { standing }: CallState,
  need: SignatureNeed,
  at: Date,
): Promise<void> {
  const signers = await countSigners(write, need);
  if (signers > 0 || !standing || !(await countUse(write.trx, standing, at))) throw new PolicyStale();
}

/** Required approval, and runs under that of the whole. */
const isPart = ({ grant, decision, request }: CallState): boolean =>
  grant !== undefined && grant === request.parent?.grant && decision?.action === 'ask';

/** A mode that was signed since the decision applies to the parts that are still to begin. */
async function requireSignedWhole(write: EvidenceWrite, call: CallState, need: SignatureNeed): Promise<void> {
  if ((await countSigners(write, need)) > call.signers) throw new PolicyStale();
}

/** Rules and counters that the database does not give are a policy that could not be evaluated. */
async function ofPolicy<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    const problem = describeDatabaseError(error);
    throw problem === undefined ? error : policyError(problem, error);
  }
}

async function renewLease(call: CallState, { database, now, log }: Ports): Promise<void> {
  try {
    await database.db
      .updateTable('calls')
      .set({ lease_until: new Date(now().getTime() + LEASE_MS).toISOString() })
      .where('call_id', '=', call.id)
      .where('status', '=', 'running')
      .execute();
  } catch (error) {
    log.warn('The lease of a running call could not be renewed', { call: call.id, error });
  }
}
