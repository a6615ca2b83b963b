import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import { isChange } from '../../contract/tool.ts';
import { isObject } from '../../lib/is-object.ts';
import { keyDifference, keysWithEvidence } from '../log/rows/key-row.ts';
import type { Ports } from '../ports.ts';
import { reconcileCall } from '../recovery.ts';
import { parseObject } from '../store/cells.ts';
import { earlierOf } from '../store/clock.ts';
import type { IdempotencyTable } from '../store/tables.ts';
import type { CallState, Next, Step } from './call.ts';
import { policyQuery } from './decide.ts';
import { requireKey } from './labels.ts';

const POLL_MS = 40;

/** Thrown by the claim when an equal call took the key in the meantime. */
export class ClaimLost extends Error {}

/** The same key and the same digest get the first answer again; two identical simultaneous calls run once. */
export const replayEqual =
  (ports: Ports): Step =>
  (call, next) => {
    const { idempotencyKey } = call.request;
    if (idempotencyKey !== undefined) requireKey(idempotencyKey, ports.limits.maxKeyLength);
    call.replayKey = replayKeyOf(call);
    // A dry run must never poison a key, nor be answered from one.
    return !call.replayKey || call.dryRunRequested ? next(call) : answerOnce(call, next, ports);
  };

async function answerOnce(call: CallState, next: Next, ports: Ports): Promise<Outcome> {
  const giveUpAt = ports.now().getTime() + ports.limits.deadlineMs;
  for (;;) {
    const earlier = await lookUp(call, ports).catch((error) => refuseInvalid(error, ports));
    if (earlier) return earlier;
    try {
      return await next(call);
    } catch (error) {
      if (!(error instanceof ClaimLost)) throw error;
    }
    if (ports.now().getTime() > giveUpAt) throw new ToolError('busy', 'An identical call is still running.');
  }
}

async function refuseInvalid(error: unknown, { queue }: Ports): Promise<Outcome> {
  if (!(error instanceof ToolError) || error.code !== 'approval_invalid') throw error;
  await queue.closeForged(error);
  return { status: 'refused', rule: 'hard:approval', fault: error };
}

/**
 * Within a run the first call may be another caller's: its outcome is shown only to one who may make the call as well.
 * Everybody else goes the normal way, and comes back here if an approval or a permit is found on it.
 */
async function canReceiveReplay(call: CallState, firstCall: string, ports: Ports): Promise<boolean> {
  const { principal, approval, parent, bound } = call.request;
  const first = await ports.database.db
    .selectFrom('calls')
    .select('principal')
    .where('call_id', '=', firstCall)
    .executeTakeFirst();
  if (first?.principal === principalName(principal)) return true;
  const { action } = ports.policy.current.decide(policyQuery(call, ports.now()));
  if (action !== 'allow' && action !== 'ask') return false;
  if (action === 'allow' && !bound.tool.needsPermit) return true;
  if (parent?.grant) return true;
  // Not used yet, so not compared with the log yet.
  const granted = approval ?? call.grant;
  if (granted) await ports.queue.requireGenuine(granted);
  return granted !== undefined;
}

function replayKeyOf({ request, args, askedDigest }: CallState): string | undefined {
  const { tool } = request.bound;
  if (!isChange(tool.effect)) return undefined;
  // An approved call settles the key of the call that was routed, so that repeating it finds the answer.
  const routedKey = request.approval?.context.replay_key;
  if (typeof routedKey === 'string') return routedKey;
  if (request.idempotencyKey !== undefined)
    return `${principalName(request.principal)}|${tool.name}|${request.idempotencyKey}`;
  const scope = tool.replayScope?.(args);
  return scope === undefined ? undefined : `${scope}|${tool.name}|${askedDigest}`;
}

/** The change was made: a result that cannot be read is a reason to look for it, never to make the change again. */
function storedOutcome(callId: string, answer: string | null): Outcome {
  const stored = answer === null ? {} : parseObject(answer);
  const { data = null, notes = {} } = stored ?? {};
  if (!stored || !isObject<JsonValue>(notes))
    throw new ToolError(
      'db_error',
      `The stored result of this idempotency key cannot be read. The change was made by call ${callId} and is not made again. Run \`countersign audit verify\`.`,
      {
        retryable: false,
        hint: 'Do not retry with another key: the change was already made.',
        detail: { first_call: callId },
      },
    );
  return { status: 'ok', data, notes, replayed: true };
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
    if (!row || (row.expires_at !== null && row.expires_at < earlierOf(ports).toISOString()))
      return undefined;
    if (!(await canReceiveReplay(call, row.call_id, ports))) return undefined;
    if (row.digest !== call.askedDigest) {
      throw new ToolError(
        'idempotency_conflict',
        'This idempotency key was already used with different arguments.',
        {
          detail: { first_call: row.call_id },
        },
      );
    }
    if (row.state === 'ok') {
      const answer = await readAnswer(key, ports);
      // It expired or was freed in this moment.
      if (answer === undefined) continue;
      call.replayOf = row.call_id;
      return storedOutcome(row.call_id, answer.outcome);
    }
    if (row.state === 'indeterminate') {
      // The call was sent again, and the remote service may know the outcome by now.
      if (await reconcileCall(ports, row.call_id)) continue;
      throw new ToolError(
        'indeterminate',
        `The first call with this key (${row.call_id}) has an unknown outcome. Settle it first.`,
        {
          detail: { first_call: row.call_id },
        },
      );
    }
    if (ports.now().getTime() > giveUpAt)
      throw new ToolError('busy', 'An identical call is still running.', {
        detail: { first_call: row.call_id },
      });
    await sleep(POLL_MS, undefined, { signal: call.request.signal });
  }
}

/**
 * What the key stores, once the log says that its call returned it: an edited row would be returned as the result of a
 * change. Undefined when the key no longer answers.
 */
async function readAnswer(
  key: string,
  { database }: Ports,
): Promise<Pick<IdempotencyTable, 'outcome'> | undefined> {
  const evidence = await keysWithEvidence(database.db)
    .where('i.scope_key', '=', key)
    .orderBy('l.seq')
    .execute();
  const [row] = evidence;
  if (row?.state !== 'ok') return undefined;
  const why = keyDifference(row, evidence);
  if (why === undefined) return row;
  throw new ToolError(
    'db_error',
    `The idempotency key of this call ${why}. Nothing was run or returned. Run \`countersign audit verify\`.`,
    {
      detail: { first_call: row.call_id },
      retryable: false,
      hint: 'A person must compare the database with the audit log. Do not send the call with another key.',
    },
  );
}
