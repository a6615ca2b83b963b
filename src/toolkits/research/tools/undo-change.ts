import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { changeShape, showChange } from '../lib/changes.ts';
import { id } from '../lib/ids.ts';
import { requirePerson } from '../lib/person.ts';
import { reconcile } from '../lib/reconcile.ts';
import { changeBy, openSession } from '../lib/session.ts';
import { UNDO_TOOL, undoLast, undoOne } from '../lib/take-back.ts';
import { defineResearchTool } from '../services.ts';

/** For `countersign research undo` and the web app; not listed for agents. */
export const undoChange = defineResearchTool({
  name: 'undo_change',
  title: 'Undo a change',
  summary: 'Takes back one change of the project: the last one, one by number, or what one call did.',
  effect: 'change',
  reach: 'local',
  category: 'project',
  profiles: [],
  faults: ['no_project', 'not_found', 'conflict', 'busy'],
  input: z.object({ change_id: id().optional(), call_id: z.string().optional() }),
  output: z.object({ undone: changeShape }),

  describeApproval: ({ change_id, call_id }) => `Undo ${change_id ?? call_id ?? 'the last change'}?`,

  async run({ change_id, call_id }, context) {
    requirePerson(context.principal, 'undo changes of a project');
    const session = await openSession(context);
    const by = await changeBy(context, session, UNDO_TOOL);
    const target = change_id ?? call_id;
    const change =
      target === undefined ? await undoLast(session.project, by) : await undoOne(session.project, target, by);
    const now = await session.project.store.journal.get(change.id);
    if (!now) throw new ToolFault('internal', `Change ${change.id} vanished while it was undone.`);
    return { undone: showChange(now) };
  },

  reconcile: (_, context) => reconcile(context, (change) => ({ undone: showChange(change) })),
});
