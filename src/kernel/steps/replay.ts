import { setTimeout as sleep } from 'node:timers/promises';
import { isChange } from '../../contract/effect.ts';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import type { CallState, Step } from '../call.ts';
import type { Ports } from '../ports.ts';
import { policyQuery } from './decide.ts';

const POLL_MS = 40;

/** Thrown by the claim when an equal call took the key in the meantime. */
export class ClaimLost extends Error {}

/** The same key and the same digest get the first answer again; two equal calls at once run once. */
export const replayEqual =
  (ports: Ports): Step =>
  async (call, next) => {
    call.replayKey = replayKeyOf(call);
    // A dry run must never poison a key, nor be answered from one.
    if (!call.replayKey || call.dryRunRequested) return next();
    const giveUpAt = ports.now().getTime() + ports.limits.deadlineMs;
    for (;;) {
      const earlier = await lookUp(call, ports);
      if (earlier) return earlier;
      try {
        return await next();
      } catch (error) {
        if (!(error instanceof ClaimLost)) throw error;
      }
      if (ports.now().getTime() > giveUpAt) throw new ToolFault('busy', 'An equal call is still running.');
    }
  };

/**
 * Within a run the first call may be another caller's: how it went is told only to one who may make the call as well.
 * Everybody else goes the normal way, and comes back here if an approval or a permit is found on it.
 */
async function mayHear(call: CallState, firstCall: string, ports: Ports): Promise<boolean> {
  const { principal, approval, parent, bound } = call.request;
  const first = await ports.database.db
    .selectFrom('calls')
    .select('principal')
    .where('call_id', '=', firstCall)
    .executeTakeFirst();
  if (first?.principal === principalName(principal)) return true;
  const { action } = ports.policy.current.decide(policyQuery(call, ports.now()));
  if (action !== 'allow' && action !== 'ask') return false;
  const granted = approval ?? parent?.grant ?? call.grant;
  return granted !== undefined || (action === 'allow' && !bound.tool.needsPermit);
}

function replayKeyOf({ request, args, digest }: CallState): string | undefined {
  const { tool } = request.bound;
  if (!isChange(tool.effect)) return undefined;
  // An approved call settles the key of the call that was routed, so that repeating it finds the answer.
  const routedKey = request.approval?.context.replay_key;
  if (typeof routedKey === 'string') return routedKey;
  if (request.idempotencyKey !== undefined)
    return `${principalName(request.principal)}|${tool.name}|${request.idempotencyKey}`;
  const scope = tool.replayScope?.(args);
  return scope === undefined ? undefined : `${scope}|${tool.name}|${digest}`;
}

async function lookUp(call: CallState, ports: Ports): Promise<Outcome | undefined> {
  const key = call.replayKey ?? '';
  const giveUpAt = ports.now().getTime() + ports.limits.deadlineMs;
  for (;;) {
    const row = await ports.database.db
      .selectFrom('idempotency')
      .selectAll()
      .where('scope_key', '=', key)
      .executeTakeFirst();
    if (!row || (row.expires_at !== null && row.expires_at < ports.now().toISOString())) return undefined;
    if (!(await mayHear(call, row.call_id, ports))) return undefined;
    if (row.digest !== call.digest) {
      throw new ToolFault(
        'idempotency_conflict',
        'This idempotency key was already used with other arguments.',
        {
          detail: { first_call: row.call_id },
        },
      );
    }
    if (row.state === 'ok') {
      call.replayOf = row.call_id;
      const stored = JSON.parse(row.outcome ?? 'null') as { data: JsonValue; notes: JsonObject } | null;
      return { status: 'ok', data: stored?.data ?? null, notes: stored?.notes ?? {}, replayed: true };
    }
    if (row.state === 'indeterminate') {
      throw new ToolFault(
        'indeterminate',
        `The first call with this key (${row.call_id}) may or may not have happened; it must be settled first.`,
        {
          detail: { first_call: row.call_id },
        },
      );
    }
    if (ports.now().getTime() > giveUpAt)
      throw new ToolFault('busy', 'An equal call is still running.', { detail: { first_call: row.call_id } });
    await sleep(POLL_MS, undefined, { signal: call.request.signal });
  }
}
