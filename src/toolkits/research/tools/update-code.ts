import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { codeShape, showCodes } from '../lib/shapes.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { personLens } from '../privacy/lens.ts';
import { nameTaken, noCode } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

export const updateCode = defineResearchTool({
  name: 'update_code',
  title: 'Update a code',
  summary: 'Update code name, color, memo or category. What is left out stays.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'code_not_found', 'conflict', 'validation_error', 'not_found', 'busy'],
  input: z.object({
    code_id: id(),
    name: z.string().optional(),
    color: z.string().optional(),
    memo: z.string().optional(),
    category_id: id().optional(),
  }),
  output: codeShape,

  describeApproval: ({ code_id, ...patch }) =>
    `Change code ${code_id}: ${Object.entries(patch)
      .map(([field, value]) => `${field} to "${String(value).slice(0, 200)}"`)
      .join(', ')}?`,

  rollback: undoOfCall,

  async run({ code_id, name, color, memo, category_id }, context) {
    const session = await openSession(context);
    if (name === undefined && color === undefined && memo === undefined && category_id === undefined) {
      throw new ToolFault('validation_error', 'Nothing to change: give name, color, memo or category_id.');
    }
    const by = await changeBy(context, session, 'update_code');
    const code = await session.project.store.write(by, (project) => {
      const old = project.code(code_id);
      if (!old) throw noCode(code_id);
      const folded = name?.trim().toLowerCase();
      const same = project
        .codes()
        .find((other) => other.id !== code_id && other.name.toLowerCase() === folded);
      if (same) throw nameTaken('code', same.name, same.id);
      project.updateCode(code_id, {
        name,
        color,
        memo: memo === undefined ? undefined : memoToStore(context.principal, memo, old.memo),
        categoryId: category_id,
      });
      return project.code(code_id) ?? old;
    });
    const [shown] = showCodes(session.lens, [session.lens.reader.code(code.id) ?? code]);
    if (!shown) throw noCode(code_id);
    return shown;
  },

  reconcile: ({ code_id }, context) =>
    reconcile(context, (_, project) => {
      const code = project.code(code_id);
      return (code && showCodes(personLens(project), [code])[0]) ?? null;
    }),
});
