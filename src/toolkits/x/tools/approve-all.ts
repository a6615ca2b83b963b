import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import type { ApprovalsPort } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { requireDecider } from '../lib/approval-view.ts';
import { describeExecution, type Execution, execution, executionFault, sourceIn } from '../lib/execution.ts';
import { APPROVE_FAULTS } from '../lib/fault-codes.ts';
import { defineXTool } from '../services.ts';

export const approveAll = defineXTool({
  name: 'approve_all',
  title: 'Approve all items',
  summary: 'Approves and executes the oldest queued items, up to max_batch_approve. A person decides.',
  effect: 'decide',
  reach: 'network',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  faults: APPROVE_FAULTS,
  requires: { xClient: true, db: true },
  // Each item may wait for X; the batch is bounded by configuration, not by the general deadline.
  deadlineMs: 600_000,
  input: z.object({}),
  output: z.object({
    approved: z.number(),
    failed: z.number(),
    ids: z.array(z.number()),
    max_batch: z.number(),
    results: z.array(execution),
  }),
  describeApproval: () => 'Approve every queued item of toolkit x and execute them?',
  async run(_args, { services, decider, shown, signal, progress, note }) {
    const by = requireDecider(decider, 'countersign approvals list');
    const { approvals } = services.kernel;
    const max = services.settings.limits.max_batch_approve;
    const waiting = await approvals.list({
      states: ['pending'],
      toolkit: 'x',
      kind: 'call',
      order: 'oldest',
      limit: max,
    });
    // What was queued while the person read the question was not part of it.
    const items = waiting.filter(({ id }) => shown?.has(id) ?? true);
    const results: Execution[] = [];
    const faults: ToolFault[] = [];
    for (const { id, tool } of items) {
      if (signal.aborted) break;
      progress(`Executing item ${id} (${tool})`, results.length, items.length);
      const { result, fault, source } = await approveOne(approvals, id, tool, by);
      results.push(result);
      note(source);
      if (fault) faults.push(fault);
    }
    const ids = results.filter((r) => !r.error).map((r) => r.id);
    const [first] = faults;
    // An item in doubt may have happened, so that no fault of another may speak for all.
    const inDoubt = results.some(({ status }) => status === 'indeterminate');
    if (first && ids.length === 0 && !inDoubt) throw first;
    return { approved: ids.length, failed: faults.length, ids, max_batch: max, results };
  },
});

async function approveOne(approvals: ApprovalsPort, id: number, tool: string, by: Principal) {
  try {
    const decided = await approvals.approve(id, by);
    return {
      result: describeExecution(decided),
      fault: executionFault(decided),
      source: sourceIn(decided.outcome),
    };
  } catch (error) {
    // One item that was decided meanwhile, or that is the agent's own, must not hold up the others.
    if (!(error instanceof ToolFault) || error.code === 'db_error') throw error;
    const { code, message } = error;
    const result: Execution = {
      id,
      action_type: tool,
      status: 'pending',
      executed: false,
      error: { code, message },
    };
    return { result, fault: error, source: {} };
  }
}
