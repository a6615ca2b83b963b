import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineResearchTool } from '../services.ts';
import { batchItems } from '../suggestions/batch-status.ts';
import { approve } from '../suggestions/decide.ts';

export const approveBatchCoding = defineResearchTool({
  name: 'approve_batch_coding',
  title: 'Approve a batch of codings',
  summary: 'Approve all suggestions in a batch that still wait. The researcher is asked once.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['not_found', 'approval_state', 'no_project', 'busy'],
  deadlineMs: 600_000,
  input: z.object({ batch_id: z.string() }),
  output: z.object({
    status: z.string(),
    batch_id: z.string(),
    applied_count: z.int(),
    failed_count: z.int(),
    errors: z
      .array(z.object({ suggestion_id: z.string(), error: z.string(), error_code: z.string() }))
      .nullable(),
  }),

  async run({ batch_id }, context) {
    const items = await batchItems(context.services, batch_id);
    const waiting = items.filter(
      // What joined the batch while the researcher read the question was not part of it.
      ({ id, state }) => state === 'pending' && (context.shown?.has(id) ?? true),
    );
    if (waiting.length === 0 && items.length > 0) {
      throw new ToolFault('approval_state', `Nothing of batch ${batch_id} waits any more.`, {
        detail: { batch_id },
      });
    }
    const errors: { suggestion_id: string; error: string; error_code: string }[] = [];
    let applied = 0;
    for (const [at, item] of waiting.entries()) {
      // What was applied stays; what was not reached still waits.
      if (context.signal.aborted) break;
      context.progress(`Applying ${at + 1} of ${waiting.length}`, at, waiting.length);
      try {
        await approve(context, item);
        applied += 1;
      } catch (error) {
        if (!(error instanceof ToolFault)) throw error;
        errors.push({ suggestion_id: item.uuid, error: error.message, error_code: error.code.toUpperCase() });
      }
    }
    const complete = applied === waiting.length;
    return {
      status: complete ? 'applied' : applied > 0 ? 'partial' : 'failed',
      batch_id,
      applied_count: applied,
      failed_count: errors.length,
      errors: errors.length > 0 ? errors : null,
    };
  },
});
