import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { principalName, samePrincipal } from '../../../contract/principal.ts';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineGovernanceTool } from '../services.ts';

export const approvalGet = defineGovernanceTool({
  name: 'approval_get',
  title: 'Get an approval',
  summary:
    'See how a request of yours went: waiting, approved, rejected with the reason, or executed with what it gave.',
  effect: 'read',
  reach: 'local',
  category: 'governance',
  profiles: READ_PROFILES,
  faults: ['not_found'],
  input: z.object({
    approval_id: z
      .union([z.string().min(1), z.int()])
      .describe('Id from approval_request or from a routed call.'),
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
      throw new ToolFault('not_found', `You have no approval ${id}.`);
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
