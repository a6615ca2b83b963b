import { performance } from 'node:perf_hooks';
import type { Transaction } from 'kysely';
import { ToolFault } from '../../contract/faults.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { checkJson } from '../../lib/json-shape.ts';
import { keyExpiry } from '../admission/claim.ts';
import { refundLimits } from '../admission/limits.ts';
import { finishApproval, finishLate } from '../approvals/finish.ts';
import { type EntryKind, type PreparedEntry, prepareEntry } from '../audit/entry.ts';
import { appendEntries } from '../audit/log.ts';
import { payloadRow } from '../audit/payload.ts';
import type { CallState, Step } from '../call.ts';
import type { Engine } from '../database.ts';
import { callRow, codeOf, entryOf, outcomeData, sealArgs, sealResult } from '../evidence.ts';
import type { Ports } from '../ports.ts';
import { insertRows, PAYLOADS, runStatement, statement } from '../statements.ts';
import type { Tables } from '../tables.ts';

/** Outermost: whatever happened leaves evidence. An admitted change is answered only once its outcome is durable. */
export const recordOutcome =
  (ports: Ports): Step =>
  async (call, next) => {
    const outcome = await next();
    // Nothing has been decided yet: the caller comes back with the person's answer, and that call is recorded.
    if (outcome.status === 'needs_person') return outcome;
    const elapsed = performance.now() - call.startedMs;
    try {
      if (call.admitted) await recordChange(call, outcome, elapsed, ports);
      else await recordOther(call, outcome, elapsed, ports);
      return outcome;
    } catch (error) {
      ports.log.error('The outcome of a call could not be recorded', {
        call: call.id,
        tool: call.request.bound.tool.name,
        error,
      });
      return unrecorded(call, error);
    }
  };

function unrecorded(call: CallState, cause: unknown): Outcome {
  if (!call.admitted) {
    if (cause instanceof ToolFault) return { status: 'failed', fault: cause };
    return {
      status: 'failed',
      fault: new ToolFault('db_error', 'The call could not be recorded, so it is not answered.', { cause }),
    };
  }
  const message = `The change ran, but its outcome could not be written down (call ${call.id}). It is settled when the store works again; do not repeat it.`;
  return {
    status: 'indeterminate',
    fault: new ToolFault('indeterminate', message, { cause, detail: { call_id: call.id } }),
  };
}

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
  const at = now().toISOString();
  const entry = outcomeEntry(call, 'outcome', outcome, at, result.hash);
  await database.write(async (trx) => {
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
      await settleLate(trx, call, outcome, data, at, database.engine);
      return;
    }
    await insertRows(trx, database.engine, PAYLOADS, [payloadRow(entry, 'result', result)]);
    if (call.artifacts.length > 0) {
      await trx.insertInto('call_artifacts').values(artifactLinks(call)).execute();
    }
    if (call.replayKey) await settleKey(trx, call, outcome, data);
    const returned = call.grant ? await finishApproval(trx, call, outcome, data, at) : [];
    if (outcome.status === 'failed' && outcome.fault.effect === 'none')
      await refundLimits(trx, call.limits, call.startedAt);
    await appendEntries(trx, database.engine, [entry, ...returned]);
  });
  call.evidenceHash = entry.hash;
}

/**
 * Another process took this one for dead and marked the call, perhaps even settled it. Whoever ran it knows what
 * really happened, and that is the last word.
 */
async function settleLate(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
  at: string,
  engine: Engine,
): Promise<void> {
  const code = codeOf(outcome) ?? null;
  await trx
    .updateTable('calls')
    .set({ status: outcome.status, code, finished_at: at })
    .where('call_id', '=', call.id)
    .execute();
  if (call.replayKey) {
    await settleKey(trx, call, outcome, data);
    if (outcome.status === 'ok') await takeKeyBack(trx, call, data, at);
  }
  if (call.grant) await finishLate(trx, call, outcome, data);
  const entry = prepareEntry(
    entryOf(call, 'settled', { at, status: outcome.status, code: code ?? undefined, extra: { late: true } }),
  );
  await appendEntries(trx, engine, [entry]);
}

/** A key that was freed because nothing seemed to have happened answers again, unless somebody else took it. */
async function takeKeyBack(
  trx: Transaction<Tables>,
  call: CallState,
  data: JsonObject,
  at: string,
): Promise<void> {
  await trx
    .insertInto('idempotency')
    .values({
      scope_key: call.replayKey ?? '',
      digest: call.digest,
      call_id: call.id,
      state: 'ok',
      outcome: JSON.stringify(data),
      created_at: at,
      expires_at: keyExpiry(call, new Date(at)),
    })
    .onConflict((conflict) => conflict.column('scope_key').doNothing())
    .execute();
}

async function settleKey(
  trx: Transaction<Tables>,
  call: CallState,
  outcome: Outcome,
  data: JsonObject,
): Promise<void> {
  const key = call.replayKey ?? '';
  const mine = trx.updateTable('idempotency').where('scope_key', '=', key).where('call_id', '=', call.id);
  if (outcome.status === 'ok') await mine.set({ state: 'ok', outcome: JSON.stringify(data) }).execute();
  else if (outcome.status === 'indeterminate') await mine.set({ state: 'indeterminate' }).execute();
  // Only `ok` replays: after a failure the same key may try again.
  else
    await trx.deleteFrom('idempotency').where('scope_key', '=', key).where('call_id', '=', call.id).execute();
}

async function recordOther(call: CallState, outcome: Outcome, elapsed: number, ports: Ports): Promise<void> {
  const at = ports.now().toISOString();
  const args = sealArgs(call, keepableArgs(call));
  const data = outcomeData(outcome);
  const result = sealResult(call, data, outcome.status !== 'ok');
  const entry = outcomeEntry(call, kindOf(call, outcome), outcome, at, result.hash, args.hash);
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
  // Whoever reads the log must find the use of an approval before its return, and a part before the end of the whole.
  if (call.grant)
    return ports.recorder.addNow(evidence, (trx) => finishApproval(trx, call, outcome, data, at));
  await ports.recorder.add(evidence);
  // What waits for a person must not be forgotten, even for 100 ms.
  if (outcome.status === 'routed') await ports.recorder.flush();
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
  result: string,
  args?: string,
): PreparedEntry {
  const tests = call.notes.qa_tests;
  return prepareEntry(
    entryOf(call, kind, {
      at,
      args,
      status: outcome.status,
      code: codeOf(outcome),
      result,
      artifacts: call.artifacts.length > 0 ? call.artifacts : undefined,
      extra: tests === undefined ? undefined : { tests },
    }),
  );
}
