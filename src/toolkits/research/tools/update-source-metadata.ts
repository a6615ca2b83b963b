import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { id } from '../lib/ids.ts';
import { writeMetadata } from '../lib/metadata.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { defineResearchTool } from '../services.ts';

/** The change suggest_source_metadata waits for. Not listed: agents suggest, the researcher decides. */
export const updateSourceMetadata = defineResearchTool({
  name: 'update_source_metadata',
  title: 'Set metadata of a source',
  summary: 'Writes language, topics and organization as file attributes of a source.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: ['no_project', 'source_not_found', 'validation_error', 'busy'],
  input: z.object({
    source_id: id(),
    language: z.string().optional(),
    topics: z.array(z.string()).optional(),
    organization_suggestion: z.string().optional(),
  }),
  output: z.object({ status: z.string(), source_id: z.int(), attributes: z.array(z.string()) }),

  describeApproval: ({ source_id, language, topics, organization_suggestion }) => {
    const parts = [
      language === undefined ? [] : [`language "${language}"`],
      topics === undefined ? [] : [`topics "${topics.join('; ')}"`],
      organization_suggestion === undefined ? [] : [`organization "${organization_suggestion}"`],
    ].flat();
    return `Set ${parts.join(', ')} for source ${source_id}?`;
  },

  rollback: undoOfCall,

  async run({ source_id, ...metadata }, context) {
    const session = await openSession(context);
    session.lens.source(source_id);
    const by = await changeBy(context, session, 'update_source_metadata');
    const attributes = await session.project.store.write(by, (project) =>
      writeMetadata(project, source_id, metadata),
    );
    if (attributes.length === 0) {
      throw new ToolFault(
        'validation_error',
        'Nothing to set: give language, topics or organization_suggestion.',
      );
    }
    return { status: 'updated', source_id, attributes };
  },

  reconcile: ({ source_id }, context) =>
    reconcile(context, () => ({ status: 'updated', source_id, attributes: [] })),
});
