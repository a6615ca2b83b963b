import { hostname } from 'node:os';
import { isChange } from '../../contract/effect.ts';
import { ToolFault } from '../../contract/faults.ts';
import { claimKey } from '../admission/claim.ts';
import { consumeGrant } from '../admission/grant.ts';
import { countLimits, LimitReached } from '../admission/limits.ts';
import { standingOrders } from '../admission/pause.ts';
import { prepareEntry } from '../audit/entry.ts';
import { appendEntries } from '../audit/log.ts';
import { payloadRow } from '../audit/payload.ts';
import type { CallState, Step } from '../call.ts';
import { callRow, entryOf, sealArgs } from '../evidence.ts';
import type { Ports } from '../ports.ts';
import { CALLS, insertRows, PAYLOADS } from '../statements.ts';
import { PolicyStale } from './stale.ts';

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
  async (call, next) => {
    if (!isChange(call.request.bound.tool.effect)) return next();
    try {
      await admit(call, ports);
    } catch (error) {
      if (error instanceof LimitReached) {
        const { limit, resetAt } = error;
        return {
          status: 'refused',
          rule: `limit:${limit.key}`,
          fault: new ToolFault('policy_denied_rate_limited', 'Policy denied: rate limited', {
            resetAt,
            detail: { limit: limit.key, max: limit.max, period_seconds: limit.periodSeconds },
          }),
        };
      }
      if (error instanceof ToolFault && error.code === 'paused')
        return { status: 'refused', rule: 'hard:paused', fault: error };
      if (error instanceof ToolFault && error.code === 'approval_invalid')
        return { status: 'refused', rule: 'hard:approval', fault: error };
      throw error;
    }
    call.admitted = true;
    const renewal = setInterval(() => void renewLease(call, ports), RENEW_MS);
    renewal.unref();
    try {
      return await next();
    } finally {
      clearInterval(renewal);
    }
  };

async function admit(call: CallState, { database, now }: Ports): Promise<void> {
  const args = sealArgs(call);
  const entry = prepareEntry(entryOf(call, 'intent', { args: args.hash }));
  await database.write(async (trx) => {
    const at = now();
    const orders = await standingOrders(trx, database.engine);
    if (orders.policyStamp !== call.policyStamp) throw new PolicyStale();
    if (orders.paused) {
      throw new ToolFault('paused', 'All changes are paused by a person. `countersign resume` lifts it.');
    }
    await claimKey(trx, database.engine, call, at);
    await consumeGrant(trx, call, at);
    await countLimits(trx, database.engine, call.limits, at);
    const held = {
      holder_host: HOLDER.host,
      holder_pid: HOLDER.pid,
      lease_until: new Date(at.getTime() + LEASE_MS).toISOString(),
    };
    await insertRows(trx, database.engine, CALLS, [{ ...callRow(call), ...held }]);
    await insertRows(trx, database.engine, PAYLOADS, [payloadRow(entry, 'args', args)]);
    await appendEntries(trx, database.engine, [entry]);
  });
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
