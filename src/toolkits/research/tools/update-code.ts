import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { publicMemo } from '../lib/memo.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { type Lens, personLens } from '../privacy/lens.ts';
import { nameTaken, noCode } from '../project/checks.ts';
import type { Code } from '../project/types.ts';
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
  output: z.object({
    code_id: z.int(),
    name: z.string(),
    color: z.string(),
    memo: z.string(),
    category_id: z.int().nullable(),
  }),

  describeApproval: ({ code_id, ...patch }) =>
    `Change code ${code_id}: ${Object.entries(patch)
      .map(([field, value]) => `${field} to "${publicMemo(String(value)).slice(0, 200)}"`)
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
      if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
      project.updateCode(code_id, {
        name,
        color,
        memo: memo === undefined ? undefined : memoToStore(context.principal, memo, old.memo),
        categoryId: category_id,
      });
      return project.code(code_id) ?? old;
    });
    return answer(session.lens, session.lens.reader.code(code.id) ?? code);
  },

  reconcile: ({ code_id }, context) =>
    reconcile(context, (_, project) => {
      const code = project.code(code_id);
      return code ? answer(personLens(project), code) : null;
    }),
});

/** As create_code answers. */
const answer = (lens: Lens, { id: code_id, name, color, memo, categoryId }: Code) => ({
  code_id,
  name: lens.mask(name),
  color,
  memo: lens.mask(memo),
  category_id: categoryId,
});
