import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { Approval, ApprovalsPort } from '../../../contract/ports.ts';
import { type Principal, principalName } from '../../../contract/principal.ts';

/** The documented parameter is the integer; the uuid is taken too, as on every other route. */
export const approvalId = z
  .union([z.number().int().positive(), z.string().min(1)])
  .describe('Id from list_pending_approvals.');

export const approvalItem = z.object({
  id: z.number(),
  uuid: z.string(),
  action_type: z.string(),
  status: z.string(),
  summary: z.string(),
  params: z.looseObject({}),
  reason: z.string(),
  matched_rule_id: z.string(),
  detected_risks: z.array(z.string()),
  requested_by: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});

export function describeItem(item: Approval): z.input<typeof approvalItem> {
  return {
    id: item.id,
    uuid: item.uuid,
    action_type: item.tool,
    status: item.state,
    summary: item.summary,
    params: item.args,
    reason: item.reason,
    matched_rule_id: item.rule,
    detected_risks: [...item.risks],
    requested_by: principalName(item.requester),
    created_at: item.createdAt.toISOString(),
    expires_at: item.expiresAt?.toISOString() ?? null,
  };
}

/** Items of other toolkits wait in the same queue, but are not this toolkit's to decide. */
export async function findItem(approvals: ApprovalsPort, id: string | number): Promise<Approval> {
  const item = await approvals.get(id);
  if (item?.toolkit !== 'x') {
    throw new ToolFault('not_found', `No item ${id} is in the approval queue of toolkit x.`, {
      detail: { id },
    });
  }
  return item;
}

export function requireDecider(decider: Principal | undefined, command: string): Principal {
  if (decider) return decider;
  throw new ToolFault('policy_denied_hard_rule', `A person must decide this: run \`${command}\`.`);
}
