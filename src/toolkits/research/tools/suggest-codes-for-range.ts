import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { methodName } from '../lib/method.ts';
import { openSession } from '../lib/session.ts';
import { checkRange } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';
import { fileAutomatic } from '../suggestions/automatic.ts';

export const suggestCodesForRange = defineResearchTool({
  name: 'suggest_codes_for_range',
  title: 'Suggest codes for a passage',
  summary:
    'Suggest which codes fit a text range. Works on this machine; each suggestion names its evidence and waits for the researcher.',
  effect: 'propose',
  reach: 'local',
  category: 'analysis',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'invalid_position', 'not_allowed'],
  deadlineMs: 120_000,
  input: z.object({ source_id: id(), start_pos: z.int(), end_pos: z.int() }),
  output: z.object({
    source_id: z.int(),
    start_pos: z.int(),
    end_pos: z.int(),
    suggestion_batch_id: z.string(),
    suggestions: z.array(
      z.object({
        suggestion_id: z.string(),
        code_id: z.int(),
        code_name: z.string(),
        confidence: z.int(),
        rationale: z.string(),
        already_pending: z.boolean().optional(),
      }),
    ),
    method: z.string(),
    note: z.string().optional(),
    already_pending_count: z.int().describe('Suggested before and still waiting, in the batch of that time.'),
    previously_rejected_count: z.int(),
  }),

  async run({ source_id, start_pos, end_pos }, context) {
    const { lens } = await openSession(context);
    checkRange(lens.text(source_id), source_id, start_pos, end_pos);
    const { found, filed, batchId, alreadyPending } = await fileAutomatic(
      context,
      source_id,
      (analysis, options) =>
        analysis.suggestCodesForRange(source_id, { start: start_pos, end: end_pos }, options),
    );
    return {
      source_id,
      start_pos,
      end_pos,
      suggestion_batch_id: batchId,
      suggestions: filed.map((item) => ({
        suggestion_id: item.id,
        code_id: item.idea.codeId,
        code_name: lens.mask(item.idea.codeName),
        confidence: item.idea.confidence,
        rationale: lens.mask(item.idea.rationale),
        ...(item.alreadyPending ? { already_pending: true } : {}),
      })),
      method: methodName(found.provenance),
      ...(found.provenance.note ? { note: found.provenance.note } : {}),
      already_pending_count: alreadyPending,
      previously_rejected_count: found.rejectedBefore,
    };
  },
});
