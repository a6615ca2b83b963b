import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { methodName } from '../lib/method.ts';
import { defineResearchTool } from '../services.ts';
import { fileAutomatic } from '../suggestions/automatic.ts';

export const autoSuggestCodes = defineResearchTool({
  name: 'auto_suggest_codes',
  title: 'Suggest codes for a whole source',
  summary:
    'Auto-suggest codes for all uncoded portions, sentence by sentence. Each suggestion waits for the researcher.',
  effect: 'propose',
  reach: 'local',
  category: 'analysis',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position', 'not_allowed'],
  deadlineMs: 600_000,
  input: z.object({ source_id: id(), min_confidence: z.int().default(70) }),
  output: z.object({
    batch_id: z.string(),
    source_id: z.int(),
    total_suggested: z.int(),
    suggestions: z.array(
      z.object({
        suggestion_id: z.string(),
        code_id: z.int(),
        code_name: z.string(),
        start_pos: z.int(),
        end_pos: z.int(),
        confidence: z.int(),
        rationale: z.string(),
        already_pending: z.boolean().optional(),
      }),
    ),
    method: z.string(),
    note: z.string().optional(),
    already_pending_count: z.int().describe('Suggested before and still waiting, in the batch of that time.'),
    previously_rejected_count: z.int(),
    left_out_count: z.int().describe('Less certain ones beyond the configured limit.'),
  }),

  async run({ source_id, min_confidence }, context) {
    const { session, found, filed, batchId, alreadyPending, leftOut } = await fileAutomatic(
      context,
      source_id,
      (analysis, options) => analysis.autoSuggestCodes(source_id, min_confidence, options),
    );
    return {
      batch_id: batchId,
      source_id,
      total_suggested: filed.length,
      suggestions: filed.map((item) => ({
        suggestion_id: item.id,
        code_id: item.idea.codeId,
        code_name: session.lens.mask(item.idea.codeName),
        start_pos: item.idea.start,
        end_pos: item.idea.end,
        confidence: item.idea.confidence,
        rationale: session.lens.mask(item.idea.rationale),
        ...(item.alreadyPending ? { already_pending: true } : {}),
      })),
      method: methodName(found.provenance),
      ...(found.provenance.note ? { note: found.provenance.note } : {}),
      already_pending_count: alreadyPending,
      previously_rejected_count: found.rejectedBefore,
      left_out_count: leftOut,
    };
  },
});
