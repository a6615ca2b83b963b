import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import { CHANGE_PROFILES } from '../../../contract/tool.ts';
import { presentCodingChange } from '../present-codings.ts';
import { refuseHiddenNames } from '../privacy/hidden-names.ts';
import { noCode, requireCoding } from '../project/checks.ts';
import { memoToStore } from '../project/memo.ts';
import { defineResearchTool } from '../services.ts';
import { addedIds, changeBy, openSession, reconcile, sessionOf } from '../session.ts';
import { id } from './shapes.ts';
import { undoOfCall } from './undo.ts';

export const updateCoding = defineResearchTool({
  name: 'update_coding',
  title: 'Change a coding',
  summary: 'Change the code, memo or importance of a coded segment. Omitted fields stay; coder and date too.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  errors: ['no_project', 'code_not_found', 'conflict', 'validation_error', 'busy'],
  input: z.object({
    segment_id: id(),
    code_id: id('Another code for the same passage').optional(),
    memo: z.string().optional(),
    important: z.boolean().optional(),
  }),
  output: z.object({
    segment_id: z.int().describe('A new ID where the code was changed.'),
    code_id: z.int(),
    memo: z.string(),
    important: z.boolean(),
  }),

  present: presentCodingChange,
  rollback: undoOfCall,

  async check({ segment_id, code_id, memo, important }, services, principal) {
    if (code_id === undefined && memo === undefined && important === undefined)
      throw new ToolError('validation_error', 'Nothing to change: give code_id, memo or important.');
    const { lens } = await sessionOf(services, principal);
    requireCoding(lens.reader, segment_id);
    if (code_id !== undefined && !lens.reader.code(code_id)) throw noCode(code_id);
    await refuseHiddenNames([memo], services, principal);
  },

  async run({ segment_id, code_id, memo, important }, context) {
    const session = await openSession(context);
    requireCoding(session.lens.reader, segment_id);
    const by = await changeBy(context, session, 'update_coding');
    const changed = await session.project.store.write(by, (project) => {
      const old = requireCoding(project, segment_id);
      const patch = {
        memo: memo === undefined ? old.memo : memoToStore(context.principal, memo, old.memo),
        important: important ?? old.important,
      };
      if (code_id === undefined || code_id === old.codeId) {
        project.updateCoding(segment_id, patch);
        return { ...old, ...patch };
      }
      const { sourceId, start, end, owner, date } = old;
      project.removeCoding(segment_id);
      const made = project.addCoding({ codeId: code_id, sourceId, start, end, owner, date, ...patch });
      if (!made.created)
        throw new ToolError('conflict', `${owner} already has this code on exactly this passage.`, {
          detail: { segment_id: made.id },
        });
      return { ...old, ...patch, id: made.id, codeId: code_id };
    });
    return {
      segment_id: changed.id,
      code_id: changed.codeId,
      memo: session.lens.tell(changed.memo),
      important: changed.important,
    };
  },

  reconcile: ({ segment_id, code_id, memo, important }, context) =>
    reconcile(context, (change) => ({
      segment_id: addedIds(change, 'code_text')[0] ?? segment_id,
      code_id: code_id ?? 0,
      memo: memo ?? '',
      important: important ?? false,
    })),
});
