import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { approvalItem, describeItem } from '../lib/approval-view.ts';
import { waitingFor } from '../lib/shown-to.ts';
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
  async run({ limit }, context) {
    const { count, items } = await waitingFor(context, limit);
    return { pending_count: count, items: items.map(describeItem) };
  },
});
