import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { defineResearchTool } from '../services.ts';

export const removeCoding = defineResearchTool({
  name: 'remove_coding',
  title: 'Remove a coding',
  summary: 'Remove coding from a segment. The text stays. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'not_found', 'busy'],
  input: z.object({ segment_id: id() }),
  output: z.object({ deleted: z.boolean(), segment_id: z.int(), code_id: z.int(), source_id: z.int() }),

  describeApproval: ({ segment_id }) => `Remove the coding of segment ${segment_id}?`,

  rollback: undoOfCall,

  async run({ segment_id }, context) {
    const session = await openSession(context);
    const coding = session.lens.reader.coding(segment_id);
    if (!coding) {
      throw new ToolFault('not_found', `There is no coded segment with id ${segment_id}.`, {
        detail: { segment_id },
      });
    }
    const by = await changeBy(context, session, 'remove_coding');
    await session.project.store.write(by, (project) => project.removeCoding(segment_id));
    return { deleted: true, segment_id, code_id: coding.codeId, source_id: coding.sourceId };
  },

  reconcile: ({ segment_id }, context) => reconcile(context, () => ({ deleted: true, segment_id })),
});
