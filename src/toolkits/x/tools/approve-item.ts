import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { approvalId, findItem, requireDecider } from '../lib/approval-view.ts';
import { describeExecution, execution, executionFault, sourceIn } from '../lib/execution.ts';
import { APPROVE_FAULTS } from '../lib/fault-codes.ts';
import { defineXTool } from '../services.ts';

export const approveItem = defineXTool({
  name: 'approve_item',
  title: 'Approve an item',
  summary: 'Approves one queued item and executes exactly that call. A person decides.',
  effect: 'decide',
  reach: 'network',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  faults: APPROVE_FAULTS,
  requires: { xClient: true, db: true },
  input: z.object({ id: approvalId }),
  output: execution,
  describeApproval: ({ id }) => `Approve queued item ${id} and execute it?`,
  async run({ id }, { services, decider, note }) {
    const by = requireDecider(decider, `countersign approvals approve ${id}`);
    const item = await findItem(services.kernel.approvals, id);
    const decided = await services.kernel.approvals.approve(item.id, by);
    note(sourceIn(decided.outcome));
    const fault = executionFault(decided);
    if (fault) throw fault;
    return describeExecution(decided);
  },
});
