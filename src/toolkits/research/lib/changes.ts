import { z } from 'zod';
import type { Change } from '../project/journal.ts';

/** A change in words, for listings and the undo command. */
export const changeShape = z.object({
  change_id: z.int(),
  call_id: z.string(),
  tool: z.string(),
  at: z.string(),
  owner: z.string(),
  principal: z.string(),
  approved_by: z.string().nullable(),
  method: z.string().nullable(),
  state: z.string(),
  undoes: z.int().nullable(),
  summary: z.string(),
});

const NAMES: { readonly [table: string]: string } = {
  source: 'source',
  code_name: 'code',
  code_cat: 'category',
  code_text: 'coding',
  code_image: 'image coding',
  code_av: 'recording coding',
  annotation: 'annotation',
  cases: 'case',
  case_text: 'case text',
  attribute: 'attribute value',
  attribute_type: 'attribute',
  journal: 'journal',
  project: 'project memo',
};
const VERBS = { insert: 'added', update: 'changed', delete: 'removed' } as const;

export function showChange(change: Change): z.output<typeof changeShape> {
  return {
    change_id: change.id,
    call_id: change.callId,
    tool: change.tool,
    at: change.at.toISOString(),
    owner: change.owner,
    principal: change.principal,
    approved_by: change.approvedBy ?? null,
    method: change.method ?? null,
    state: change.state,
    undoes: change.undoes ?? null,
    summary: summarise(change),
  };
}

function summarise({ rows }: Change): string {
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.kind === 'file') continue;
    const key = `${NAMES[row.table] ?? row.table}|${VERBS[row.kind]}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .map(([key, count]) => {
      const [name = '', verb = ''] = key.split('|');
      return `${count} ${name}${count === 1 ? '' : 's'} ${verb}`;
    })
    .join(', ');
}
