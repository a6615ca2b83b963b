import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { ApprovalsPort } from '../../../contract/ports.ts';
import type { Principal } from '../../../contract/principal.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import {
  approvalId,
  approvalItem,
  describeExecution,
  describeItem,
  type Execution,
  execution,
  executionError,
  findItem,
  requireDecider,
  sourceIn,
  waitingFor,
} from '../approval-view.ts';
import { APPROVE_ERRORS } from '../errors.ts';
import { defineXTool } from '../services.ts';

export const listPendingApprovals = defineXTool({
  name: 'list_pending_approvals',
  title: 'List pending approvals',
  summary: 'Pending approvals, oldest first.',
  effect: 'read',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({ limit: z.number().int().min(1).max(200).default(50) }),
  output: z.object({ pending_count: z.number(), items: z.array(approvalItem) }),
  async run({ limit }, context) {
    const { count, items } = await waitingFor(context, limit);
    return { pending_count: count, items: items.map(describeItem) };
  },
});

export const getPendingCount = defineXTool({
  name: 'get_pending_count',
  title: 'Count pending approvals',
  summary: 'Number of pending approvals.',
  effect: 'read',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  errors: ['db_error'],
  requires: { db: true },
  input: z.object({}),
  output: z.object({ pending_count: z.number() }),
  async run(_args, context) {
    const { count } = await waitingFor(context, 0);
    return { pending_count: count };
  },
});

export const approveItem = defineXTool({
  name: 'approve_item',
  title: 'Approve an item',
  summary: 'Approves one pending call and executes exactly that call. A person decides.',
  effect: 'decide',
  reach: 'network',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  errors: APPROVE_ERRORS,
  requires: { xClient: true, db: true },
  input: z.object({ id: approvalId }),
  output: execution,
  decides: ({ id }) => ({ ids: [id] }),
  async run({ id }, { services, decider, note }) {
    const by = requireDecider(decider);
    const item = await findItem(services.kernel.approvals, id);
    const decided = await services.kernel.approvals.approve(item.id, by);
    note(sourceIn(decided.outcome));
    const fault = executionError(decided);
    if (fault) throw fault;
    return describeExecution(decided);
  },
});

export const rejectItem = defineXTool({
  name: 'reject_item',
  title: 'Reject an item',
  summary: 'Rejects one pending call; it is never executed. A person decides.',
  effect: 'decide',
  decision: 'reject',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  errors: ['db_error', 'not_found', 'validation_error', 'policy_denied_hard_rule'],
  requires: { db: true },
  input: z.object({ id: approvalId }),
  output: z.object({ id: z.number(), action_type: z.string(), status: z.string() }),
  decides: ({ id }) => ({ ids: [id] }),
  async run({ id }, { services, decider }) {
    const by = requireDecider(decider);
    const item = await findItem(services.kernel.approvals, id);
    const rejected = await services.kernel.approvals.reject(item.id, by);
    return { id: rejected.id, action_type: rejected.tool, status: rejected.state };
  },
});

export const approveAll = defineXTool({
  name: 'approve_all',
  title: 'Approve all',
  summary: 'Approves and executes the oldest pending calls, up to max_batch_approve. A person decides.',
  effect: 'decide',
  reach: 'network',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  errors: APPROVE_ERRORS,
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
  decides: () => 'all-pending',
  async run(_args, { services, decider, shown, signal, progress, note }) {
    const by = requireDecider(decider);
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
    const faults: ToolError[] = [];
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
      fault: executionError(decided),
      source: sourceIn(decided.outcome),
    };
  } catch (error) {
    // One item that was decided since then, or that is the agent's own, must not hold up the others.
    if (!(error instanceof ToolError) || error.code === 'db_error') throw error;
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
