import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineResearchTool } from '../services.ts';
import { approve, findSuggestion } from '../suggestions/decide.ts';
import { argNumber, argText } from '../suggestions/show.ts';

export const approveCodingSuggestion = defineResearchTool({
  name: 'approve_coding_suggestion',
  title: 'Approve a coding suggestion',
  summary: 'Approve a coding suggestion (creates the segment). The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: [
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
