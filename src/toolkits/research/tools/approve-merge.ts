import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { defineResearchTool } from '../services.ts';
import { approve, findSuggestion } from '../suggestions/decide.ts';
import { argNumber } from '../suggestions/show.ts';

export const approveMerge = defineResearchTool({
  name: 'approve_merge',
  title: 'Approve a merge',
  summary: 'Approve a merge suggestion. The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['not_found', 'validation_error', 'approval_state', 'code_not_found', 'no_project', 'busy'],
  input: z.object({ merge_suggestion_id: z.string() }),
  output: z.object({
    status: z.string(),
    merged_from: z.int(),
    merged_into: z.int(),
    segments_moved: z.int(),
    duplicates_joined: z.int(),
  }),

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
