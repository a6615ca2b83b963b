import { performance } from 'node:perf_hooks';
import type { Transaction } from 'kysely';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type Outcome, outcomeData } from '../../contract/outcome.ts';
import { withCause } from '../../lib/database-error.ts';
import { checkJson } from '../../lib/json-shape.ts';
import { finishLate, finishUse } from '../approvals/use.ts';
import { type EntryInput, type EntryKind, type PreparedEntry, prepareEntry } from '../log/entry.ts';
import { payloadRow } from '../log/log.ts';
import { answerHash, argsSalt } from '../log/rows/key-row.ts';
import { type EvidenceWrite, writeWithEvidence } from '../log/write.ts';
import type { Ports } from '../ports.ts';
import { PAYLOADS, runStatement, statement } from '../store/statements.ts';
import type { Tables } from '../store/tables.ts';
import { refundLimits } from './admit.ts';
import { type CallState, ownApproval, type Step } from './call.ts';
import { callRow, codeOf, entryOf, heldKey, sealArgs, sealResult } from './evidence.ts';

/** Outermost: every outcome leaves evidence. An admitted change is answered only once its outcome is durable. */
export const recordOutcome =
  (ports: Ports): Step =>
  async (call, next) => {
    const refusal = ports.recorder.refusal;
    if (refusal) return { status: 'failed', fault: refusal };
    const outcome = await next(call);
    // Nothing has been decided yet: the caller comes back with the person's answer, and that call is recorded.
    if (outcome.status === 'needs_person') return outcome;
    const elapsed = performance.now() - call.startedMs;
    try {
      if (call.admitted) await recordChange(call, outcome, elapsed, ports);
      else if (call.intentInDoubt) await recordAgain(call, outcome, elapsed, ports);
      else {
        const pending = recordOther(call, outcome, elapsed, ports);
        if (pending) await pending;
      }
      return outcome;
    } catch (error) {
      ports.log.error('The outcome of a call could not be recorded', {
        call: call.id,
        tool: call.request.bound.tool.name,
        error,
      });
      if (call.admitted || call.intentInDoubt)
        ports.unrecorded.add(call.id, () => recordAgain(call, outcome, elapsed, ports));
      return unrecorded(call, outcome, error);
    }
  };

function unrecorded(call: CallState, outcome: Outcome, cause: unknown): Outcome {
  if (call.request.bound.tool.alwaysAnswers && !call.admitted) return outcome;
  // The database is the reason why policy could not be evaluated: the refusal says so and answers nothing else.
  if (outcome.status === 'refused' && outcome.fault.code === 'policy_error') return outcome;
  if (!call.admitted) {
    if (cause instanceof ToolError) return { status: 'failed', fault: cause };
    return {
      status: 'failed',
      fault: new ToolError(
        'db_error',
        withCause('The call could not be recorded, so no result is returned.', cause),
        { cause },
      ),
    };
  }
  const message = `The change ${outcome.status === 'ok' ? 'ran' : 'may have run'}, but its outcome could not be recorded (call ${call.id}). It will be settled when the database works again. Do not retry.`;
  return {
    status: 'indeterminate',
    fault: new ToolError('indeterminate', message, { cause, detail: { call_id: call.id } }),
  };
}

/** What certainly changed nothing does not count. */
const isRefunded = (outcome: Outcome): boolean =>
  outcome.status === 'failed' && outcome.fault.effect === 'none';

/** A call that opens a run knows its id only now. */
function adoptRun(call: CallState): void {
  const opened = call.notes.run_id;
  if (call.runId === undefined && typeof opened === 'string') call.runId = opened;
}

const FINISH = statement(
  `update calls set status = ?, run_id = ?, code = ?, finished_at = ?, latency_ms = ?, evidence_hash = ?,
  holder_host = null, holder_pid = null, lease_until = null where call_id = ? and status = 'running'`,
);

async function recordChange(
  call: CallState,
  outcome: Outcome,
  elapsed: number,
  { database, now }: Ports,
): Promise<void> {
  adoptRun(call);
  const data = outcomeData(outcome);
  const result = sealResult(call, data, true);
  const finishedAt = now();
  const at = finishedAt.toISOString();
  const isStored = call.replayKey !== undefined || ownApproval(call) !== undefined;
  const answer = isStored ? JSON.stringify(data) : '';
  const extra = isStored ? storedAnswer(call, outcome, result.salt, answer) : undefined;
  const entry = outcomeEntry(call, 'outcome', outcome, at, { result: result.hash, extra });
  await writeWithEvidence(database, async (write) => {
    const { trx } = write;
    const { numAffectedRows } = await runStatement(trx, database.engine, FINISH, [
      outcome.status,
      call.runId ?? null,
      codeOf(outcome) ?? null,
      at,
      elapsed,
      entry.hash,
      call.id,
    ]);
    if (numAffectedRows === 0n) {
      await settleLate(write, call, outcome, data, finishedAt);
      return;
    }
    write.insert(PAYLOADS, payloadRow(entry, 'result', result));
    if (call.artifacts.length > 0) {
      await trx.insertInto('call_artifacts').values(artifactLinks(call)).execute();
    }
    if (call.replayKey) await settleKey(trx, call, outcome, answer);
    write.append(entry);
    await finishApproval(write, call, outcome, data, finishedAt);
    if (isRefunded(outcome)) await refundLimits(trx, call.limits, call.startedAt);
  });
  call.evidenceHash = entry.hash;
}

/** What the entry says of the copies of a result: what a repeated call is answered with, and what its approval stores. */
function storedAnswer(call: CallState, { status }: Outcome, salt: string, answer: string): JsonObject {
  const hash = answerHash(salt, answer);
  return {
    ...(call.replayKey && status === 'ok' ? { replay_hash: hash } : {}),
    ...(ownApproval(call) ? { outcome_hash: hash } : {}),
  };
}

/** The commit may have succeeded without its answer, and another process may have settled the call since. */
async function recordAgain(call: CallState, outcome: Outcome, elapsed: number, ports: Ports): Promise<void> {
  const row = await ports.database.db
    .selectFrom('calls')
    .select('status')
    .where('call_id', '=', call.id)
    .executeTakeFirst();
  if (!row) return recordOther(call, outcome, elapsed, ports);
  call.admitted = true;
  if (row.status === 'running' || (row.status === 'indeterminate' && outcome.status !== 'indeterminate'))
    await recordChange(call, outcome, elapsed, ports);
}

async function finishApproval(
  write: EvidenceWrite,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
  at: Date,
): Promise<void> {
  const approval = ownApproval(call);
  if (!approval) return;
  await finishUse(write, { approval, callId: call.id, partDone: call.partDone }, outcome, data, at);
}

/**
 * Another process took this one for dead and marked the call, perhaps even settled it. The process that ran it knows
 * what really happened, and that is the last word.
 */
async function settleLate(
  write: EvidenceWrite,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
  finishedAt: Date,
): Promise<void> {
  const { trx } = write;
  const at = finishedAt.toISOString();
  const code = codeOf(outcome) ?? null;
  await trx
    .updateTable('calls')
    .set({ status: outcome.status, code, finished_at: at })
    .where('call_id', '=', call.id)
    .execute();
  const answer = JSON.stringify(data);
  if (call.replayKey) {
    await settleKey(trx, call, outcome, answer);
    if (outcome.status === 'ok') await takeKeyBack(trx, call, answer, at);
  }
  const approval = ownApproval(call);
  if (approval) await finishLate(write, { approval, callId: call.id }, outcome, data, finishedAt);
  const salt = call.replayKey || approval ? await argsSalt(trx, call.id) : '';
  const extra = {
    late: true,
    ...(call.replayKey && (await holdsKey(trx, call)) ? { replay_key: heldKey(call, salt) } : {}),
    ...(salt === '' ? {} : { outcome_hash: answerHash(salt, answer) }),
  };
  write.append(
    prepareEntry(entryOf(call, 'settled', { at, status: outcome.status, code: code ?? undefined, extra })),
  );
}

/** A key that was freed because nothing seemed to have happened answers again, unless another call took it. */
async function takeKeyBack(
  trx: Transaction<Tables>,
  call: CallState,
  answer: string,
  at: string,
): Promise<void> {
  await trx
    .insertInto('idempotency')
    .values({
      scope_key: call.replayKey ?? '',
      digest: call.askedDigest,
      call_id: call.id,
      state: 'ok',
      outcome: answer,
      created_at: at,
      expires_at: call.replayUntil ?? null,
    })
    .onConflict((conflict) => conflict.column('scope_key').doNothing())
    .execute();
}

/** Another call may have taken the key while this one was taken for dead. */
const holdsKey = async (trx: Transaction<Tables>, call: CallState): Promise<boolean> =>
  (await trx
    .selectFrom('idempotency')
    .select('call_id')
    .where('scope_key', '=', call.replayKey ?? '')
    .where('call_id', '=', call.id)
    .executeTakeFirst()) !== undefined;

async function settleKey(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  answer: string,
): Promise<void> {
  const key = call.replayKey ?? '';
  const mine = trx.updateTable('idempotency').where('scope_key', '=', key).where('call_id', '=', call.id);
  if (outcome.status === 'ok') await mine.set({ state: 'ok', outcome: answer }).execute();
  else if (outcome.status === 'indeterminate')
    await mine.set({ state: 'indeterminate', outcome: null }).execute();
  // Only `ok` replays: after a failure the same key may try again.
  else
    await trx.deleteFrom('idempotency').where('scope_key', '=', key).where('call_id', '=', call.id).execute();
}

/** Undefined when there is nothing to wait for. */
function recordOther(
  call: CallState,
  outcome: Outcome,
  elapsed: number,
  ports: Ports,
): Promise<void> | undefined {
  const finishedAt = ports.now();
  const at = finishedAt.toISOString();
  const args = sealArgs(call, keepableArgs(call));
  const data = outcomeData(outcome);
  const keep = outcome.status !== 'ok' || call.request.bound.tool.keepsResult === true;
  const result = sealResult(call, data, keep);
  const kind = kindOf(call, outcome);
  const extra =
    kind === 'read' && call.grant
      ? storedAnswer(call, outcome, result.salt, JSON.stringify(data))
      : undefined;
  const entry = outcomeEntry(call, kind, outcome, at, { result: result.hash, args: args.hash, extra });
  call.evidenceHash = entry.hash;
  const row = {
    ...callRow(call),
    status: outcome.status,
    code: codeOf(outcome) ?? null,
    finished_at: at,
    latency_ms: elapsed,
    evidence_hash: entry.hash,
    approval_id: outcome.status === 'routed' ? outcome.approvalId : (call.grant?.id ?? null),
    rule:
      outcome.status === 'refused' || outcome.status === 'routed'
        ? outcome.rule
        : (call.decision?.rule ?? null),
  };
  const payloads = [payloadRow(entry, 'args', args), payloadRow(entry, 'result', result)];
  const evidence = { row, payloads, entry, artifacts: artifactLinks(call) };
  // A reader of the log must find the use of an approval before its return, and a part before the end of the whole.
  if (call.grant)
    return ports.recorder.addNow(evidence, (write) => finishApproval(write, call, outcome, data, finishedAt));
  const pending = ports.recorder.add(evidence);
  // A pending approval must not be lost, even for 100 ms.
  if (outcome.status !== 'routed') return pending;
  return (pending ?? Promise.resolve()).then(() => ports.recorder.flush());
}

const artifactLinks = (call: CallState) =>
  call.artifacts.map(({ id, name }) => ({ call_id: call.id, artifact_id: id, name }));

/** Arguments that did not validate are kept only when they are well-formed data. */
function keepableArgs(call: CallState): JsonObject {
  if (call.digest) return call.args;
  const raw = call.request.args;
  return raw === null || typeof raw !== 'object' || Array.isArray(raw) || checkJson(raw)
    ? {}
    : (raw as JsonObject);
}

function kindOf(call: CallState, outcome: Outcome): EntryKind {
  if (outcome.status === 'refused') return 'refusal';
  if (outcome.status === 'routed') return 'routed';
  if (outcome.status === 'dry_run') return 'dry_run';
  return call.request.bound.tool.effect === 'read' ? 'read' : 'call';
}

function outcomeEntry(
  call: CallState,
  kind: EntryKind,
  outcome: Outcome,
  at: string,
  more: Pick<EntryInput, 'args' | 'result' | 'extra'>,
): PreparedEntry {
  const extra = {
    ...call.evidence,
    ...more.extra,
    ...(call.admitted && isRefunded(outcome) ? { refunded: true } : {}),
  };
  return prepareEntry(
    entryOf(call, kind, {
      at,
      args: more.args,
      status: outcome.status,
      code: codeOf(outcome),
      result: more.result,
      artifacts: call.artifacts.length > 0 ? call.artifacts : undefined,
      extra: Object.keys(extra).length > 0 ? extra : undefined,
    }),
  );
}
