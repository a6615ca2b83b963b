import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineResearchTool } from '../services.ts';
import { deciderOf, findSuggestion } from '../suggestions/decide.ts';

export const rejectCodingSuggestion = defineResearchTool({
  name: 'reject_coding_suggestion',
  title: 'Reject a suggestion',
  summary:
    'Reject a coding suggestion with feedback, which is kept: the same suggestion made again says that it was rejected. Works for every kind of suggestion.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['not_found', 'approval_state'],
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

  async run({ suggestion_id, reason, feedback }, context) {
    const approval = await findSuggestion(context, suggestion_id);
    const rejected = await context.services.approvals.reject(approval.uuid, deciderOf(context), {
      reason,
      feedback,
    });
    return {
      status: rejected.state,
      suggestion_id: rejected.uuid,
      reason: rejected.decisionReason ?? null,
      feedback: rejected.feedback ?? null,
    };
  },
});
