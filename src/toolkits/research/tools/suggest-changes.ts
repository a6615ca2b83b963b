import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { refuseHiddenNames } from '../privacy/hidden-names.ts';
import { cleanColor, cleanName, nameTaken } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import { defineResearchTool } from '../services.ts';
import { openSession } from '../session.ts';
import { codingSuggestion } from '../suggestions/automatic.ts';
import { filedShape } from '../suggestions/decide.ts';
import { createProposer, filedNote, storedValues } from '../suggestions/propose.ts';
import { id } from './shapes.ts';

export const suggestNewCode = defineResearchTool({
  name: 'suggest_new_code',
  title: 'Suggest a new code',
  summary: 'Suggest a new code (requires approval).',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'conflict', 'validation_error'],
  input: z.object({
    name: z.string().describe('Suggested code name'),
    rationale: z.string().describe('Why this code is needed'),
    color: z.string().default('#808080'),
    description: z.string().optional(),
    confidence: z.int().min(0).max(100).default(70),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    suggestion_id: z.string(),
    name: z.string(),
    color: z.string(),
    rationale: z.string(),
    confidence: z.int(),
    ...filedShape,
  }),

  check: ({ name, description }, services, principal) =>
    refuseHiddenNames([name, description], services, principal),

  async run({ name, rationale, color, description, confidence }, context) {
    const session = await openSession(context);
    const clean = cleanName(name, 'code');
    const same = session.lens.reader.codes().find((code) => code.name.toLowerCase() === clean.toLowerCase());
    if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
    const memo = memoToStore(context.principal, description ?? '');
    const proposer = await createProposer(context, session);
    const filed = await proposer.file({
      tool: 'create_code',
      args: { name: clean, color: cleanColor(color), ...(memo ? { memo } : {}) },
      summary: `New code "${clean}"${description ? `: ${description}` : ''}`,
      rationale,
      confidence,
    });
    return {
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      ...(filed.alreadyPending
        ? storedValues(filed, session.lens)
        : { name: clean, color, rationale, confidence }),
      ...filedNote(filed, session.lens),
    };
  },
});

export const suggestCodeApplication = defineResearchTool({
  name: 'suggest_code_application',
  title: 'Suggest a coding',
  summary:
    'Suggest applying a code to a text range (requires approval). The rationale becomes the memo of the segment.',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'code_not_found', 'invalid_position'],
  input: z.object({
    source_id: id(),
    code_id: id(),
    start_pos: z.int(),
    end_pos: z.int(),
    rationale: z.string().optional(),
    confidence: z.int().min(0).max(100).default(70),
    include_text: z.boolean().default(false),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    suggestion_id: z.string(),
    source_id: z.int(),
    code_id: z.int(),
    start_pos: z.int(),
    end_pos: z.int(),
    rationale: z.string(),
    confidence: z.int(),
    text_excerpt: z.string().optional(),
    ...filedShape,
  }),

  async run({ source_id, code_id, start_pos, end_pos, rationale = '', confidence, include_text }, context) {
    const session = await openSession(context, source_id);
    const suggestion = codingSuggestion(session, {
      codeId: code_id,
      sourceId: source_id,
      start: start_pos,
      end: end_pos,
      rationale: memoToStore(context.principal, rationale),
      confidence,
    });
    const proposer = await createProposer(context, session);
    const filed = await proposer.file(suggestion);
    const stored = storedValues(filed, session.lens);
    return {
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      source_id,
      code_id,
      start_pos,
      end_pos,
      rationale: filed.alreadyPending ? stored.rationale : rationale,
      confidence: filed.alreadyPending ? stored.confidence : confidence,
      ...(include_text ? { text_excerpt: session.lens.passage(source_id, start_pos, end_pos).content } : {}),
      ...filedNote(filed, session.lens),
    };
  },
});

const CONFIDENCE = 70;

export const suggestBatchCoding = defineResearchTool({
  name: 'suggest_batch_coding',
  title: 'Suggest a batch of codings',
  summary:
    'Suggest applying a code to multiple segments. All positions are checked before anything is stored.',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'source_not_found', 'code_not_found', 'invalid_position', 'validation_error'],
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
      throw new ToolError('validation_error', 'segments is empty; give at least one.');
    for (const segment of segments) await session.lens.reader.loadText(segment.source_id);
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
    const proposer = await createProposer(context, session);
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
