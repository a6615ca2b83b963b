import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { principalName } from '../../contract/principal.ts';
import { isEffect, type Tool } from '../../contract/tool.ts';
import type { EntryInput, EntryKind } from '../log/entry.ts';
import { type SealedPayload, sealPayload } from '../log/log.ts';
import { redactPrivate, redactSecrets } from '../log/privacy.ts';
import { keyHash } from '../log/rows/key-row.ts';
import type { CallsTable } from '../store/tables.ts';
import type { CallState } from './call.ts';

/** Arguments beyond this size are kept as a hash only. */
const MAX_KEPT = 256 * 1024;

/** An effect that is not one of the known ones is refused, and may be no text at all. */
const effectOf = ({ effect }: Tool): string => (isEffect(effect) ? effect : 'unknown');

/** The call's row as it is known so far. */
export function callRow(call: CallState): CallsTable {
  const { request, decision } = call;
  const { tool, toolkit } = request.bound;
  return {
    call_id: call.id,
    parent_id: request.parent?.id ?? null,
    started_at: call.startedAt.toISOString(),
    finished_at: null,
    tool: tool.name,
    toolkit: toolkit.id,
    category: tool.category,
    effect: effectOf(tool),
    principal: principalName(request.principal),
    client: request.client ?? null,
    transport: request.transport,
    run_id: call.runId ?? null,
    digest: call.digest,
    status: 'running',
    code: null,
    decision: decision?.action ?? 'none',
    rule: decision?.rule ?? null,
    latency_ms: 0,
    evidence_hash: null,
    approval_id: call.grant?.id ?? null,
    approver: call.grant?.decidedBy ? principalName(call.grant.decidedBy) : null,
    replay_of: call.replayOf ?? null,
    holder_host: null,
    holder_pid: null,
    lease_until: null,
  };
}

/** An entry of the log about this call; fields without a value are left out. */
export function entryOf(call: CallState, kind: EntryKind, more: Partial<EntryInput>): EntryInput {
  const { request, decision, grant } = call;
  const { tool, toolkit } = request.bound;
  return {
    kind,
    at: call.startedAt.toISOString(),
    call: call.id,
    parent: request.parent?.id,
    run: call.runId,
    tool: tool.name,
    toolkit: toolkit.id,
    effect: effectOf(tool),
    principal: principalName(request.principal),
    client: request.client,
    transport: request.transport,
    digest: call.digest || undefined,
    decision: decision?.action,
    rule: decision?.rule,
    policyVersion: decision?.policyVersion,
    approval: grant
      ? {
          uuid: grant.uuid,
          digest: grant.digest,
          approver: grant.decidedBy ? principalName(grant.decidedBy) : undefined,
          requester: principalName(grant.requester),
          permit: grant.kind === 'permit' || grant === request.parent?.grant || undefined,
        }
      : undefined,
    replayOf: call.replayOf,
    ...more,
  };
}

/** What an intent says beyond the call: what it counts in, what it runs under and which key it holds. */
export const intentExtra = (call: CallState, salt: string): JsonObject => ({
  limits: countedLimits(call),
  ...(call.standing ? { standing: call.standing.uuid } : {}),
  ...(call.replayKey === undefined ? {} : { replay_key: heldKey(call, salt) }),
});

/** The idempotency key that a call holds; the salt is that of its arguments, and empty once they were erased. */
export const heldKey = (call: CallState, salt: string): JsonObject => ({
  ...(salt === ''
    ? {}
    : { hash: keyHash(salt, { scope_key: call.replayKey ?? '', digest: call.askedDigest }) }),
  until: call.replayUntil ?? null,
});

/** Which counters the call counts in, and the length of their windows: verify recounts them from the log. */
const countedLimits = ({ limits }: CallState): JsonObject =>
  Object.fromEntries(limits.map(({ key, periodSeconds }) => [key, periodSeconds]));

/** The arguments as evidence keeps them: private and secret values are only salted hashes. */
export function sealArgs(call: CallState, args: JsonObject = call.args): SealedPayload {
  const { tool } = call.request.bound;
  const stored = (tool.forEvidence?.(args) ?? args) as JsonObject;
  return sealPayload(redactPrivate(stored, tool.privateArgs ?? []), { maxKept: MAX_KEPT });
}

/** What came back. A read's result stays with the reader; its salted hash lets anyone who kept the reply prove it. */
export function sealResult(call: CallState, result: JsonObject, keep: boolean): SealedPayload {
  const { tool } = call.request.bound;
  const hidden = tool.privateData ?? [];
  const kept = (tool.forEvidence?.(result) ?? result) as JsonObject;
  const hide = (part: JsonValue | undefined): JsonValue =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? redactPrivate(part, hidden)
      : redactSecrets(part ?? null);
  let shown = kept;
  for (const part of ['data', 'notes'] as const) {
    const redacted = part in kept ? hide(kept[part]) : undefined;
    // Most results have nothing to hide, and are not copied.
    if (redacted !== kept[part]) shown = { ...shown, [part]: redacted as JsonValue };
  }
  return sealPayload(shown, { keep, maxKept: MAX_KEPT });
}

/** The machine-readable code of an outcome, for metrics and evidence. */
export function codeOf(outcome: Outcome): string | undefined {
  return 'fault' in outcome ? outcome.fault.code : undefined;
}
