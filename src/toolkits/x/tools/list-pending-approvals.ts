import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { approvalItem, describeItem } from '../lib/approval-view.ts';
import { defineXTool } from '../services.ts';

export const listPendingApprovals = defineXTool({
  name: 'list_pending_approvals',
  title: 'List pending approvals',
  summary: 'Items that wait for a person, oldest first.',
  effect: 'read',
  reach: 'local',
  category: 'approval',
  profiles: CHANGE_PROFILES,
  faults: ['db_error'],
  requires: { db: true },
  input: z.object({ limit: z.number().int().min(1).max(200).default(50) }),
  output: z.object({ pending_count: z.number(), items: z.array(approvalItem) }),
  async run({ limit }, { services }) {
    const { approvals } = services.kernel;
    const waiting = { states: ['pending'], toolkit: 'x', kind: 'call' } as const;
    const [count, items] = await Promise.all([
      approvals.count(waiting),
      approvals.list({ ...waiting, limit, order: 'oldest' }),
    ]);
    return { pending_count: count, items: items.map(describeItem) };
  },
});
