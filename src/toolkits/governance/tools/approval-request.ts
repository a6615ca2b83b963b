import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineGovernanceTool } from '../services.ts';

export const approvalRequest = defineGovernanceTool({
  name: 'approval_request',
  title: 'Request approval',
  summary:
    'Ask a person beforehand to permit one exact call. Once approved, make that call with the same arguments: it is let through once.',
  effect: 'propose',
  reach: 'local',
  category: 'governance',
  profiles: CHANGE_PROFILES,
  faults: ['not_found', 'invalid_input'],
  input: z.object({
    tool: z.string().min(1).describe('Name of the tool you want to call.'),
    arguments: z
      .record(z.string(), z.unknown())
      .describe('Its exact arguments; leave out approval_id and dry_run.'),
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
    return {
      approval_id: approval.uuid,
      approval_queue_id: approval.id,
      state: approval.state,
      tool: approval.tool,
      summary: approval.summary,
      expires_at: approval.expiresAt?.toISOString() ?? null,
      how_to_approve: `A person decides in the inbox, or runs: countersign approvals approve ${approval.id}`,
    };
  },
});
