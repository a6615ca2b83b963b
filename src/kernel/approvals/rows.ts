import type { Selectable } from 'kysely';
import type { JsonObject } from '../../contract/json.ts';
import type { Approval, ApprovalKind, ApprovalState } from '../../contract/ports.ts';
import type { Principal } from '../../contract/principal.ts';
import type { ApprovalsTable } from '../tables.ts';

const date = (text: string | null): Date | undefined => (text === null ? undefined : new Date(text));

/** A stored principal; the kind is always one of three, written by us. */
function parsePrincipal(text: string, label?: string | null): Principal {
  const colon = text.indexOf(':');
  return {
    kind: text.slice(0, colon) as Principal['kind'],
    id: text.slice(colon + 1),
    ...(label ? { label } : {}),
  };
}

export function toApproval(row: Selectable<ApprovalsTable>): Approval {
  return {
    id: row.id,
    uuid: row.uuid,
    kind: row.kind as ApprovalKind,
    state: row.state as ApprovalState,
    tool: row.tool,
    toolkit: row.toolkit,
    effect: row.effect,
    args: JSON.parse(row.args) as JsonObject,
    digest: row.digest,
    binding: row.binding === null ? undefined : (JSON.parse(row.binding) as JsonObject),
    requester: parsePrincipal(row.requester, row.requester_label),
    reason: row.reason,
    rule: row.rule,
    summary: row.summary,
    risks: JSON.parse(row.risks) as string[],
    context: JSON.parse(row.context) as JsonObject,
    runId: row.run_id ?? undefined,
    groupId: row.group_id ?? undefined,
    createdAt: new Date(row.created_at),
    expiresAt: date(row.expires_at),
    decidedAt: date(row.decided_at),
    decidedBy: row.decided_by === null ? undefined : parsePrincipal(row.decided_by),
    decisionReason: row.decision_reason ?? undefined,
    feedback: row.feedback ?? undefined,
    callId: row.call_id ?? undefined,
    outcome: row.outcome === null ? undefined : (JSON.parse(row.outcome) as JsonObject),
    version: row.version,
  };
}
