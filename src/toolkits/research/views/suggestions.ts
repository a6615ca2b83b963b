import { z } from 'zod';
import type { View } from '../../../contract/toolkit.ts';
import type { Session } from '../lib/session.ts';
import { personLens } from '../privacy/lens.ts';
import type { ResearchServices } from '../services.ts';
import { batchItems, batchStatus } from '../suggestions/batch-status.ts';
import { listSuggestions } from '../suggestions/memory.ts';
import { argNumber, showPending } from '../suggestions/show.ts';
import { readParams } from './params.ts';

const KINDS: { readonly [tool: string]: string } = {
  create_code: 'code',
  merge_codes: 'merge',
  apply_code: 'coding',
  update_source_metadata: 'metadata',
};
const CONTEXT = 80;

export const suggestions: View<ResearchServices> = async (params, { services }) => {
  const { state } = readParams(
    z.object({ state: z.enum(['pending', 'rejected', 'done', 'failed']).default('pending') }),
    params,
  );
  const project = await services.projects.current();
  const session: Session = { project, lens: personLens(project.store) };
  const items = await listSuggestions(services.approvals, project.id, Object.keys(KINDS), [state]);
  return items.map((item) => ({
    ...showPending(item),
    approval_id: item.id,
    version: item.version,
    kind: KINDS[item.tool] ?? item.tool,
    args: item.args,
    summary: item.summary,
    risks: [...item.risks],
    decision_reason: item.decisionReason ?? null,
    feedback: item.feedback ?? null,
    passage: item.tool === 'apply_code' ? passageOf(session, item.args) : null,
  }));
};

/** One suggested coding for the inbox: what it is about, in words instead of numbers. Null for another project. */
export const passage: View<ResearchServices> = async (params, { services }) => {
  const {
    project: wanted,
    code_id,
    ...place
  } = readParams(
    z.object({
      project: z.string().optional(),
      code_id: z.int(),
      source_id: z.int(),
      start_pos: z.int(),
      end_pos: z.int(),
    }),
    params,
  );
  const project = await services.projects.current();
  if (wanted !== undefined && wanted !== project.id) return null;
  const lens = personLens(project.store);
  const found = passageOf({ project, lens }, place);
  const code = lens.reader.code(code_id);
  return found && { ...found, code_name: code?.name ?? null, code_color: code?.color ?? null };
};

/** The passage with a little text around it; null when it is no longer there. */
function passageOf({ lens }: Session, args: Parameters<typeof argNumber>[0]) {
  const id = argNumber(args, 'source_id');
  const text = lens.reader.text(id);
  const start = argNumber(args, 'start_pos');
  const end = argNumber(args, 'end_pos');
  if (!text || end > text.length) return null;
  return {
    source_name: lens.reader.source(id)?.name ?? '',
    before: text.slice(Math.max(0, start - CONTEXT), start),
    text: text.slice(start, end),
    after: text.slice(end, Math.min(text.length, end + CONTEXT)),
  };
}

export const batch: View<ResearchServices> = async (params, { services }) => {
  const { batch_id } = readParams(z.object({ batch_id: z.string() }), params);
  const items = await batchItems(services, batch_id);
  return { batch_id, ...batchStatus(items), suggestions: items.map(showPending) };
};
