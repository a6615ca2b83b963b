import { ToolFault } from '../../../contract/faults.ts';
import type { Approval, ApprovalState } from '../../../contract/ports.ts';
import type { ResearchServices } from '../services.ts';

const PAGE = 500;

/** Every suggestion of a batch, oldest first; a batch nobody knows is a fault, an empty one is not. */
export async function batchItems(
  { approvals, batches }: ResearchServices,
  batchId: string,
): Promise<Approval[]> {
  if (!(await batches.get(batchId))) {
    throw new ToolFault('not_found', `There is no suggestion batch ${batchId}.`, {
      detail: { batch_id: batchId },
    });
  }
  const items: Approval[] = [];
  for (;;) {
    const page = await approvals.list({
      groupId: batchId,
      order: 'oldest',
      limit: PAGE,
      offset: items.length,
    });
    items.push(...page);
    if (page.length < PAGE) return items;
  }
}

export function batchStatus(items: readonly Approval[]) {
  const count = (...states: ApprovalState[]) => items.filter(({ state }) => states.includes(state)).length;
  const pending = count('pending', 'approved', 'executing');
  const applied = count('done');
  const status =
    pending > 0 ? 'pending_review' : applied === items.length && applied > 0 ? 'applied' : 'reviewed';
  return {
    status,
    total_count: items.length,
    pending_count: pending,
    reviewed_count: items.length - pending,
    applied_count: applied,
    rejected_count: count('rejected', 'withdrawn', 'expired'),
    failed_count: count('failed', 'indeterminate'),
  };
}
