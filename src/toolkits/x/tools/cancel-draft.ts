import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { requireDecider } from '../lib/approval-view.ts';
import { contentShape, describeContent, voidPermits } from '../lib/compose.ts';
import { defineXTool } from '../services.ts';

/** For people in the web app and on the command line: no profile lists it, so no agent is offered it. */
export const cancelDraft = defineXTool({
  name: 'cancel_draft',
  title: 'Cancel a draft',
  summary: 'Takes a draft or scheduled post off the list; it stays in the history. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'write',
  profiles: [],
  faults: ['db_error', 'not_found', 'validation_error'],
  requires: { db: true },
  input: z.object({ id: z.number().int().positive() }),
  output: contentShape,
  async run({ id }, context) {
    const { services, now } = context;
    const by = requireDecider(context.decider, 'countersign open');
    const row = await services.growth.agenda.get(id);
    if (!row) throw new ToolFault('not_found', `There is no draft ${id}.`, { detail: { id } });
    const cancelled = await services.growth.agenda.update(id, { cancel: true }, now());
    if (cancelled) {
      await voidPermits(context, id, by);
      return describeContent(cancelled);
    }
    throw new ToolFault('validation_error', `Draft ${id} can no longer be cancelled: it is ${row.state}.`, {
      detail: { id, state: row.state },
    });
  },
});
