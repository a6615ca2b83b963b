import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { memoToStore } from '../lib/memo-of-agent.ts';
import { openSession } from '../lib/session.ts';
import { cleanColor, cleanName, nameTaken } from '../project/checks.ts';
import { defineResearchTool } from '../services.ts';
import { createProposer, filedNote } from '../suggestions/propose.ts';
import { filedShape } from '../suggestions/show.ts';

export const suggestNewCode = defineResearchTool({
  name: 'suggest_new_code',
  title: 'Suggest a new code',
  summary: 'Suggest a new code (requires approval).',
  effect: 'propose',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['no_project', 'conflict', 'validation_error'],
  input: z.object({
    name: z.string().describe('Suggested code name'),
    rationale: z.string().describe('Why this code is needed'),
    color: z.string().default('#808080'),
    description: z.string().optional(),
    confidence: z.int().min(0).max(100).default(70),
  }),
  output: z.object({
    status: z.string(),
    requires_approval: z.boolean(),
    suggestion_id: z.string(),
    name: z.string(),
    color: z.string(),
    rationale: z.string(),
    confidence: z.int(),
    ...filedShape,
  }),

  async run({ name, rationale, color, description, confidence }, context) {
    const session = await openSession(context);
    const clean = cleanName(name, 'code');
    const same = session.lens.reader.codes().find((code) => code.name.toLowerCase() === clean.toLowerCase());
    if (same) throw nameTaken('code', session.lens.mask(same.name), same.id);
    const memo = memoToStore(context.principal, description ?? '');
    const proposer = await createProposer(context, session, 'create_code');
    const filed = await proposer.file({
      tool: 'create_code',
      args: { name: clean, color: cleanColor(color), ...(memo ? { memo } : {}) },
      summary: `New code "${clean}"${description ? `: ${description}` : ''}`,
      rationale,
      confidence,
    });
    return {
      status: 'pending_approval',
      requires_approval: true,
      suggestion_id: filed.approval.uuid,
      name: clean,
      color,
      rationale,
      confidence,
      ...filedNote(filed, session.lens),
    };
  },
});
