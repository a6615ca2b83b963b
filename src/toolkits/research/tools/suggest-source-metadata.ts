import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { createProposer, filedNote } from '../suggestions/propose.ts';
import { filedShape } from '../suggestions/show.ts';

export const suggestSourceMetadata = defineResearchTool({
  name: 'suggest_source_metadata',
  title: 'Suggest metadata for a source',
  summary: 'Suggest metadata for a source (pending human approval).',
  effect: 'propose',
  reach: 'local',
  category: 'project',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'source_not_found', 'validation_error'],
  input: z.object({
    source_id: id(),
    language: z.string().optional().describe("e.g., 'en', 'es'"),
    topics: z.array(z.string()).optional(),
    organization_suggestion: z.string().optional(),
  }),
  output: z.object({
    source_id: z.int(),
    source_name: z.string(),
    suggested: z.object({
      language: z.string().optional(),
      topics: z.array(z.string()).optional(),
      organization_suggestion: z.string().optional(),
    }),
    status: z.string(),
    requires_approval: z.boolean(),
    suggestion_id: z.string(),
    ...filedShape,
  }),

  async run({ source_id, language, topics, organization_suggestion }, context) {
    const session = await openSession(context);
    const source = session.lens.source(source_id);
    const suggested = {
      ...(language === undefined ? {} : { language }),
      ...(topics === undefined ? {} : { topics }),
      ...(organization_suggestion === undefined ? {} : { organization_suggestion }),
    };
    if (Object.keys(suggested).length === 0) {
      throw new ToolFault(
        'validation_error',
        'Nothing is suggested: give language, topics or organization_suggestion.',
      );
    }
    const proposer = await createProposer(context, session, 'update_source_metadata');
    const filed = await proposer.file({
      tool: 'update_source_metadata',
      args: { source_id, ...suggested },
      summary: `Set ${Object.entries(suggested)
        .map(([field, value]) => `${field} to “${String(value)}”`)
        .join(', ')} for ${source.name}`,
      rationale: '',
    });
    return {
      source_id,
      source_name: session.lens.mask(source.name),
      suggested,
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      ...filedNote(filed, session.lens),
    };
  },
});
