import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { checkRange } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { fileAutomatic, methodName } from '../suggestions/automatic.ts';
import { id } from './shapes.ts';

export const autoSuggestCodes = defineResearchTool({
  name: 'auto_suggest_codes',
  title: 'Suggest codes for a whole source',
  summary:
    'Auto-suggest codes for all uncoded portions, sentence by sentence. Each suggestion waits for the researcher.',
  effect: 'propose',
  reach: 'local',
  category: 'analysis',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position', 'validation_error', 'not_allowed'],
  deadlineMs: 600_000,
  input: z.object({
    source_id: id(),
    min_confidence: z.int().default(70),
  }),
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
    already_pending_count: z.int().describe('Suggested earlier and still pending, in that earlier batch.'),
    previously_rejected_count: z.int(),
    left_out_count: z.int().describe('Less certain ones beyond the configured limit.'),
  }),

  check({ min_confidence }) {
    if (min_confidence < 0 || min_confidence > 100)
      throw new ToolError('validation_error', 'min_confidence must be between 0 and 100.');
  },

  async run({ source_id, min_confidence }, context) {
    const { session, found, filed, batchId, alreadyPending, leftOut } = await fileAutomatic(
      context,
      source_id,
      (analysis, options) =>
        analysis.autoSuggestCodes(source_id, min_confidence, {
          ...options,
          most: context.services.config.max_suggestions,
        }),
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

export const suggestCodesForRange = defineResearchTool({
  name: 'suggest_codes_for_range',
  title: 'Suggest codes for a passage',
  summary:
    'Suggest which codes fit a text range. Works on this machine; each suggestion names its evidence and waits for the researcher.',
  effect: 'propose',
  reach: 'local',
  category: 'analysis',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'invalid_position', 'not_allowed'],
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
    unlikely: z
      .array(
        z.object({ code_id: z.int(), code_name: z.string(), confidence: z.int(), rationale: z.string() }),
      )
      .optional()
      .describe('Below a confidence of 10: not filed for the researcher.'),
    new_codes: z
      .array(z.object({ suggestion_id: z.string(), name: z.string(), rationale: z.string() }))
      .optional()
      .describe('Codes that the language model misses; they wait for the researcher too.'),
    method: z.string(),
    note: z.string().optional(),
    already_pending_count: z.int().describe('Suggested earlier and still pending, in that earlier batch.'),
    previously_rejected_count: z.int(),
  }),

  async run({ source_id, start_pos, end_pos }, context) {
    const { lens } = await openSession(context, source_id);
    checkRange(lens.text(source_id), source_id, start_pos, end_pos);
    const { found, filed, unlikely, newCodes, batchId, alreadyPending } = await fileAutomatic(
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
      ...(unlikely.length
        ? {
            unlikely: unlikely.map(({ codeId, codeName, confidence, rationale }) => ({
              code_id: codeId,
              code_name: lens.mask(codeName),
              confidence,
              rationale: lens.mask(rationale),
            })),
          }
        : {}),
      ...(newCodes.length
        ? {
            new_codes: newCodes.map(({ id: suggestion_id, name, rationale }) => ({
              suggestion_id,
              name: lens.mask(name),
              rationale: lens.mask(rationale),
            })),
          }
        : {}),
      method: methodName(found.provenance),
      ...(found.provenance.note ? { note: found.provenance.note } : {}),
      already_pending_count: alreadyPending,
      previously_rejected_count: found.rejectedBefore,
    };
  },
});
