import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { requireDecider } from '../lib/approval-view.ts';
import { contentShape, describeContent, partsOf, permitScheduled, voidPermits } from '../lib/compose.ts';
import { scheduleTime } from '../lib/schedule-time.ts';
import { defineXTool } from '../services.ts';

/** For people in the web app and on the command line: no profile lists it, so no agent is offered it. */
export const updateDraft = defineXTool({
  name: 'update_draft',
  title: 'Edit or schedule a draft',
  summary: 'Changes the text or the time of a draft or scheduled post. A person decides.',
  effect: 'decide',
  reach: 'local',
  category: 'write',
  profiles: [],
  faults: ['db_error', 'not_found', 'validation_error', 'tweet_too_long'],
  requires: { db: true },
  input: z.object({
    id: z.number().int().positive(),
    content: z.string().min(1).max(25_000).optional(),
    scheduled_for: z.string().nullable().optional().describe('null makes it a draft again.'),
  }),
  output: contentShape,
  async run({ id, content, scheduled_for }, context) {
    const { services, now } = context;
    const by = requireDecider(context.decider, 'countersign open');
    const row = await services.growth.agenda.get(id);
    if (!row) throw new ToolFault('not_found', `There is no draft ${id}.`, { detail: { id } });
    const texts = content === undefined ? undefined : partsOf(content, row.content_type);
    if (texts) await services.safety.checkTexts({ kind: row.content_type, texts });
    const when =
      typeof scheduled_for === 'string'
        ? scheduleTime(scheduled_for, services.settings.schedule.timezone, now())
        : scheduled_for;
    const updated = await services.growth.agenda.update(id, { texts, scheduledFor: when }, now());
    if (!updated) throw settled(id, row.state);
    await voidPermits(context, id, by);
    await permitScheduled({ ...context, approvedBy: by }, updated);
    return describeContent(updated);
  },
});

const settled = (id: number, state: string): ToolFault =>
  new ToolFault('validation_error', `Draft ${id} can no longer be changed: it is ${state}.`, {
    detail: { id, state },
  });
