import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { id } from '../lib/ids.ts';
import { publicMemo } from '../lib/memo.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { addedIds, reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { undoOfCall } from '../lib/take-back.ts';
import { nameTaken } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';

export const createCode = defineResearchTool({
  name: 'create_code',
  title: 'Create a code',
  summary: 'Create a new code with name and color.',
  effect: 'change',
  reach: 'local',
  category: 'coding',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'conflict', 'validation_error', 'not_found', 'busy'],
  input: z.object({
    name: z.string(),
    color: z.string().default('#808080'),
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

  describeApproval: ({ name, memo = '' }) =>
    `Create the code "${name}"${publicMemo(memo) ? ` (${publicMemo(memo).slice(0, 200)})` : ''}?`,

  rollback: undoOfCall,

  async run({ name, color, memo, category_id }, context) {
    const session = await openSession(context);
    const by = await changeBy(context, session, 'create_code');
    return session.project.store.write(by, (project) => {
      // QualCoder tells names apart by case; nobody wants two codes that differ in nothing else.
      const same = project.codes().find((code) => code.name.toLowerCase() === name.trim().toLowerCase());
      if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
      const kept = memoToStore(context.principal, memo ?? '');
      const code = project.addCode({ name, color, memo: kept, categoryId: category_id ?? null });
      const made = project.code(code);
      return {
        code_id: code,
        name: made?.name ?? name,
        color: made?.color ?? color,
        memo: kept,
        category_id: made?.categoryId ?? null,
      };
    });
  },

  reconcile: ({ name, color, memo, category_id }, context) =>
    reconcile(context, (change) => ({
      code_id: addedIds(change, 'code_name')[0] ?? null,
      name,
      color,
      memo: memo ?? '',
      category_id: category_id ?? null,
    })),
});
