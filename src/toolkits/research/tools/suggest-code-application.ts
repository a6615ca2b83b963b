import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { codingSuggestion } from '../suggestions/codings.ts';
import { createProposer, filedNote } from '../suggestions/propose.ts';
import { filedShape } from '../suggestions/show.ts';

export const suggestCodeApplication = defineResearchTool({
  name: 'suggest_code_application',
  title: 'Suggest a coding',
  summary:
    'Suggest applying a code to a text range (requires approval). The rationale becomes the memo of the segment.',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'code_not_found', 'invalid_position'],
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
    const session = await openSession(context);
    const suggestion = codingSuggestion(session, {
      codeId: code_id,
      sourceId: source_id,
      start: start_pos,
      end: end_pos,
      rationale: memoToStore(context.principal, rationale),
      confidence,
    });
    const proposer = await createProposer(context, session, 'apply_code');
    const filed = await proposer.file(suggestion);
    return {
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      source_id,
      code_id,
      start_pos,
      end_pos,
      rationale,
      confidence,
      ...(include_text ? { text_excerpt: session.lens.passage(source_id, start_pos, end_pos).content } : {}),
      ...filedNote(filed, session.lens),
    };
  },
});
