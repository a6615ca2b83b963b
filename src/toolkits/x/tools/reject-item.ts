import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { approvalId, findItem, requireDecider } from '../lib/approval-view.ts';
import { defineXTool } from '../services.ts';

export const rejectItem = defineXTool({
  name: 'reject_item',
  title: 'Reject an item',
  summary: 'Rejects one queued item; it is never executed. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  faults: ['db_error', 'not_found', 'validation_error', 'policy_denied_hard_rule'],
  requires: { db: true },
  input: z.object({ id: approvalId }),
  output: z.object({ id: z.number(), action_type: z.string(), status: z.string() }),
  describeApproval: ({ id }) => `Reject queued item ${id}?`,
  async run({ id }, { services, decider }) {
    const by = requireDecider(decider, `countersign approvals reject ${id}`);
    const item = await findItem(services.kernel.approvals, id);
    const rejected = await services.kernel.approvals.reject(item.id, by);
    return { id: rejected.id, action_type: rejected.tool, status: rejected.state };
  },
});
