import { z } from 'zod';
import { CHANGE_PROFILES } from '../../../contract/profile.ts';
import { openSession } from '../lib/session.ts';
import { defineResearchTool } from '../services.ts';
import { approve, findSuggestion } from '../suggestions/decide.ts';
import { argText } from '../suggestions/show.ts';

/** What the document says for each kind; other changes that waited answer with their own data. */
const STATUS: { readonly [tool: string]: string } = { create_code: 'created', merge_codes: 'merged' };

export const approveSuggestion = defineResearchTool({
  name: 'approve_suggestion',
  title: 'Approve a suggestion',
  summary: 'Approve a pending code suggestion (creates the code). The researcher is asked.',
  effect: 'decide',
  reach: 'local',
  category: 'suggestions',
  profiles: CHANGE_PROFILES,
  faults: ['not_found', 'approval_state', 'conflict', 'no_project', 'busy'],
  input: z.object({ suggestion_id: z.string() }),
  output: z.looseObject({ status: z.string(), suggestion_id: z.string() }),

  async run({ suggestion_id }, context) {
    const approval = await findSuggestion(context, suggestion_id);
    const data = await approve(context, approval);
    const name = approval.tool === 'create_code' ? { name: argText(approval.args, 'name') } : {};
    // The answer goes to whoever asked, which may be an agent that only carried the question.
    const { lens } = await openSession(context);
    const told = Object.entries({ ...name, ...data }).map(([field, value]) => [
      field,
      typeof value === 'string' ? lens.tell(value) : value,
    ]);
    return {
      ...Object.fromEntries(told),
      status: STATUS[approval.tool] ?? String(data.status ?? 'applied'),
      suggestion_id: approval.uuid,
    };
  },
});
