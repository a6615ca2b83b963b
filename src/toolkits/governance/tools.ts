import { z } from 'zod';
import { ToolError } from '../../contract/errors.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ApprovalsPort, AuditPort, TelemetryPort } from '../../contract/ports.ts';
import { isShownTo, principalName, samePrincipal } from '../../contract/principal.ts';
import { CHANGE_PROFILES, READ_PROFILES, toolFactory } from '../../contract/tool.ts';

/** What the governance tools may use: the queue and the log, nothing that acts. */
export interface GovernanceServices {
  readonly approvals: ApprovalsPort;
  readonly audit: AuditPort;
  readonly telemetry: Pick<TelemetryPort, 'call'>;
}

const defineGovernanceTool = toolFactory<GovernanceServices>();

export const approvalRequest = defineGovernanceTool({
  name: 'approval_request',
  title: 'Request approval',
  summary:
    'Request a permit for one exact call. Once a person approves it, make that call with the same arguments; the permit works once.',
  effect: 'propose',
  reach: 'local',
  category: 'governance',
  profiles: CHANGE_PROFILES,
  errors: ['not_found', 'invalid_input'],
  input: z.object({
    tool: z.string().min(1).describe('Name of the tool you want to call.'),
    arguments: z
      .record(z.string(), z.unknown())
      .describe('Its exact arguments; omit approval_id and dry_run.'),
    reason: z.string().min(1).max(2000).describe('Why, for the person who decides.'),
  }),
  output: z.object({
    approval_id: z.string(),
    approval_queue_id: z.int(),
    state: z.string(),
    tool: z.string(),
    summary: z.string(),
    expires_at: z.string().nullable(),
    how_to_approve: z.string(),
  }),
  async run({ tool, arguments: args, reason }, { services, principal }) {
    // The pipeline's strict JSON check already ran over the whole input.
    const wanted = args as JsonObject;
    const approval = await services.approvals.propose({
      tool,
      args: wanted,
      requester: principal,
      reason,
      kind: 'permit',
    });
    // The title names things by what they are, which is not always for the agent to know.
    const { summary } = await services.approvals.tell(approval, principal);
    return {
      approval_id: approval.uuid,
      approval_queue_id: approval.id,
      state: approval.state,
      tool: approval.tool,
      summary,
      expires_at: approval.expiresAt?.toISOString() ?? null,
      how_to_approve: `A person decides in ${await services.approvals.inbox(approval.id)}`,
    };
  },
});

export const approvalGet = defineGovernanceTool({
  name: 'approval_get',
  title: 'Get an approval',
  summary:
    'Get the state of your approval request: pending, approved, rejected with the reason, or executed with the result.',
  effect: 'read',
  reach: 'local',
  category: 'governance',
  profiles: READ_PROFILES,
  errors: ['not_found'],
  input: z.object({
    approval_id: z
      .union([z.string().min(1), z.int()])
      .describe('ID from approval_request or from a routed call.'),
  }),
  output: z.object({
    approval_id: z.string(),
    approval_queue_id: z.int(),
    kind: z.string(),
    state: z.string(),
    tool: z.string(),
    summary: z.string(),
    reason: z.string(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    decided_by: z.string().nullable(),
    decision_reason: z.string().nullable(),
    feedback: z.string().nullable(),
    call_id: z.string().nullable(),
    outcome: z.unknown(),
  }),
  async run({ approval_id: id }, { services, principal }) {
    const found = await services.approvals.get(id);
    // What other agents asked for is none of this one's business, and looks the same as nothing.
    if (!found || (principal.kind === 'agent' && !samePrincipal(found.requester, principal))) {
      throw new ToolError('not_found', `Approval ${id} not found among your requests.`);
    }
    const approval = await services.approvals.tell(found, principal);
    return {
      approval_id: approval.uuid,
      approval_queue_id: approval.id,
      kind: approval.kind,
      state: approval.state,
      tool: approval.tool,
      summary: approval.summary,
      reason: approval.reason,
      created_at: approval.createdAt.toISOString(),
      expires_at: approval.expiresAt?.toISOString() ?? null,
      decided_by: approval.decidedBy ? principalName(approval.decidedBy) : null,
      decision_reason: approval.decisionReason ?? null,
      feedback: approval.feedback ?? null,
      call_id: approval.callId ?? null,
      outcome: approval.outcome ?? null,
    };
  },
});

export const auditGet = defineGovernanceTool({
  name: 'audit_get',
  title: 'Get the evidence of a call',
  summary:
    'Get the audit entries of your call, each with a proof that it is in the signed log. `countersign audit check` verifies it offline.',
  effect: 'read',
  reach: 'local',
  category: 'governance',
  profiles: READ_PROFILES,
  errors: ['not_found'],
  input: z.object({
    call_id: z.string().min(1).describe('Call ID from a reply (tool_call_id, correlation_id or _meta).'),
  }),
  output: z.record(z.string(), z.unknown()),
  async run({ call_id: callId }, { services, principal }) {
    // What other agents did is none of this one's business, and looks the same as nothing.
    const owner = (await services.telemetry.call(callId))?.principal;
    const isShown = principal.kind !== 'agent' || (owner !== undefined && isShownTo(principal, owner));
    const proof = isShown ? await services.audit.proof(callId) : undefined;
    if (!proof) throw new ToolError('not_found', `Call ${callId} not found among your calls.`);
    return proof;
  },
});
