import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { lookup } from '../../../lib/lookup.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { approve, argNumber, argText, batchItems, deciderOf, findSuggestion } from '../suggestions/decide.ts';

/** What the document says for each kind; other changes that waited answer with their own data. */
const STATUS: { readonly [tool: string]: string } = { create_code: 'created', merge_codes: 'merged' };

export const approveSuggestion = defineResearchTool({
  name: 'approve_suggestion',
  title: 'Approve a suggestion',
  summary: 'Approve a pending code suggestion (creates the code). The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['not_found', 'approval_state', 'conflict', 'no_project', 'busy'],
  input: z.object({ suggestion_id: z.string() }),
  output: z.looseObject({ status: z.string(), suggestion_id: z.string() }),
  decides: ({ suggestion_id }) => ({ ids: [suggestion_id] }),

  async run({ suggestion_id }, context) {
    const approval = await findSuggestion(context, suggestion_id);
    const data = await approve(context, approval);
    const name = approval.tool === 'create_code' ? { name: argText(approval.args, 'name') } : {};
    // The answer goes to the caller, which may be an agent that only carried the question.
    const { lens } = await openSession(context);
    const visible = Object.entries({ ...name, ...data }).map(([field, value]) => [
      field,
      typeof value === 'string' ? lens.tell(value) : value,
    ]);
    return {
      ...Object.fromEntries(visible),
      status: lookup(STATUS, approval.tool) ?? String(data.status ?? 'applied'),
      suggestion_id: approval.uuid,
    };
  },
});

export const approveMerge = defineResearchTool({
  name: 'approve_merge',
  title: 'Approve a merge',
  summary: 'Approve a merge suggestion. The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['not_found', 'validation_error', 'approval_state', 'code_not_found', 'no_project', 'busy'],
  input: z.object({ merge_suggestion_id: z.string() }),
  output: z.object({
    status: z.string(),
    merged_from: z.int(),
    merged_into: z.int(),
    segments_moved: z.int(),
    duplicates_joined: z.int(),
  }),
  decides: ({ merge_suggestion_id }) => ({ ids: [merge_suggestion_id] }),

  async run({ merge_suggestion_id }, context) {
    const approval = await findSuggestion(context, merge_suggestion_id, ['merge_codes']);
    const data = await approve(context, approval);
    return {
      status: 'merged',
      merged_from: argNumber(approval.args, 'source_code_id'),
      merged_into: argNumber(approval.args, 'target_code_id'),
      segments_moved: argNumber(data, 'segments_moved'),
      duplicates_joined: argNumber(data, 'duplicates_joined'),
    };
  },
});

export const approveCodingSuggestion = defineResearchTool({
  name: 'approve_coding_suggestion',
  title: 'Approve a coding suggestion',
  summary: 'Approve a coding suggestion (creates the segment). The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: [
    'not_found',
    'validation_error',
    'approval_state',
    'conflict',
    'invalid_position',
    'no_project',
    'busy',
  ],
  input: z.object({ suggestion_id: z.string() }),
  output: z.object({ status: z.string(), segment_id: z.int(), suggestion_id: z.string() }),
  decides: ({ suggestion_id }) => ({ ids: [suggestion_id] }),

  async run({ suggestion_id }, context) {
    const approval = await findSuggestion(context, suggestion_id, ['apply_code']);
    const data = await approve(context, approval);
    return {
      status: argText(data, 'status') || 'applied',
      segment_id: argNumber(data, 'segment_id'),
      suggestion_id: approval.uuid,
    };
  },
});

export const approveBatchCoding = defineResearchTool({
  name: 'approve_batch_coding',
  title: 'Approve a batch of codings',
  summary: 'Approve all pending suggestions in a batch. The researcher is asked once.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['not_found', 'approval_state', 'no_project', 'busy'],
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
  decides: ({ batch_id }) => ({ group: batch_id }),

  async run({ batch_id }, context) {
    const items = await batchItems(context.services, batch_id);
    const waiting = items.filter(
      // What joined the batch while the researcher read the question was not part of it.
      ({ id, state }) => state === 'pending' && (context.shown?.has(id) ?? true),
    );
    if (waiting.length === 0 && items.length > 0) {
      throw new ToolError('approval_state', `Batch ${batch_id} has no pending suggestions.`, {
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
        if (!(error instanceof ToolError)) throw error;
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

export const rejectCodingSuggestion = defineResearchTool({
  name: 'reject_coding_suggestion',
  decision: 'reject',
  title: 'Reject a suggestion',
  summary:
    'Reject a coding suggestion with feedback. It is stored: the same suggestion made again reports the rejection. Works for every kind of suggestion.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['not_found', 'approval_state'],
  input: z.object({
    suggestion_id: z.string(),
    reason: z.string().optional(),
    feedback: z.string().optional(),
  }),
  output: z.object({
    status: z.string(),
    suggestion_id: z.string(),
    reason: z.string().nullable(),
    feedback: z.string().nullable(),
  }),
  decides: ({ suggestion_id }) => ({ ids: [suggestion_id] }),

  async run({ suggestion_id, reason, feedback }, context) {
    const approval = await findSuggestion(context, suggestion_id);
    const rejected = await context.services.approvals.reject(approval.uuid, deciderOf(context), {
      reason,
      feedback,
    });
    return {
      status: rejected.state,
      suggestion_id: approval.uuid,
      reason: reason ?? null,
      feedback: feedback ?? null,
    };
  },
});
