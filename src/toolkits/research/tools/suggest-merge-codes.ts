import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { noCode } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';
import { createProposer, filedNote } from '../suggestions/propose.ts';
import { filedShape } from '../suggestions/show.ts';

export const suggestMergeCodes = defineResearchTool({
  name: 'suggest_merge_codes',
  title: 'Suggest merging two codes',
  summary: 'Suggest merging two codes (requires approval).',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'code_not_found', 'validation_error'],
  input: z.object({
    source_code_id: id('Code to merge FROM (deleted)'),
    target_code_id: id('Code to merge INTO (kept)'),
    rationale: z.string(),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    merge_suggestion_id: z.string(),
    merge_source_id: z.int(),
    merge_target_id: z.int(),
    rationale: z.string(),
    ...filedShape,
  }),

  async run({ source_code_id, target_code_id, rationale }, context) {
    const session = await openSession(context);
    const source = session.lens.reader.code(source_code_id);
    const target = session.lens.reader.code(target_code_id);
    if (!source) throw noCode(source_code_id);
    if (!target) throw noCode(target_code_id);
    if (source.id === target.id)
      throw new ToolFault('validation_error', `Code ${source.id} cannot be merged into itself.`);
    const proposer = await createProposer(context, session, 'merge_codes');
    const counts = session.lens.reader.codingCounts();
    const filed = await proposer.file({
      tool: 'merge_codes',
      args: { source_code_id, target_code_id },
      summary: `Merge "${source.name}" (${counts.get(source.id) ?? 0} segments) into "${target.name}" (${counts.get(target.id) ?? 0})`,
      rationale,
    });
    return {
      status: 'pending_approval',
      requires_approval: true,
      merge_suggestion_id: filed.approval.uuid,
      merge_source_id: source_code_id,
      merge_target_id: target_code_id,
      rationale,
      ...filedNote(filed, session.lens),
    };
  },
});
