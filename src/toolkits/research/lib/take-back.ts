import { ToolFault } from '../../../contract/faults.ts';
import type { Rollback } from '../../../contract/tool.ts';
import type { Change } from '../project/journal.ts';
import type { OpenProject } from '../project/projects.ts';
import type { ChangeBy } from '../project/types.ts';

export const UNDO_TOOL = 'undo_change';

/** How a tool that changes the project is undone: its call has one change in the journal. */
export const undoOfCall = (_args: unknown, _data: unknown, callId?: string): Rollback | undefined =>
  callId === undefined ? undefined : { tool: UNDO_TOOL, args: { call_id: callId } };

/** Takes back the last change that still stands and is not itself an undo. */
export async function undoLast({ store }: OpenProject, by: ChangeBy): Promise<Change> {
  let before: number | undefined;
  for (;;) {
    const page = await store.journal.recent(50, before);
    const last = page.find(({ state, tool }) => state === 'applied' && tool !== UNDO_TOOL);
    if (last) return takeBack(store, last, by);
    if (page.length < 50) throw new ToolFault('not_found', 'There is nothing to undo in this project.');
    before = page.at(-1)?.id;
  }
}

/** Takes back what one call did, or one change by its number. */
export async function undoOne({ store }: OpenProject, id: string | number, by: ChangeBy): Promise<Change> {
  const change =
    typeof id === 'number'
      ? await store.journal.get(id)
      : (await store.journal.ofCall(id)).findLast(({ state }) => state !== 'void');
  if (!change) throw new ToolFault('not_found', `There is no change ${id} of this project.`);
  return takeBack(store, change, by);
}

async function takeBack(store: OpenProject['store'], change: Change, by: ChangeBy): Promise<Change> {
  await store.undo(change.id, by);
  return change;
}
