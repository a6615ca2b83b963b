import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { noCode } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

export const mergeCodes = defineResearchTool({
  name: 'merge_codes',
  title: 'Merge two codes',
  summary:
    'Merge two codes into one: segments move to the target, equal ones become one, memos of both are kept, the source code is deleted. Can be undone.',
  effect: 'destroy',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'code_not_found', 'validation_error', 'busy'],
  input: z.object({ source_code_id: id(), target_code_id: id() }),
  output: z.object({
    source_code_id: z.int(),
    target_code_id: z.int(),
    source_code_name: z.string(),
    target_code_name: z.string(),
    segments_moved: z.int(),
    duplicates_joined: z.int(),
  }),

  describeApproval: ({ source_code_id, target_code_id }) =>
    `Merge code ${source_code_id} into code ${target_code_id} and delete code ${source_code_id}?`,

  rollback: undoOfCall,

  async run({ source_code_id, target_code_id }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'merge_codes');
    return session.project.store.write(by, (project) => {
      const source = project.code(source_code_id);
      const target = project.code(target_code_id);
      if (!source) throw noCode(source_code_id);
      if (!target) throw noCode(target_code_id);
      const { moved, joined } = project.mergeCodes(source_code_id, target_code_id);
      return {
        source_code_id,
        target_code_id,
        source_code_name: session.lens.mask(source.name),
        target_code_name: session.lens.mask(target.name),
        segments_moved: moved,
        duplicates_joined: joined,
      };
    });
  },

  reconcile: ({ source_code_id, target_code_id }, context) =>
    reconcile(context, (change, project) => ({
      source_code_id,
      target_code_id,
      source_code_name: '',
      target_code_name: project.code(target_code_id)?.name ?? '',
      segments_moved: change.rows.filter((row) => row.kind === 'update' && 'cid' in row.after).length,
      duplicates_joined: change.rows.filter((row) => row.kind === 'delete' && row.table !== 'code_name')
        .length,
    })),
});
