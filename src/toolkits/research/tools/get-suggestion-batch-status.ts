import { z } from 'zod';
import { READ_PROFILES } from '../../../contract/profile.ts';
import { defineResearchTool } from '../services.ts';
import { batchItems, batchStatus } from '../suggestions/batch-status.ts';

export const getSuggestionBatchStatus = defineResearchTool({
  name: 'get_suggestion_batch_status',
  title: 'Get the status of a batch',
  summary: 'Get status of a suggestion batch.',
  effect: 'read',
  reach: 'local',
  category: 'suggestions',
  profiles: READ_PROFILES,
  faults: ['not_found'],
  input: z.object({ batch_id: z.string() }),
  output: z.object({
    batch_id: z.string(),
    status: z.enum(['pending_review', 'reviewed', 'applied']),
    total_count: z.int(),
    pending_count: z.int(),
    reviewed_count: z.int(),
    applied_count: z.int(),
    rejected_count: z.int(),
    failed_count: z.int(),
  }),

  async run({ batch_id }, { services }) {
    const status = batchStatus(await batchItems(services, batch_id));
    return { batch_id, ...status, status: status.status as 'pending_review' | 'reviewed' | 'applied' };
  },
});
