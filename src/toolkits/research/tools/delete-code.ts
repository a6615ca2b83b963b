import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { noCode } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

const CODED = ['code_text', 'code_image', 'code_av'];

export const deleteCode = defineResearchTool({
  name: 'delete_code',
  title: 'Delete a code',
  summary: 'Delete a code. One that is used is deleted only with delete_segments. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'code_not_found', 'conflict', 'busy'],
  input: z.object({ code_id: id(), delete_segments: z.boolean().default(false) }),
  output: z.object({
    code_id: z.int(),
    name: z.string(),
    segments_removed: z.int(),
    deleted: z.boolean(),
  }),

  describeApproval: ({ code_id, delete_segments }) =>
    `Delete code ${code_id}${delete_segments ? ' and everything coded with it' : ''}?`,

  rollback: undoOfCall,

  async run({ code_id, delete_segments }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'delete_code');
    return session.project.store.write(by, (project) => {
      const code = project.code(code_id);
      if (!code) throw noCode(code_id);
      const used = project.codingCounts().get(code_id) ?? 0;
      if (used > 0 && !delete_segments) {
        throw new ToolFault(
          'conflict',
          `Code ${code_id} is used by ${used} segment(s). Set delete_segments to delete them too, or merge the code.`,
          { detail: { code_id, segment_count: used } },
        );
      }
      const { codings } = project.removeCode(code_id);
      return { code_id, name: session.lens.mask(code.name), segments_removed: codings, deleted: true };
    });
  },

  reconcile: ({ code_id }, context) =>
    reconcile(context, (change) => ({
      code_id,
      name: '',
      segments_removed: change.rows.filter((row) => row.kind === 'delete' && CODED.includes(row.table))
        .length,
      deleted: true,
    })),
});
