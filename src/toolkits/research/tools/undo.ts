import { z } from 'zod';
import { ToolError } from '../../../contract/errors.ts';
import type { Rollback } from '../../../contract/tool.ts';
import { lookup } from '../../../lib/lookup.ts';
import { showProject } from '../present.ts';
import type { Change } from '../project/journal.ts';
import type { OpenProject } from '../project/projects.ts';
import type { ChangeBy } from '../project/types.ts';
import { defineResearchTool } from '../services.ts';
import { changeBy, openSession, reconcile } from '../session.ts';
import { changeShape } from '../views.ts';
import { requirePerson } from './projects.ts';
import { id } from './shapes.ts';

/** A change in words, for listings and the undo command. */
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
    const key = `${lookup(NAMES, row.table) ?? row.table}|${VERBS[row.kind]}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .map(([key, count]) => {
      const [name = '', verb = ''] = key.split('|');
      return `${count} ${name}${count === 1 ? '' : 's'} ${verb}`;
    })
    .join(', ');
}

const UNDO_TOOL = 'undo_change';

/** How a tool that changes the project is undone: its call has one change in the journal. */
export const undoOfCall = (_args: unknown, _data: unknown, callId?: string): Rollback | undefined =>
  callId === undefined ? undefined : { tool: UNDO_TOOL, args: { call_id: callId } };

/** Undoes the last change that still applies and is not itself an undo. */
async function undoLast({ store }: OpenProject, by: ChangeBy): Promise<Change> {
  let before: number | undefined;
  for (;;) {
    const page = await store.journal.recent(50, before);
    const last = page.find(({ state, tool }) => state === 'applied' && tool !== UNDO_TOOL);
    if (last) return revertChange(store, last, by);
    if (page.length < 50) throw new ToolError('not_found', 'Nothing to undo in this project.');
    before = page.at(-1)?.id;
  }
}

/** Undoes what one call did, or one change by its number. */
async function undoOne({ store }: OpenProject, id: string | number, by: ChangeBy): Promise<Change> {
  const change =
    typeof id === 'number'
      ? await store.journal.get(id)
      : (await store.journal.ofCall(id)).findLast(({ state }) => state !== 'void');
  if (!change) throw new ToolError('not_found', `Change ${id} not found in this project.`);
  return revertChange(store, change, by);
}

async function revertChange(store: OpenProject['store'], change: Change, by: ChangeBy): Promise<Change> {
  await store.undo(change.id, by);
  return change;
}

/** For `countersign research undo` and the web app; not listed for agents. */
export const undoChange = defineResearchTool({
  name: 'undo_change',
  title: 'Undo a change',
  summary: 'Undoes one change of the project: the last one, one by number, or the changes of one call.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  errors: ['no_project', 'not_found', 'conflict', 'busy'],
  input: z.object({ change_id: id().optional(), call_id: z.string().optional() }),
  output: z.object({ undone: changeShape }),

  async present({ change_id, call_id }, context) {
    const { target } = await showProject(context);
    const { store } = await context.services.projects.current();
    const target_id = change_id ?? call_id;
    const change =
      typeof target_id === 'number'
        ? await store.journal.get(target_id)
        : target_id === undefined
          ? (await store.journal.recent(50)).find(
              ({ state, tool }) => state === 'applied' && tool !== UNDO_TOOL,
            )
          : (await store.journal.ofCall(target_id)).findLast(({ state }) => state !== 'void');
    if (!change) throw new ToolError('not_found', 'Nothing to undo in this project.');
    const what = summarise(change);
    return {
      title: `Undo a change in ${target.label}`,
      done: `Undid a change in ${target.label}`,
      act: 'undo',
      kind: 'label',
      gist: what,
      target,
      effect: {
        text: what || 'Restores the state before',
        detail: `Change of ${change.at.toISOString().slice(0, 16)}`,
      },
      undo: { possible: true, text: 'Can be made again' },
      covers: ['change_id', 'call_id'],
    };
  },

  async run({ change_id, call_id }, context) {
    requirePerson(context.principal, 'undo changes of a project');
    const session = await openSession(context);
    const by = await changeBy(context, session, UNDO_TOOL);
    const target = change_id ?? call_id;
    const change =
      target === undefined ? await undoLast(session.project, by) : await undoOne(session.project, target, by);
    const now = await session.project.store.journal.get(change.id);
    if (!now) throw new ToolError('internal', `Change ${change.id} disappeared while it was being undone.`);
    return { undone: showChange(now) };
  },

  reconcile: (_, context) => reconcile(context, (change) => ({ undone: showChange(change) })),
});
