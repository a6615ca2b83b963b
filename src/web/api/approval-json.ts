import { ToolError } from '../../contract/errors.ts';
import {
  type Approval,
  type DamagedApproval,
  type Decided,
  describeDamaged,
  isDamaged,
} from '../../contract/ports.ts';
import { principalName } from '../../contract/principal.ts';
import type { ApprovalData, Brief, DamagedData } from '../../kernel/views/shapes.ts';
import { presentOutcome, presentStoredOutcome } from './body.ts';
import { hintFor } from './hints.ts';

const SUMMARY_SHOWN = 300;

/** Why one of several was not decided. */
export interface Refusal {
  readonly id: number;
  readonly error: string;
  readonly code: string;
  readonly hint: string | null;
}

export const toRefusal = (id: number, { message, code }: ToolError): Refusal => ({
  id,
  error: message,
  code,
  hint: hintFor(code) ?? null,
});

/** One after the other; what is wrong with one is its own result. */
export async function each<T>(
  ids: readonly number[],
  work: (id: number, index: number) => Promise<T>,
): Promise<(T | Refusal)[]> {
  const results: (T | Refusal)[] = [];
  for (const [index, id] of ids.entries()) {
    try {
      results.push(await work(id, index));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      results.push(toRefusal(id, error));
    }
  }
  return results;
}

export const decided = ({ approval, outcome }: Decided) => ({
  ...toJson(approval),
  result: outcome ? presentOutcome(outcome) : null,
});

/** What a list shows: ten thousand whole calls would not fit a page. */
export const toBrief = (one: Approval | DamagedApproval): Brief =>
  isDamaged(one) ? damagedBrief(one) : readableBrief(one);

/** Only what is stored apart from the damaged column, and nothing that pages would take for a date. */
const damagedBrief = (one: DamagedApproval): Brief => ({
  damaged: true,
  id: one.id,
  version: one.version,
  kind: 'call',
  state: one.state,
  tool: one.tool,
  effect: one.effect,
  requester: one.requester,
  ordered_by: null,
  toolkit: one.toolkit,
  summary: describeDamaged(one),
  gist: null,
  environment: null,
  signers: one.signers,
  risks: 0,
  first_risk: null,
  run_id: one.runId ?? null,
  created_at: '',
});

const readableBrief = (one: Approval): Brief => ({
  id: one.id,
  version: one.version,
  kind: one.kind,
  state: one.state,
  tool: one.tool,
  effect: one.effect,
  requester: principalName(one.requester),
  ordered_by: one.requester.orderedBy ?? null,
  toolkit: one.toolkit,
  summary: one.summary.length > SUMMARY_SHOWN ? `${one.summary.slice(0, SUMMARY_SHOWN)}…` : one.summary,
  gist: one.gist ?? null,
  environment: one.environment ?? null,
  signers: one.signers,
  risks: one.risks.length,
  first_risk: one.risks[0] ?? null,
  run_id: one.runId ?? null,
  created_at: one.createdAt.toISOString(),
});

/** Also of one that cannot be read, with what is known of it. */
export const toJsonOrDamaged = (one: Approval | DamagedApproval): ApprovalData | DamagedData =>
  isDamaged(one)
    ? { id: one.id, state: one.state, damaged: true, summary: describeDamaged(one) }
    : toJson(one);

/** An approval as pages see it: names as the API writes them everywhere. */
export function toJson(one: Approval): ApprovalData {
  return {
    id: one.id,
    uuid: one.uuid,
    version: one.version,
    kind: one.kind,
    state: one.state,
    tool: one.tool,
    toolkit: one.toolkit,
    effect: one.effect,
    args: one.args,
    requester: principalName(one.requester),
    ordered_by: one.requester.orderedBy ?? null,
    requester_label: one.requester.label ?? null,
    reason: one.reason,
    rule: one.rule,
    summary: one.summary,
    gist: one.gist ?? null,
    environment: one.environment ?? null,
    signers: one.signers,
    first_risk: one.risks[0] ?? null,
    risks: [...one.risks],
    context: one.context,
    run_id: one.runId ?? null,
    group_id: one.groupId ?? null,
    created_at: one.createdAt.toISOString(),
    expires_at: one.expiresAt?.toISOString() ?? null,
    decided_at: one.decidedAt?.toISOString() ?? null,
    decided_by: one.decidedBy ? principalName(one.decidedBy) : null,
    decision_reason: one.decisionReason ?? null,
    feedback: one.feedback ?? null,
    call_id: one.callId ?? null,
    outcome: presentStoredOutcome(one.outcome),
  };
}
