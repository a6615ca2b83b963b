import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { codingSuggestion } from '../suggestions/codings.ts';
import { createProposer } from '../suggestions/propose.ts';

const CONFIDENCE = 70;

export const suggestBatchCoding = defineResearchTool({
  name: 'suggest_batch_coding',
  title: 'Suggest a batch of codings',
  summary:
    'Suggest applying a code to multiple segments. All positions are checked before anything is filed.',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'code_not_found', 'invalid_position', 'validation_error'],
  deadlineMs: 300_000,
  input: z.object({
    code_id: id(),
    segments: z.array(z.strictObject({ source_id: id(), start_pos: z.int(), end_pos: z.int() })),
    rationale: z.string(),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    batch_id: z.string(),
    segment_count: z.int(),
    suggestion_ids: z.array(z.string()),
    already_pending_count: z.int(),
    previously_rejected_count: z.int(),
  }),

  async run({ code_id, segments, rationale }, context) {
    const session = await openSession(context);
    if (segments.length === 0)
      throw new ToolFault('validation_error', 'segments is empty; give at least one.');
    const batchId = await context.services.batches.open(session.project.id, 'suggest_batch_coding');
    const suggestions = segments.map((segment) =>
      codingSuggestion(session, {
        codeId: code_id,
        sourceId: segment.source_id,
        start: segment.start_pos,
        end: segment.end_pos,
        rationale: memoToStore(context.principal, rationale),
        confidence: CONFIDENCE,
        batchId,
      }),
    );
    const proposer = await createProposer(context, session, 'apply_code');
    const filed = [];
    for (const suggestion of suggestions) {
      context.signal.throwIfAborted();
      filed.push(await proposer.file(suggestion));
    }
    return {
      status: 'pending_approval',
      requires_approval: true,
      batch_id: batchId,
      segment_count: filed.filter(({ alreadyPending }) => !alreadyPending).length,
      suggestion_ids: filed.map(({ approval }) => approval.uuid),
      already_pending_count: filed.filter(({ alreadyPending }) => alreadyPending).length,
      previously_rejected_count: filed.filter(({ rejectedBefore }) => rejectedBefore).length,
    };
  },
});
